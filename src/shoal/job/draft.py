"""resolve: from the words of a job to the objects they mean, or every problem with them.

An algorithm by its name and parameters, a requirement by its k and models. What is wrong is kept in the draft and
raised later, together with what is wrong with the table.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from typing import Any

from shoal.algorithms.base import Algorithm
from shoal.algorithms.registry import algorithm_class, make_algorithm
from shoal.errors import InputError, Problem
from shoal.job.checks import check_settings
from shoal.job.job import Job
from shoal.models.base import Model, Requirement
from shoal.models.k_anonymity import KAnonymity
from shoal.models.registry import parse_model


@dataclass(frozen=True)
class Draft:
    """A job with what its words mean; None where they mean nothing, and the problems say why."""

    job: Job
    algorithm: Algorithm | None
    requirement: Requirement | None
    problems: tuple[Problem, ...] = ()
    described: tuple[str, ...] = ()  # further columns whose scales matter, e.g. those to cluster on

    def prepare(self) -> None:
        """Begin what takes time and needs no data, unless nothing will come of it."""
        if self.algorithm is not None and not self.problems:
            self.algorithm.prepare()

    def complete(self) -> tuple[Algorithm, Requirement]:
        """What a draft without problems has."""
        assert self.algorithm is not None
        assert self.requirement is not None
        return self.algorithm, self.requirement


def resolve(
    job: Job, models: tuple[Model, ...] = (), earlier: Sequence[Problem] = (), described: Sequence[str] = ()
) -> Draft:
    """`models` are given as objects, besides those of the job. `earlier` are problems that the caller has found."""
    problems = list(earlier)
    algorithm = _algorithm(job, problems)
    requirement = _requirement(job, models, problems)
    problems += check_settings(job, algorithm, requirement)
    if requirement is not None:
        requirement = requirement.count_persons(job.person)
    return Draft(job, algorithm, requirement, tuple(problems), tuple(described))


def _algorithm(job: Job, problems: list[Problem]) -> Algorithm | None:
    """The algorithm with its parameters, some of which are settings of the job."""
    try:
        algorithm = algorithm_class(job.algorithm)
        known = {item.name for item in fields(algorithm)}
        parameters = _with_settings(job, known, problems)
        if job.priorities and not algorithm.takes_priorities:
            message = f"algorithm '{job.algorithm}' adds up no losses of columns, so priorities cannot act on it"
            problems.append(Problem("no-priorities", message, hint="leave them out, or choose another algorithm"))
        if parameters.get("class_column") not in (None, job.class_column):
            message = "the class label is no parameter of the algorithm, but a setting of the job"
            problems.append(Problem("bad-parameter", message, hint="name it with --class (class_column in Python)"))
        if job.class_column is not None and "class_column" in known:
            parameters["class_column"] = job.class_column
        return make_algorithm(job.algorithm, **parameters)
    except InputError as error:
        problems.extend(error.problems)
        return None


def _with_settings(job: Job, known: Collection[str], problems: list[Problem]) -> dict[str, Any]:
    """The parameters of the algorithm with its effort and objective, which have settings of their own."""
    parameters = dict(job.parameters)
    for name, value in (("effort", job.effort), ("objective", job.objective)):
        if value is not None and name in known:
            if parameters.get(name) not in (None, value):
                message = f"two different values of '{name}' are given, one of them among the parameters"
                problems.append(Problem("given-twice", message, hint="leave out one of them"))
            parameters[name] = value
        elif value is not None:
            message = f"algorithm '{job.algorithm}' has no {name} to set"
            problems.append(Problem("unknown-parameter", message, hint="'shoal' has"))
    return parameters


def _requirement(job: Job, given: tuple[Model, ...], problems: list[Problem]) -> Requirement | None:
    models: list[Model] = []
    before = len(problems)
    if job.k is not None:
        try:
            models.append(KAnonymity(job.k))
        except ValueError as error:
            problems.append(Problem("bad-k", str(error)))
    for spec in job.models:
        try:
            models.append(parse_model(spec))
        except InputError as error:
            problems.extend(error.problems)
    models.extend(given)
    if len(problems) > before:
        return None
    if not models:
        if any(problem.reason in ("bad-k", "bad-threshold", "bad-model") for problem in problems):  # said already
            return None
        problems.append(Problem("no-model", "no k and no model is given", hint="e.g. -k 10"))
        return None
    return Requirement.of(models)
