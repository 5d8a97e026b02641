"""Where verbs besides `anonymize` write: in the named folder alone, nothing half, private where it has to be."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

import shoal
from shoal.cli.main import main
from shoal.errors import InputError
from shoal.job.job import Job
from shoal.pipeline.series import load_series


def run(*arguments: object) -> int:
    with pytest.raises(SystemExit) as end:
        main(list(map(str, arguments)))
    assert isinstance(end.value.code, int)
    return end.value.code


def table(folder: Path) -> Path:
    rows = [f"{20 + row % 5},{'fm'[row % 2]},{'abc'[row % 3]}" for row in range(30)]
    (folder / "table.csv").write_text("age,sex,disease\n" + "\n".join(rows) + "\n")
    return folder / "table.csv"


def job(folder: Path, number: int) -> Job:
    settings = {"quasi": ("age", "sex"), "sensitive": ("disease",), "k": 2, "algorithm": "mondrian"}
    return Job.make(input=table(folder), output=folder / f"r{number}.csv", series=folder / "series.json", **settings)


def test_the_name_of_a_column_leads_nowhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = "\n".join(f"{18 + row * 7 % 60}" for row in range(120))
    (tmp_path / "t.csv").write_text(f"../../evil\n{rows}\n")
    (tmp_path / "in" / "it").mkdir(parents=True)
    assert run("hierarchies", "export", tmp_path / "t.csv", "-o", tmp_path / "in" / "it") == 2
    assert "cannot be the name of a file" in capsys.readouterr().err
    assert not list(tmp_path.rglob("*evil*"))


def test_a_pack_is_its_owners_and_never_takes_the_place_of_a_part(tmp_path: Path) -> None:
    assert run("anonymize", "--job", _saved(tmp_path), "-q") == 0
    assert run("pack", tmp_path / "out", "-o", tmp_path / "evidence.zip") == 0
    assert stat.S_IMODE((tmp_path / "evidence.zip").stat().st_mode) == 0o600
    before = (tmp_path / "out" / "certificate.json").read_bytes()
    assert run("pack", tmp_path / "out", "-o", tmp_path / "out" / "certificate.json", "--force") == 2
    assert (tmp_path / "out" / "certificate.json").read_bytes() == before
    assert run("pack", tmp_path / "out", "-o", tmp_path / "nowhere" / "evidence.zip") == 2


def _saved(folder: Path) -> Path:
    (folder / "out").mkdir()
    made = Job.make(
        input=table(folder),
        output=folder / "out" / "release.csv",
        certificate=folder / "out" / "certificate.json",
        quasi=("age", "sex"),
        sensitive=("disease",),
        k=2,
        algorithm="mondrian",
    )
    made.save(folder / "job.yaml")
    return folder / "job.yaml"


def test_a_series_names_the_tables_so_it_is_its_owners(tmp_path: Path) -> None:
    shoal.run(job(tmp_path, 1))
    assert stat.S_IMODE((tmp_path / "series.json").stat().st_mode) == 0o600
    assert len(load_series(tmp_path / "series.json")) == 1


def test_a_series_that_cannot_be_written_is_told_before_any_work(tmp_path: Path) -> None:
    made = job(tmp_path, 1).model_copy(update={"series": tmp_path / "nowhere" / "series.json"})
    with pytest.raises(InputError) as caught:
        shoal.run(made)
    assert "no-such-folder" in caught.value.reasons
    assert not (tmp_path / "r1.csv").exists()


def test_two_runs_on_one_series(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second knew nothing of the first: its release must not be taken for one that was checked with it."""
    from shoal.pipeline import earlier

    shoal.run(job(tmp_path, 1))
    kept = (tmp_path / "series.json").read_text()
    (tmp_path / "series.json").unlink()
    real = earlier.add_release

    def meanwhile(*arguments: object, **more: object) -> None:
        (tmp_path / "series.json").write_text(kept)  # another run has ended
        real(*arguments, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(earlier, "add_release", meanwhile)
    with pytest.raises(InputError) as caught:
        shoal.run(job(tmp_path, 2))
    assert caught.value.reasons == ("series-changed",)
    assert len(json.loads((tmp_path / "series.json").read_text())["releases"]) == 1
