"""A run that is told to end without a release writes nothing, even when the exception that says so is lost."""

from __future__ import annotations

import ctypes
import hashlib
import json
import pickle
import signal
import sys
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.cli.interrupt import OnInterrupt, stop_on_interrupt
from shoal.cli.output import ProgressBar
from shoal.pipeline.run import run
from shoal.progress import Progress, Watch

NOTHING = ctypes.CFUNCTYPE(None)


@pytest.fixture
def job(tmp_path: Path) -> shoal.Job:
    rows = "\n".join(f"{n % 41},{n * 7919 % 53}" for n in range(300))
    (tmp_path / "people.csv").write_text("a,b\n" + rows + "\n")
    return shoal.Job(
        input=tmp_path / "people.csv",
        output=tmp_path / "out.csv",
        certificate=tmp_path / "proof.json",
        quasi=("a", "b"),
        k=3,
    )


@pytest.mark.parametrize("stage", ["read", "cluster", "verify", "evaluate"])
@pytest.mark.parametrize(
    ("choice", "number"),
    [(OnInterrupt.NOTHING, signal.SIGINT), (OnInterrupt.BEST, signal.SIGINT), (OnInterrupt.BEST, signal.SIGTERM)],
)
def test_a_lost_interrupt_is_heard_at_the_next_stage(
    job: shoal.Job, tmp_path: Path, stage: str, choice: OnInterrupt, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The compiler calls Python while it loads a kernel; what is raised there is shown and forgotten.
    lost: list[type[BaseException]] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda what: lost.append(what.exc_type))
    press = NOTHING(lambda: signal.raise_signal(number))

    def listen(event: Progress) -> None:
        if event.stage == stage and event.fraction == 0.0:
            press()

    with stop_on_interrupt(choice, ProgressBar(quiet=True)) as stop, pytest.raises(KeyboardInterrupt):
        run(job, watch=Watch(listen, stop=stop))
    assert lost == [KeyboardInterrupt]
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]


def test_the_release_is_moved_before_what_speaks_about_it(job: shoal.Job, monkeypatch: pytest.MonkeyPatch) -> None:
    moved: list[str] = []
    replace = Path.replace

    def noted(self: Path, target: Path) -> Path:
        moved.append(Path(target).name)
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", noted)
    run(job.model_copy(update={"report": job.output.with_name("report.html")}))
    assert moved == ["out.csv", "proof.json", "report.html"]


def test_a_release_that_cannot_be_moved_leaves_no_certificate(job: shoal.Job, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(self: Path, target: Path) -> Path:
        raise OSError(28, "no space")

    monkeypatch.setattr(Path, "replace", refused)
    with pytest.raises(shoal.InputError, match="no space"):
        run(job)
    assert [path.name for path in job.output.parent.iterdir()] == ["people.csv"]


def test_the_holder_evaluates_a_result_with_the_plan_of_its_run(job: shoal.Job) -> None:
    result = run(job)
    evaluation = result.evaluate()
    assert evaluation.scores.totals["gcp"] == result.metrics["gcp"]
    assert "<html" in result.report()
    stored = pickle.loads(pickle.dumps(result))
    assert stored.metrics == result.metrics
    with pytest.raises(shoal.InputError, match="original"):
        stored.evaluate()


def test_an_older_certificate_never_speaks_about_a_new_release(job: shoal.Job, monkeypatch: pytest.MonkeyPatch) -> None:
    run(job)
    older = job.certificate.read_bytes()
    replace = Path.replace

    def stopped(self: Path, target: Path) -> Path:
        replace(self, target)
        raise KeyboardInterrupt  # as if the machine had stopped after the first move

    monkeypatch.setattr(Path, "replace", stopped)
    with pytest.raises(KeyboardInterrupt):
        run(job.model_copy(update={"k": 5}))
    assert older
    assert job.output.exists()
    assert not job.certificate.exists()


def test_older_files_come_back_if_the_release_cannot_be_moved(job: shoal.Job, monkeypatch: pytest.MonkeyPatch) -> None:
    run(job)
    older = {path: path.read_bytes() for path in (job.output, job.certificate)}

    def refused(self: Path, target: Path) -> Path:
        raise OSError(28, "no space")

    monkeypatch.setattr(Path, "replace", refused)
    with pytest.raises(shoal.InputError, match="no space"):
        run(job.model_copy(update={"k": 5}))
    assert {path: path.read_bytes() for path in older} == older


def test_a_result_is_saved_with_all_that_belongs_to_it(job: shoal.Job, tmp_path: Path) -> None:
    frame = pl.read_csv(job.input)
    models = [shoal.KAnonymity(4)]
    result = shoal.anonymize(frame, quasi=["a", "b"], models=models, seed=3)
    saved = result.save(tmp_path / "out")
    files = {path.name for path in (tmp_path / "out").iterdir()}
    assert files == {"release.csv", "certificate.json", "report.html", "job.yaml"}
    assert saved.metrics == result.metrics
    found = pl.read_csv(tmp_path / "out" / "release.csv", infer_schema=False)
    assert sorted(found.rows()) == sorted(result.release.cast(pl.String).rows())
    certificate = json.loads((tmp_path / "out" / "certificate.json").read_text())
    assert (
        certificate["hashes"]["release"] == hashlib.sha256((tmp_path / "out" / "release.csv").read_bytes()).hexdigest()
    )
    again = shoal.Job.load(tmp_path / "out" / "job.yaml")
    assert again.models == ("k-anonymity:4",)
    with pytest.raises(shoal.InputError, match="supported format"):
        result.save(tmp_path / "other", format="xyz")
    assert not list((tmp_path / "other").iterdir())
