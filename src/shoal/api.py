"""The library's front door: one call from a frame to a verified release."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from shoal.algorithms.base import Algorithm
from shoal.algorithms.registry import algorithm_class, algorithm_names
from shoal.errors import InputError, Problem
from shoal.job import Job
from shoal.models.base import Model
from shoal.pipeline import run_frame
from shoal.progress import ProgressCallback, silent
from shoal.result import Result


def anonymize(
    frame: Any,
    *,
    quasi: Sequence[str],
    k: int | None = None,
    sensitive: Sequence[str] = (),
    identifiers: Sequence[str] = (),
    models: Sequence[Model | str] | Model | str = (),
    hierarchies: Mapping[str, Any] | str | None = None,
    algorithm: str | Algorithm = "shoal",
    seed: int = 0,
    progress: ProgressCallback = silent,
    **settings: Any,
) -> Result:
    """Anonymize a pandas or polars frame or a pyarrow table.

    `quasi` columns are generalized until every record shares its values with at least k - 1 others, `identifiers`
    are dropped, all else is kept. `models` may be objects (`shoal.LDiversity(3, "disease")`) or their text form.
    `hierarchies` maps columns to hierarchies (files, nested dicts, builders) or names a folder of files. Further
    `settings` are those of a `Job`: priorities, scales, missing, recoding, effort, threads ... The result's `release`
    is the kind of frame that came in, in the same row order; the input is untouched.
    """
    if frame is None:
        raise InputError(Problem("no-input", "no frame is given"))
    given = _tuple(models)
    if isinstance(algorithm, Algorithm):
        _check_registered(algorithm, "parameters" in settings)
        settings["parameters"] = algorithm.parameters()
        label = settings["parameters"].get("class_column")
        if label is not None and not {"class", "class_column"} & settings.keys():
            settings["class_column"] = label  # so that the column is read, as if it were named here
        algorithm = algorithm.name
    if settings.get("input") is not None:
        raise InputError(Problem("bad-setting", "a frame is given, so there can be no 'input'", hint="leave it out"))
    job = Job.make(
        quasi=_tuple(quasi),
        k=k,
        sensitive=_tuple(sensitive),
        identifiers=_tuple(identifiers),
        models=tuple(model for model in given if not isinstance(model, Model)),
        hierarchies=dict(hierarchies) if isinstance(hierarchies, Mapping) else (hierarchies or {}),
        algorithm=algorithm,
        seed=seed,
        **settings,
    )
    objects = tuple(model for model in given if isinstance(model, Model))
    return run_frame(job, frame, models=objects, progress=progress)


def _check_registered(algorithm: Algorithm, with_parameters: bool) -> None:
    """A job names its algorithm, so that the release can be made again: only what the name stands for can run."""
    name = algorithm.name
    problems = []
    if name not in algorithm_names() or type(algorithm) is not algorithm_class(name):
        message = f"'{type(algorithm).__name__}' is not the algorithm that is called '{name}' here"
        hint = "give one of those that 'shoal algorithms' lists; try your own with shoal.testing.check_algorithm"
        problems.append(Problem("unknown-algorithm", message, hint=hint))
    if with_parameters:
        message = "an algorithm that is given as an object has its parameters already"
        problems.append(Problem("bad-parameter", message, hint="leave out 'parameters', or name the algorithm"))
    if problems:
        raise InputError(problems)


def _tuple(given: Any) -> tuple[Any, ...]:
    """A single name or model is meant as a list of one."""
    if given is None:
        return ()
    return tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else (given,)
