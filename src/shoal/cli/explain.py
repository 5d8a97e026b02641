"""`shoal explain`: a certificate in plain words."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import options
from shoal.cli.output import print_json, print_text


def register(app: typer.Typer) -> None:
    app.command("explain", help="Tell in plain words what a certificate says.")(explain)


def explain(
    certificate: Annotated[Path, typer.Argument(help="the JSON file that 'shoal anonymize --certificate' writes")],
    language: Annotated[str | None, typer.Option(help="en or de; or SHOAL_LANGUAGE")] = None,
    as_json: Annotated[bool, typer.Option("--json", help=options.JSON_HELP)] = False,
) -> None:
    from shoal.pipeline.certificate import load_certificate
    from shoal.reports.language import speaking, tell
    from shoal.reports.story import tell_story

    content = load_certificate(certificate)
    with speaking(language):
        chapters = tell_story(content)
        again = tell("Check it again: shoal verify RELEASE --certificate {file}", file=certificate.name)
    if as_json:
        print_json({chapter.title: list(chapter.sentences) for chapter in chapters})
        return
    for chapter in chapters:
        print_text(chapter.title)
        for sentence in chapter.sentences:
            print_text(f"  - {sentence}")
        print_text("")
    print_text(again)
