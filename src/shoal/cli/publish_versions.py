"""`shoal publish-versions`: several versions of one table for cluster analysis, safe together."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import options
from shoal.cli.output import ProgressBar, print_json, print_table, print_text
from shoal.cli.quick import load_compiler
from shoal.errors import Problem
from shoal.progress import Watch

if TYPE_CHECKING:
    from shoal.cluster_release.versions import Version


def register(app: typer.Typer) -> None:
    help_text = "Mask a table once per number of clusters (TDR), so that all versions are safe together."
    app.command("publish-versions", help=help_text)(publish_versions)


def publish_versions(
    data: Annotated[str | None, typer.Argument(help=options.TABLE_HELP)] = None,
    folder: Annotated[Path, typer.Option("-o", "--output", help="an empty or new folder")] = Path("versions"),
    clusters: Annotated[str, typer.Option(help="numbers of clusters, a version for each, in this order")] = "2,6,10",
    room: Annotated[str, typer.Option(help="classes of versions that others follow: so many times k")] = "1",
    quasi: Annotated[str | None, typer.Option(help=options.QUASI_HELP, metavar="A,B,C")] = None,
    h: Annotated[str | None, typer.Option("-k", "--threshold", help=options.THRESHOLD_HELP)] = None,
    model: Annotated[list[str] | None, typer.Option(help="e.g. l-diversity:disease:3 (repeatable)")] = None,
    clusterer: Annotated[str, typer.Option(help=options.CLUSTERER_HELP)] = "kmeans",
    recipient: Annotated[str | None, typer.Option(help=options.RECIPIENT_HELP)] = None,
    mode: Annotated[str, typer.Option(help=options.MODE_HELP)] = "information",
    sensitive: Annotated[str | None, typer.Option(help=options.SENSITIVE_HELP, metavar="A,B")] = None,
    identifiers: Annotated[str | None, typer.Option(help=options.IDENTIFIERS_HELP, metavar="A,B")] = None,
    keep: Annotated[str | None, typer.Option(help=options.KEEP_HELP, metavar="A,B")] = None,
    keep_rest: Annotated[bool | None, typer.Option("--keep-rest", help=options.KEEP_REST_HELP)] = None,
    drop_rest: Annotated[bool | None, typer.Option("--drop-rest", help=options.DROP_REST_HELP)] = None,
    allow: Annotated[
        list[str] | None, typer.Option("--allow", "--allow-unique", help=options.ALLOW_HELP, metavar="A,B")
    ] = None,
    cluster_on: Annotated[str | None, typer.Option(help=options.CLUSTER_ON_HELP)] = None,
    scale: Annotated[list[str] | None, typer.Option(help=options.SCALE_HELP)] = None,
    hierarchies: Annotated[Path | None, typer.Option(help=options.HIERARCHIES_HELP)] = None,
    missing: Annotated[list[str] | None, typer.Option(help=options.MISSING_HELP)] = None,
    seed: Annotated[str | None, typer.Option(help=options.SEED_HELP)] = None,
    threads: Annotated[str | None, typer.Option(help=options.THREADS_HELP)] = None,
    job: Annotated[Path | None, typer.Option(help=options.JOB_HELP)] = None,
    as_json: Annotated[bool, typer.Option("--json", help=options.JSON_HELP)] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="no progress")] = False,
) -> None:
    load_compiler()
    from shoal.cluster_release.publish import publish_versions_file
    from shoal.cluster_release.settings import ClusterSettings

    problems: list[Problem] = []
    settings: dict[str, Any] = {
        "input": data,
        "quasi": options.names(quasi),
        "sensitive": options.names(sensitive),
        "identifiers": options.names(identifiers),
        "keep": options.names(keep),
        "keep_rest": keep_rest,
        "drop_rest": drop_rest,
        "allow": options.all_names(allow),
        "k": options.whole_number(h, "-k", problems, least=2),
        "models": tuple(model or ()),
        "hierarchies": hierarchies,
        "scales": options.pairs(scale, "--scale", problems),
        "missing": tuple(missing or ()),
        "seed": options.whole_number(seed, "--seed", problems, least=0),
        "threads": options.whole_number(threads, "--threads", problems),
    }
    made_job = options.make_job(job, settings, problems, {"algorithm": "tdr"})
    numbers = options.whole_numbers(clusters, "--clusters", problems)
    wanted = ClusterSettings(clusterer=clusterer, recipient=recipient, cluster_on=options.names(cluster_on) or None)
    with ProgressBar(quiet or as_json) as progress:
        versions = publish_versions_file(
            made_job,
            wanted,
            numbers,
            folder,
            room=options.whole_number(room, "--room", problems, least=1) or 1,
            mode=mode,
            earlier=problems,
            watch=Watch(progress),
        )
    if as_json:
        print_json({"ok": True, "output": str(folder), "versions": [_as_dict(version) for version in versions]})
    elif not quiet:
        _print(versions, folder)


def _as_dict(version: Version) -> dict[str, Any]:
    content = version.made.as_dict()
    return {
        "clusters": version.clusters,
        "comparison": content["comparison"],
        "classes": content["classes"],
        "smallest_group": content["smallest_group"],
        "gcp": version.made.result.metrics["gcp"],
        "smallest_part": version.parts_of,
        "together": version.certificate.get("together"),
        "sha256": version.sha256,
    }


def _print(versions: list[Version], folder: Path) -> None:
    rows = []
    for found in map(_as_dict, versions):
        joint = (found["together"] or {}).get("joint_classes", {}).get("smallest", found["smallest_group"])
        measures = [f"{found['comparison'][name]:.4f}" for name in ("f_measure", "match_point")]
        rows.append((f"{found['clusters']:,}", f"{found['classes']:,}", f"{joint:,}", *measures, f"{found['gcp']:.4f}"))
    heads = ("clusters", "classes", "smallest, joined with those above", "f measure", "match point", "loss (GCP)")
    print_table("Versions that hold together", heads, rows, right=tuple(range(len(heads))))
    print_text(f"written: {folder} (series.json keeps track of them)")
