"""The models by name, and the reading of their command-line forms.

    k-anonymity:K                    qid:age+sex:K                  xy-anonymity:[age+sex:]patient:K     k-map:K
    l-diversity:disease:L            distinct-l:disease:L           entropy-l:disease:L    recursive-cl:disease:C,L
    alpha-k:disease[=value]:ALPHA    confidence:[age+sex:]disease=value:BOUND
    t-closeness:disease:T[:ordered|:hierarchical]      beta-likeness:disease:B[:enhanced]   delta-disclosure:disease:D

k-anonymity, qid and k-map take a person column as a last part (`k-anonymity:10:patient`). A column name with one of the
separators `: + = ,` in it is written with a backslash before the separator.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from shoal.errors import InputError, Problem, did_you_mean
from shoal.models.alpha_k import AlphaK, ConfidenceBound
from shoal.models.base import Model
from shoal.models.forms import read_count, read_number, split, split_names, split_value, unescape
from shoal.models.k_anonymity import KAnonymity
from shoal.models.k_map import KMap
from shoal.models.l_diversity import DistinctLDiversity, EntropyLDiversity, LDiversity, RecursiveCLDiversity
from shoal.models.likeness import BetaLikeness, DeltaDisclosure
from shoal.models.linkage import Qid, XYAnonymity
from shoal.models.t_closeness import DISTANCES, TCloseness

_CLASSES: tuple[type[Model], ...] = (
    KAnonymity,
    Qid,
    XYAnonymity,
    KMap,
    LDiversity,
    DistinctLDiversity,
    EntropyLDiversity,
    RecursiveCLDiversity,
    AlphaK,
    ConfidenceBound,
    TCloseness,
    BetaLikeness,
    DeltaDisclosure,
)
_BY_NAME: dict[str, type[Model]] = {kind.name: kind for kind in _CLASSES}

Reader = Callable[[str, list[str]], Model]


def model_names() -> tuple[str, ...]:
    return tuple(_BY_NAME)


def model_class(name: str) -> type[Model]:
    """The class of a model, or an InputError that says what there is."""
    if name not in _BY_NAME:
        hint = did_you_mean(name, model_names())
        raise InputError(Problem("unknown-model", f"there is no model '{name}'", hint=hint))
    return _BY_NAME[name]


def model_form(name: str) -> str:
    """How a model is written on the command line."""
    model_class(name)
    return _READERS[name][1]


def parse_model(spec: str) -> Model:
    """The model that a command-line form describes; `parse_model(model.spec()) == model`."""
    name, *parts = split(spec.strip(), ":")
    model_class(name)
    reader, form = _READERS[name]
    try:
        return reader(_shown(spec), parts)
    except ValueError as error:  # a part is missing, or the model refuses a number
        reason = str(error) if "unpack" not in str(error) else "a part is missing or too many"
        raise InputError(Problem("bad-model", f"model '{_shown(spec)}': {reason}", hint=f"write {form}")) from None


def parse_models(specs: Sequence[str]) -> tuple[Model, ...]:
    """Several forms at once; every problem of all of them is raised together."""
    problems: list[Problem] = []
    models: list[Model] = []
    for spec in specs:
        try:
            models.append(parse_model(spec))
        except InputError as error:
            problems.extend(error.problems)
    if problems:
        raise InputError(problems)
    return tuple(models)


def _shown(spec: str) -> str:
    """The form without the value that it names: messages carry no values of the data."""
    hidden = []
    for part in split(spec.strip(), ":"):
        before, *after = split(part, "=")
        hidden.append(f"{before}=..." if after else before)
    return ":".join(hidden)


def _person(parts: list[str]) -> str | None:
    return unescape(parts[0]) if parts else None


def _k_anonymity(spec: str, parts: list[str]) -> Model:
    k, *person = parts
    _at_most(person, 1)
    return KAnonymity(read_count(k, "k", spec), _person(person))


def _qid(spec: str, parts: list[str]) -> Model:
    names, k, *person = parts
    _at_most(person, 1)
    return Qid(split_names(names), read_count(k, "k", spec), _person(person))


def _xy(spec: str, parts: list[str]) -> Model:
    *x, y, k = _arrow(parts)
    _at_most(x, 1)
    return XYAnonymity(read_count(k, "k", spec), unescape(y), split_names(x[0]) if x else ())


def _k_map(spec: str, parts: list[str]) -> Model:
    k, *person = parts
    _at_most(person, 1)
    return KMap(read_count(k, "k", spec), _person(person))


def _frequency_l(spec: str, parts: list[str]) -> Model:
    column, number = parts
    return LDiversity(read_number(number, "l", spec), unescape(column))


def _distinct_l(spec: str, parts: list[str]) -> Model:
    column, number = parts
    return DistinctLDiversity(read_count(number, "l", spec), unescape(column))


def _entropy_l(spec: str, parts: list[str]) -> Model:
    column, number = parts
    return EntropyLDiversity(read_number(number, "l", spec), unescape(column))


def _recursive_cl(spec: str, parts: list[str]) -> Model:
    column, numbers = parts
    c, l = split(numbers, ",")  # noqa: E741
    return RecursiveCLDiversity(read_number(c, "c", spec), read_count(l, "l", spec), unescape(column))


def _alpha_k(spec: str, parts: list[str]) -> Model:
    column, alpha = parts
    name, value = split_value(column)
    return AlphaK(read_number(alpha, "alpha", spec), name, value)


def _confidence(spec: str, parts: list[str]) -> Model:
    *quasi, column, bound = _arrow(parts)
    _at_most(quasi, 1)
    name, value = split_value(column)
    if value is None:
        raise ValueError("it names no value")
    return ConfidenceBound(
        read_number(bound, "the confidence", spec), name, value, split_names(quasi[0]) if quasi else ()
    )


def _t_closeness(spec: str, parts: list[str]) -> Model:
    column, t, *distance = parts
    _at_most(distance, 1)
    if distance and distance[0] not in DISTANCES:
        hint = did_you_mean(distance[0], DISTANCES)
        raise InputError(Problem("bad-model", f"model '{spec}': there is no such distance", hint=hint))
    return TCloseness(read_number(t, "t", spec), unescape(column), *distance)


def _beta(spec: str, parts: list[str]) -> Model:
    column, beta, *form = parts
    if form not in ([], ["basic"], ["enhanced"]):
        raise ValueError("the form is basic or enhanced")
    return BetaLikeness(read_number(beta, "beta", spec), unescape(column), form == ["enhanced"])


def _delta(spec: str, parts: list[str]) -> Model:
    column, delta = parts
    return DeltaDisclosure(read_number(delta, "delta", spec), unescape(column))


def _arrow(parts: list[str]) -> list[str]:
    """`age+sex->disease` is the same as `age+sex:disease`."""
    return [piece.strip() for part in parts for piece in part.split("->")]


def _at_most(parts: list[str], most: int) -> None:
    if len(parts) > most:
        raise ValueError("a part is missing or too many")


_READERS: dict[str, tuple[Reader, str]] = {
    "k-anonymity": (_k_anonymity, "k-anonymity:K"),
    "qid": (_qid, "qid:COLUMN+COLUMN:K"),
    "xy-anonymity": (_xy, "xy-anonymity:COLUMN:K or xy-anonymity:QUASI+QUASI:COLUMN:K"),
    "k-map": (_k_map, "k-map:K"),
    "l-diversity": (_frequency_l, "l-diversity:COLUMN:L"),
    "distinct-l": (_distinct_l, "distinct-l:COLUMN:L"),
    "entropy-l": (_entropy_l, "entropy-l:COLUMN:L"),
    "recursive-cl": (_recursive_cl, "recursive-cl:COLUMN:C,L"),
    "alpha-k": (_alpha_k, "alpha-k:COLUMN:ALPHA or alpha-k:COLUMN=VALUE:ALPHA"),
    "confidence": (_confidence, "confidence:COLUMN=VALUE:BOUND or confidence:QUASI+QUASI:COLUMN=VALUE:BOUND"),
    "t-closeness": (_t_closeness, "t-closeness:COLUMN:T, with :ordered or :hierarchical for other distances"),
    "beta-likeness": (_beta, "beta-likeness:COLUMN:B, with :enhanced for the enhanced form"),
    "delta-disclosure": (_delta, "delta-disclosure:COLUMN:D"),
}
