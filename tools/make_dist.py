"""sdist and wheel, built in an environment of their own and tried from the built files: `make dist` writes `dist/`.

- both are built from the sources;
- the wheel is built once more from the sdist: both must hold the same files;
- the wheel is installed into a clean environment, away from the sources: the demo runs there, its release is verified,
  and every file that is no code (lists of words, countries, languages, types) is found.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
DATA_FILES = (
    "shoal/py.typed",
    "shoal/inspection/words.toml",
    "shoal/hierarchies/countries.txt",
    "shoal/reports/languages/de.toml",
    "shoal/reports/page.css",
)


def main() -> int:
    shutil.rmtree(DIST, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="shoal-dist-") as folder:
        place = Path(folder)
        build = environment(place / "build", "build")
        run(build, "-m", "build", "--outdir", DIST, ROOT)
        (sdist,), (wheel,) = DIST.glob("*.tar.gz"), DIST.glob("*.whl")
        check_same_files(build, sdist, wheel, place)
        try_wheel(wheel, place)
    print(f"built and tried: {sdist.name}, {wheel.name}")
    return 0


def environment(place: Path, *packages: str | Path) -> Path:
    """A fresh virtual environment with some packages; returns its Python."""
    venv.create(place, with_pip=True)
    python = place / ("Scripts" if os.name == "nt" else "bin") / "python"
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages)
    return python


def run(*command: str | Path, folder: Path | None = None) -> str:
    """Run a program that does not see the sources; what it says on standard output."""
    surroundings = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [*map(str, command)], cwd=folder, env=surroundings, stdout=subprocess.PIPE, text=True, check=True
    )
    return done.stdout


def check_same_files(build: Path, sdist: Path, wheel: Path, place: Path) -> None:
    with tarfile.open(sdist) as archive:
        archive.extractall(place / "unpacked", filter="data")
    (source,) = (place / "unpacked").iterdir()
    run(build, "-m", "build", "--wheel", "--outdir", place / "again", source)
    (again,) = (place / "again").glob("*.whl")
    names = [set(zipfile.ZipFile(one).namelist()) for one in (wheel, again)]
    if names[0] != names[1]:
        sys.exit(f"the sdist does not give the same wheel: {sorted(names[0] ^ names[1])[:5]}")
    missing = [name for name in DATA_FILES if name not in names[0]]
    if missing:
        sys.exit(f"the wheel lacks {missing}")


def try_wheel(wheel: Path, place: Path) -> None:
    python = environment(place / "clean", f"{wheel}[report]")
    shoal = python.parent / "shoal"
    work = place / "work"
    work.mkdir()
    version = run(shoal, "--version", folder=work).strip()
    if version.split()[-1] not in wheel.name:
        sys.exit(f"'{version}' is not the version of {wheel.name}")
    run(shoal, "doctor", folder=work)
    run(shoal, "demo", folder=work)
    made = work / "shoal-demo"
    (certificate,) = [path for path in made.glob("*.json") if "certificate" in path.name]
    (release,) = [path for path in made.iterdir() if path.name.startswith("release")]
    run(shoal, "verify", release, "--certificate", certificate, folder=work)
    run(shoal, "explain", certificate, "--language", "de", folder=work)


if __name__ == "__main__":
    sys.exit(main())
