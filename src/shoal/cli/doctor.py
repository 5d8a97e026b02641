"""`shoal doctor`: what is installed, where compiled kernels are kept, and how to install what is missing."""

from __future__ import annotations

import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any

import typer

import shoal
from shoal.cli import options
from shoal.cli.output import print_json, print_note, print_table, print_text

CORE = ("numpy", "numba", "polars", "narwhals", "pydantic", "typer", "rich", "pyyaml")
EXTRAS = {
    "pandas": (("pandas", "pyarrow"), "frames of pandas"),
    "report": (("altair", "vl-convert-python"), "charts in reports"),
    "eval": (("scikit-learn",), "classifiers and clusterers in evaluations; shoal.sklearn"),
    "excel": (("fastexcel", "xlsxwriter"), "Excel files"),
    "stats": (("pyreadstat",), "SPSS, Stata and SAS files"),
    "sign": (("cryptography",), "signed certificates"),
    "sql": (("adbc-driver-postgresql", "adbc-driver-sqlite", "duckdb"), "tables in databases"),
    "web": (("starlette", "uvicorn"), "the workbench"),
    "spark": (("pyspark",), "tables that do not fit one machine"),
}


def register(app: typer.Typer) -> None:
    app.command("doctor", help="Show versions, extras, the cache of compiled kernels, and what is missing for what.")(
        doctor
    )


def doctor(
    warm: Annotated[bool, typer.Option("--warm", help="compile the kernels now, so that no later run has to")] = False,
    as_json: Annotated[bool, typer.Option("--json", help=options.JSON_HELP)] = False,
) -> None:
    if warm:
        took = _warm()
        print_note(f"the kernels of the default algorithm are compiled ({took:.0f} s)")
    found = _findings()
    if as_json:
        print_json(found)
        return
    print_table("Shoal", ("", ""), [(name, value) for name, value in found["versions"].items()])
    print_table(
        "Extras",
        ("extra", "for", "state"),
        [
            (name, entry["for"], "installed" if entry["installed"] else f"missing: {entry['install']}")
            for name, entry in found["extras"].items()
        ],
    )
    print_table("Machine", ("", ""), [(name, str(value)) for name, value in found["machine"].items()])
    if found["must_compile"]:
        print_text("The first run will compile kernels, which takes some seconds; 'shoal doctor --warm' does it now.")


def _findings() -> dict[str, Any]:
    from shoal.kernels.cache import must_compile

    return {
        "versions": {"shoal": shoal.__version__, "python": platform.python_version(), **dict(_versions(CORE))},
        "extras": {name: _extra(name, *entry) for name, entry in EXTRAS.items()},
        "machine": {
            "processors": os.cpu_count(),
            "threads": os.environ.get("SHOAL_THREADS", "all"),
            "compiled kernels": _cache_folder(),
            "java (for Spark)": shutil.which("java") or "none",
            "browser (for pictures of the workbench)": _browser() or "none",
            "python": sys.executable,
        },
        "must_compile": must_compile(),
    }


def _versions(names: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for name in names:
        try:
            yield name, version(name)
        except PackageNotFoundError:
            yield name, "missing"


def _extra(name: str, packages: tuple[str, ...], purpose: str) -> dict[str, Any]:
    found = dict(_versions(packages))
    missing = [package for package, number in found.items() if number == "missing"]
    install = f'pip install "shoal[{name}]"'
    return {"for": purpose, "packages": found, "installed": not missing, "install": install}


def _cache_folder() -> str:
    from shoal.kernels.cache import CACHE_FOLDER

    return CACHE_FOLDER or "none: no folder can be written"


def _browser() -> str | None:
    return next(
        (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
    )


def _warm() -> float:
    """Go the whole way once with a small invented table, from a file to what a report looks at: what that calls is
    compiled and kept."""
    from shoal.pipeline.run import run
    from shoal.sample.demo import demo_files

    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder, demo_files(Path(folder), patients=400, k=5) as job:
        run(job.model_copy(update={"report": None})).evaluate()
    return time.perf_counter() - started
