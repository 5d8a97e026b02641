"""The algorithms by name. Modules load when they are asked for, so that starting up stays quick."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from importlib import import_module
from numbers import Integral
from typing import Any

from shoal.algorithms.base import Algorithm
from shoal.errors import InputError, Problem, did_you_mean

DEFAULT = "shoal"

_CLASSES: dict[str, str] = {
    "shoal": "shoal.algorithms.shoal.shoal:Shoal",
    "mondrian": "shoal.algorithms.mondrian.mondrian:Mondrian",
    "infogain-mondrian": "shoal.algorithms.mondrian.infogain:InfoGainMondrian",
    "full-domain": "shoal.algorithms.full_domain.full_domain:FullDomain",
    "k-member": "shoal.algorithms.greedy.k_member:KMember",
    "tdr": "shoal.algorithms.tdr.tdr:Tdr",
    "koc": "shoal.algorithms.greedy.koc:Koc",
    "kmeans": "shoal.algorithms.greedy.kmeans:KMeans",
    "cb": "shoal.algorithms.bisection.cb:Cb",
    "nonhomogeneous": "shoal.algorithms.bisection.nonhomogeneous:NonHomogeneous",
    "kaca": "shoal.algorithms.kaca.kaca:Kaca",
    "topdown": "shoal.algorithms.kaca.topdown:TopDown",
    "topdown-kaca": "shoal.algorithms.kaca.topdown_kaca:TopDownKaca",
    "two-level": "shoal.algorithms.kaca.two_level:TwoLevel",
    "dbca": "shoal.algorithms.dbca.dbca:Dbca",
    "dbca-cm": "shoal.algorithms.dbca.dbca:DbcaCm",
}


def algorithm_names() -> tuple[str, ...]:
    return tuple(_CLASSES)


def algorithm_class(name: str) -> type[Algorithm]:
    """The class registered under a name, or an InputError that says what there is."""
    if name not in _CLASSES:
        hint = did_you_mean(name, algorithm_names())
        raise InputError(Problem("unknown-algorithm", f"there is no algorithm '{name}'", hint=hint))
    module, _, attribute = _CLASSES[name].partition(":")
    found: type[Algorithm] = getattr(import_module(module), attribute)
    return found


def make_algorithm(name: str, **parameters: Any) -> Algorithm:
    """The algorithm with its parameters; unknown parameters and bad values become InputErrors."""
    kind = algorithm_class(name)
    known = [item.name for item in fields(kind)]
    problems = [
        Problem("unknown-parameter", f"algorithm '{name}' has no parameter '{given}'", hint=did_you_mean(given, known))
        for given in parameters
        if given not in known
    ]
    texts = [item.name for item in fields(kind) if item.type == "str | None"]
    problems += [
        Problem("bad-parameter", f"algorithm '{name}': {given} must be text")
        for given, value in parameters.items()
        if given in texts and not isinstance(value, str | None)
    ]
    problems += [
        Problem("bad-parameter", f"algorithm '{name}': {item.name} must be {wanted}")
        for item in fields(kind)
        if item.name in parameters and (wanted := _another_type(item.default, parameters[item.name]))
    ]
    if problems:
        raise InputError(problems)
    try:
        return kind(**parameters)
    except (TypeError, ValueError) as error:
        raise InputError(Problem("bad-parameter", f"algorithm '{name}': {error}")) from None


def name_and_parameters(
    algorithm: str | Algorithm, parameters: Mapping[str, Any] | None = None
) -> tuple[str, dict[str, Any]]:
    """How a job names an algorithm that is given as a name or as an object, which has its parameters already.

    A job names its algorithm, so that the release can be made again: only what the name stands for can run.
    """
    if isinstance(algorithm, str):
        return algorithm, dict(parameters or {})
    name, problems = algorithm.name, []
    if name not in algorithm_names() or type(algorithm) is not algorithm_class(name):
        message = f"'{type(algorithm).__name__}' is not the algorithm that is called '{name}' here"
        hint = "give one of those that 'shoal algorithms' lists; try your own with shoal.testing.check_algorithm"
        problems.append(Problem("unknown-algorithm", message, hint=hint))
    if parameters is not None:
        message = "an algorithm that is given as an object has its parameters already"
        problems.append(Problem("bad-parameter", message, hint="leave out 'parameters', or name the algorithm"))
    if problems:
        raise InputError(problems)
    return name, algorithm.parameters()


def _another_type(default: Any, given: Any) -> str | None:
    """What a parameter must be, if its default is true or false, or a whole number, and the given value is not."""
    if isinstance(default, bool):
        return None if isinstance(given, bool) else "true or false"
    if isinstance(default, int):
        return None if isinstance(given, Integral) and not isinstance(given, bool) else "a whole number"
    return None
