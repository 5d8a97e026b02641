"""`shoal man`: the manual page of the command, made from the parser, so that it says what the help says."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import typer

import shoal
from shoal.cli.examples import EXAMPLES

EXIT_CODES = (
    ("0", "done"),
    ("1", "our fault; please report it"),
    ("2", "bad input or usage; all problems are told at once, and nothing is written"),
    ("3", "the requirement cannot be met, or does not hold"),
    ("130", "stopped by Ctrl-C"),
)
ENVIRONMENT = (
    ("SHOAL_THREADS", "how many threads; it never changes a result"),
    ("SHOAL_LANGUAGE", "language of reports and explanations: en or de"),
    ("SHOAL_DEBUG", "1 shows the details of an unforeseen error, which may quote the data"),
    ("NO_COLOR", "no colours, also on a terminal"),
)


def register(app: typer.Typer) -> None:
    app.command("man", help="Print the manual page: every verb with its options and examples.")(man)


def man() -> None:
    from typer.main import get_command

    from shoal.cli.main import put_together

    sys.stdout.write(page(get_command(put_together([]))))


def page(command: Any) -> str:
    """The page in the language of man(7)."""
    lines = [f'.TH SHOAL 1 "" "shoal {shoal.__version__}" "Shoal"', ".SH NAME"]
    lines += ["shoal \\- publish tables about people so that nobody in them can be singled out"]
    lines += [".SH SYNOPSIS", ".B shoal", "VERB [OPTIONS]", ".SH DESCRIPTION"]
    lines += ["Every release is checked on the released values before a file appears."]
    for path, verb in verbs(command, "shoal"):
        lines += [f".SH {_text(path.upper())}", _text(verb.help or ""), *_options(verb)]
        lines += [".PP", "Examples:", ".nf", *map(_text, EXAMPLES.get(path.split()[-1], ())), ".fi"]
    lines += [".SH EXIT STATUS", *_pairs(EXIT_CODES), ".SH ENVIRONMENT", *_pairs(ENVIRONMENT)]
    return "\n".join(lines) + "\n"


def verbs(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Every verb with the words that call it; the verbs of a verb in its place."""
    for name, verb in getattr(command, "commands", {}).items():
        if getattr(verb, "commands", None):
            yield from verbs(verb, f"{path} {name}")
        else:
            yield f"{path} {name}", verb


def _options(verb: Any) -> Iterator[str]:
    for parameter in verb.params:
        names = ", ".join((*parameter.opts, *parameter.secondary_opts))
        yield from (".TP", f".B {_text(names)}", _text(getattr(parameter, "help", "") or ""))


def _pairs(entries: tuple[tuple[str, str], ...]) -> Iterator[str]:
    for name, meaning in entries:
        yield from (".TP", f".B {_text(name)}", _text(meaning))


def _text(words: str) -> str:
    """Words as they are meant: no hyphen for a minus, no command where a line begins with a point."""
    text = words.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text.startswith((".", "'")) else text
