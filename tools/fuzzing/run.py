"""One case, run and checked: the way in, the run itself, and everything that is looked at afterwards."""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml

import shoal
from fuzzing.cases import Case
from fuzzing.check import Finding, as_read, check_cells, check_certificate, check_kept, is_possible
from fuzzing.files import check_files
from fuzzing.frames import (
    Cells,
    as_frame,
    leftovers,
    plain_text,
    read_file,
    shown,
    text_cells,
    typed_cells,
    write_file,
)
from fuzzing.shrink import with_rows
from shoal.job.job import Job


@dataclass
class Outcome:
    """What became of a case: `released`, `refused` (bad input) or `impossible`; and what is wrong about that."""

    status: str
    reasons: tuple[str, ...] = ()
    findings: list[Finding] = field(default_factory=list)

    @property
    def kinds(self) -> list[str]:
        return [kind for kind, _ in self.findings]


def run_case(case: Case, thorough: bool = False) -> Outcome:
    """Run a case and check everything. `thorough` also repeats it with other threads, verifies and evaluates it."""
    with _folder() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)
        try:
            return _run(case, folder, thorough)
        except shoal.InternalError as error:
            return Outcome("failed", error.reasons, [(f"our fault {error.reasons[0]}", str(error))])
        except shoal.RequirementError as error:
            findings = _told_values(case, str(error))
            if is_possible(case):
                findings.append(("refused though possible", str(error)))
            return Outcome("impossible", error.reasons, findings)
        except shoal.InputError as error:
            return Outcome("refused", error.reasons, _told_values(case, str(error)))
        except shoal.ShoalError as error:
            return Outcome("failed", error.reasons, [(f"failed {type(error).__name__}", str(error))])
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            return Outcome("failed", (), [_crash(error)])


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    path = Path(tempfile.mkdtemp(prefix="fuzz-"))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def _crash(error: BaseException) -> Finding:
    """A foreign exception, named by its type and the last place of ours that it went through."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "/shoal/" in frame.filename]
    checkers = [frame for frame in frames if "/fuzzing/" in frame.filename]
    where = f"{Path(ours[-1].filename).stem}.{ours[-1].name}" if ours else f"fuzzing.{checkers[-1].name}"
    return f"crash {type(error).__name__} in {where}", "".join(traceback.format_exception(error))[-3000:]


def _told_values(case: Case, message: str) -> list[Finding]:
    """No message repeats a cell of the data. Only texts that nobody could have written otherwise are looked for."""
    said = json.dumps(case["settings"], ensure_ascii=False)
    for name, column in case["columns"].items():
        for text in column["values"]:
            if text is not None and len(text) >= 5 and text in message and text not in said:
                return [("message tells a value", f"a cell of {name} is in the message: {message}")]
    return []


def job_settings(case: Case, folder: Path) -> dict[str, Any]:
    """The settings of a case as those of a job: hierarchies in the form that the case names, files written."""
    settings = {name: value for name, value in case["settings"].items() if name != "hierarchies"}
    trees = {name: _tree_spec(spec, folder / f"{name}-tree.csv") for name, spec in _trees(case).items()}
    if trees:
        settings["hierarchies"] = trees
    if "population" in case:
        path = folder / ("population.csv" if case["way"].get("input") == "csv" else "population.parquet")
        write_file(case["population"], path)
        settings["population"] = str(path)
    settings["keep_rest"] = True
    settings["allow"] = [name for name in case["columns"] if name in ("kept", "s", "row")]
    if settings.pop("key", False):
        settings["key"] = folder / "key.csv"
    if settings.pop("public_certificate", False):
        settings["public_certificate"] = folder / "public.json"
        settings["certificate"] = folder / "certificate.json"
    return settings


def released_part(case: Case, release: Cells) -> Case:
    """The case as if only the records that were released had been there: others may be left out, up to the limit."""
    if case["settings"].get("suppressed") != "drop" or "row" not in release:
        return case
    return with_rows(case, [int(text) for text in release["row"]])


def _too_many_left_out(case: Case, released: Case) -> list[Finding]:
    before, after = (len(one["columns"]["s"]["values"]) for one in (case, released))
    limit = case["settings"].get("suppression_limit", 0.0)
    if before - after > limit * before + 1e-12:
        return [("too many left out", f"{before - after} of {before} records are left out, the limit is {limit}")]
    return []


def _trees(case: Case) -> dict[str, Any]:
    return dict(case["settings"].get("hierarchies", {}))


def _tree_spec(spec: dict[str, Any], path: Path) -> Any:
    if "builder" in spec:
        return spec
    rows = spec["rows"]
    if spec["form"] == "rows":
        return rows
    if spec["form"] == "file":
        lines = [";".join(_quoted(label) for label in row) for row in rows]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return str(path)
    if spec["form"] == "parents":
        return {child: parent for row in rows for child, parent in pairwise(row)}
    return _nested(rows)


def _quoted(label: str) -> str:
    return (
        '"' + label.replace('"', '""') + '"'
        if any(sign in label for sign in ';,"\n') or label != label.strip()
        else label
    )


def _nested(rows: list[list[str]]) -> dict[str, Any]:
    root: dict[str, Any] = {}
    for row in rows:
        place = root
        *inner, last = row[:0:-1]
        for label in inner:
            place = place.setdefault(label, {})
        place.setdefault(last, []).append(row[0])
    return root


def _run(case: Case, folder: Path, thorough: bool) -> Outcome:
    if case["way"]["kind"] == "frame":
        findings = _through_frame(case, folder, thorough)
    else:
        findings = _through_files(case, folder)
    return Outcome("released", (), findings)


def _through_frame(case: Case, folder: Path, thorough: bool) -> list[Finding]:
    settings, way = job_settings(case, folder), case["way"]
    frame = as_frame(case["columns"], way["frame"])
    before = typed_cells(frame)
    if "output" in way:
        settings["output"] = folder / f"release.{way['output']}"
    if "class" in settings:
        settings["class_column"] = settings.pop("class")
    result = shoal.anonymize(frame, threads=1, **settings)
    cells = typed_cells(result.release)
    given, case = case, released_part(case, cells)
    findings = _too_many_left_out(given, case)
    findings += _look_at(
        case, result.release, before if case is given else typed_cells(as_frame(case["columns"], way["frame"]))
    )
    findings += check_certificate(case, cells, result.certificate)
    if "output" in way:
        findings += _same_table(case, cells, read_file(settings["output"]))
        findings += check_files(case, settings, cells)
    if _alike(before) != _alike(typed_cells(frame)):
        findings.append(("input changed", "the frame that was given is another one afterwards"))
    if thorough:
        findings += _repeated(case, frame, settings, cells) + _judged_by_shoal(case, result, settings)
    return findings


def _look_at(case: Case, release: Any, before: Cells) -> list[Finding]:
    """A released frame, by its values and by its texts."""
    cells, quasi = typed_cells(release), case["settings"]["quasi"]
    findings = check_kept(case, before, cells, whole=True)
    if findings and findings[0][0] == "wrong columns":
        return findings
    by_value = {name: [shown(cell) for cell in cells[name]] for name in quasi}
    findings += check_cells(case, cells, by_value)
    texts = text_cells(release, quasi)
    if not findings and any(texts[name] != [shown(cell)[1] for cell in cells[name]] for name in quasi):
        findings += check_cells(case, cells, texts)
    findings += [("unused category", f"the type of {name} lists values that nobody has") for name in leftovers(release)]
    index = getattr(release, "index", None)
    if index is not None and (type(index).__name__ != "RangeIndex" or index.name is not None):
        findings.append(("index", "the index is not a plain range"))
    return findings


def _alike(cells: Cells) -> dict[str, list[tuple[str, str]]]:
    return {name: [shown(cell) for cell in column] for name, column in cells.items()}


def _repeated(case: Case, frame: Any, settings: dict[str, Any], cells: Cells) -> list[Finding]:
    again = shoal.anonymize(frame, threads=2, **settings)
    if _alike(typed_cells(again.release)) != _alike(cells):
        return [("not repeatable", "the same job gives another release on two threads")]
    return []


def _judged_by_shoal(case: Case, result: Any, settings: dict[str, Any]) -> list[Finding]:
    """The other verbs on what came out: they must not fail, and the release must hold."""
    json.dumps(result.evaluate().as_dict(), allow_nan=False, default=str)
    json.dumps(result.summary(), allow_nan=False, default=str)
    if case["number"] % 100 == 0:
        result.report()
    if case["settings"]["algorithm"] == "nonhomogeneous" or "person" in settings or "population" in settings:
        return []
    if "date_formats" in settings:  # verify reads what was released, where dates are written in one form
        return []
    taken = ("quasi", "k", "models", "suppression_limit", "hierarchies", "orders", "missing", "scales")
    known = {name: settings[name] for name in taken if name in settings}
    verification = shoal.verify(result.release, **known)
    return [] if verification.passed else [("verify disagrees", "shoal.verify does not pass its own release")]


def _same_table(case: Case, release: Cells, written: Cells) -> list[Finding]:
    """A file has the rows of the release, in any order; what is alike in one is alike in the other."""
    names = list(release)
    if sorted(written) != sorted(names):
        return [("file differs", f"the file has the columns {sorted(written)}, the release {sorted(names)}")]

    kinds = {name: column["kind"] for name, column in as_read(case).items()}

    def rows(cells: Cells) -> Counter[tuple[str, ...]]:
        return Counter(zip(*([plain_text(cell, kinds[name]) for cell in cells[name]] for name in names), strict=True))

    if rows(release) != rows(written):
        return [("file differs", "the file has other rows than the release")]
    quasi = case["settings"]["quasi"]
    sizes = []
    for cells in (release, written):
        found = Counter(zip(*([shown(cell) for cell in cells[name]] for name in quasi), strict=True))
        sizes.append(sorted(found.values()))
    if min(sizes[1]) < min(sizes[0]) and case["settings"]["algorithm"] != "nonhomogeneous":
        return [("file differs", "the file has smaller classes than the release")]
    return []


def _through_files(case: Case, folder: Path) -> list[Finding]:
    settings, way = job_settings(case, folder), case["way"]
    settings["input"] = str(folder / f"table.{way['input']}")
    settings["output"] = str(folder / f"release.{way['output']}")
    write_file(case["columns"], Path(settings["input"]))
    result = shoal.run(Job.make(threads=1, **settings))
    cells = typed_cells(result.release)
    given, case = case, released_part(case, cells)
    before = read_file(Path(settings["input"]))
    if case is not given:
        rows = [int(text) for text in cells["row"]]
        before = {name: [column[row] for row in rows] for name, column in before.items()}
    findings = _too_many_left_out(given, case) + _look_at(case, result.release, before)
    findings += check_certificate(case, cells, result.certificate)
    findings += _same_table(case, cells, read_file(Path(settings["output"])))
    findings += check_files(case, settings, cells)
    if way["kind"] == "cli":
        findings += _by_command(settings, folder)
    if way["kind"] == "stream":
        findings += _by_stream(settings)
    return findings


def _by_stream(settings: dict[str, Any]) -> list[Finding]:
    """The same job by the engine that reads piece by piece: the same bytes, or a refusal before any work."""
    first = Path(settings["output"])
    second = first.with_name(f"by-stream{first.suffix}")
    places = {name: value for name, value in settings.items() if name not in ("certificate", "public_certificate")}
    try:
        shoal.run(Job.make(threads=1, **{**places, "output": str(second), "engine": "stream"}))
    except shoal.InputError as error:
        return [] if set(error.reasons) == {"cannot-stream"} else [("stream refuses", str(error))]
    if second.read_bytes() != first.read_bytes():
        return [("stream differs", "the engine stream writes other bytes than local")]
    return []


def _plain(settings: dict[str, Any]) -> dict[str, Any]:
    return {name: str(value) if isinstance(value, Path) else value for name, value in settings.items()}


def _by_command(settings: dict[str, Any], folder: Path) -> list[Finding]:
    """The same job by the command line: the same bytes."""
    from shoal.cli.main import main

    first = Path(settings["output"])
    second = first.with_name(f"by-command{first.suffix}")
    (folder / "job.yaml").write_text(
        yaml.safe_dump(_plain({**settings, "output": second}), sort_keys=False), encoding="utf-8"
    )
    screen = io.StringIO()
    code: Any = None
    with contextlib.redirect_stdout(screen), contextlib.redirect_stderr(screen):
        try:
            main(["anonymize", "--job", str(folder / "job.yaml"), "--json"])
        except SystemExit as end:
            code = end.code
    if code != 0:
        return [(f"command ends with {code}", screen.getvalue()[-2000:])]
    if second.read_bytes() != first.read_bytes():
        return [("command differs", "the command line writes other bytes than the library")]
    return []
