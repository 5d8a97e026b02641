"""The models by name, and the reading of their command-line forms.

    k-anonymity:K                    qid:age+sex:K                  xy-anonymity:[age+sex:]patient:K     k-map:K
    l-diversity:disease:L            distinct-l:disease:L           entropy-l:disease:L    recursive-cl:disease:C,L
    alpha-k:disease[=value]:ALPHA    confidence:[age+sex:]disease=value:BOUND              p-alpha:disease:P,ALPHA
    t-closeness:disease:T[:ordered|:hierarchical]      beta-likeness:disease:B[:enhanced]   delta-disclosure:disease:D

k-anonymity, qid and k-map take a person column as a last part (`k-anonymity:10:patient`). A column name with one of the
separators `: + = ,` in it is written with a backslash before the separator.
"""

from __future__ import annotations

from collections.abc import Sequence

from shoal.errors import InputError, Problem, did_you_mean
from shoal.models.alpha_k import AlphaK, ConfidenceBound
from shoal.models.base import Model
from shoal.models.forms import split
from shoal.models.k_anonymity import KAnonymity
from shoal.models.k_map import KMap
from shoal.models.l_diversity import DistinctLDiversity, EntropyLDiversity, LDiversity, RecursiveCLDiversity
from shoal.models.likeness import BetaLikeness, DeltaDisclosure
from shoal.models.linkage import Qid, XYAnonymity
from shoal.models.p_alpha import PAlpha
from shoal.models.t_closeness import TCloseness

# A model of your own: its class with its words, a check in `verification/`, and a line here.
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
    PAlpha,
    TCloseness,
    BetaLikeness,
    DeltaDisclosure,
)
_BY_NAME: dict[str, type[Model]] = {kind.name: kind for kind in _CLASSES}


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
    return model_class(name).form


def parse_model(spec: str) -> Model:
    """The model that a command-line form describes; `parse_model(model.spec()) == model`."""
    name, *parts = split(spec.strip(), ":")
    kind = model_class(name)
    try:
        return kind.parse(parts, _shown(spec))
    except ValueError as error:  # a part is missing, or the model refuses a number
        reason = str(error) if "unpack" not in str(error) else "a part is missing or too many"
        raise InputError(Problem("bad-model", f"model '{_shown(spec)}': {reason}", hint=f"write {kind.form}")) from None


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
