"""A run that is told to end without a release writes nothing, even when the exception that says so is lost."""

from __future__ import annotations

import ctypes
import pickle
import signal
import sys
from pathlib import Path

import pytest

import shoal
from shoal.cli.interrupt import OnInterrupt, stop_on_interrupt
from shoal.cli.output import ProgressBar
from shoal.pipeline.run import run
from shoal.progress import Progress

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

    def watch(event: Progress) -> None:
        if event.stage == stage and event.fraction == 0.0:
            press()

    with stop_on_interrupt(choice, ProgressBar(quiet=True)) as stop, pytest.raises(KeyboardInterrupt):
        run(job, progress=watch, stop=stop)
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
        raise OSError("no space")

    monkeypatch.setattr(Path, "replace", refused)
    with pytest.raises(OSError, match="no space"):
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
