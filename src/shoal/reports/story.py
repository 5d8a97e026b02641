"""A release in plain words: what was released, what is promised, what was checked, what it costs, what remains.

Everything comes from the certificate. `shoal explain`, the first page of a report and the evidence pack tell it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shoal.models.catalogue import explain_model
from shoal.reports.language import digits, tell

Dict = Mapping[str, Any]
COUNTED_TWICE = 12  # names that a sentence lists; of more it tells the number


ALONE = 0.1  # share of the records that may stand alone for whoever knows the kept columns before it is grave


class Grave(str):
    """A sentence that a reader must not miss."""

    __slots__ = ()


@dataclass(frozen=True)
class Chapter:
    """One question about a release and its answer, a sentence per entry; `good` is None where that is no question."""

    title: str
    sentences: tuple[str, ...]
    good: bool | None = None


def tell_story(certificate: Dict, *, public: bool = False) -> tuple[Chapter, ...]:
    """The five chapters; the public version names no column, only how many there are."""
    if public:
        certificate = _without_names(certificate)
    return (
        Chapter(tell("What was released"), tuple(_released(certificate))),
        Chapter(tell("What is promised"), tuple(_promised(certificate))),
        Chapter(tell("What was checked"), tuple(_checked(certificate)), bool(certificate.get("passed"))),
        Chapter(tell("What it costs"), tuple(_costs(certificate))),
        Chapter(tell("What this does not protect against"), tuple(remaining_risks(certificate))),
    )


def _without_names(certificate: Dict) -> Dict:
    """The certificate with the number of columns in place of their names."""
    job, models = dict(certificate.get("job", {})), [str(spec) for spec in certificate.get("models", ())]
    roles: Dict = {role: _counted(job[role]) for role in ("sensitive", "keep", "identifiers") if role in job}
    roles = {**roles, "allow": _counted(_allowed_and_telling(certificate))}
    unguarded = [name for name in job.get("sensitive", ()) if not _looked_at(name, models)]
    person = {"person": tell("a column that is dropped")} if job.get("person") else {}
    return {
        **certificate,
        "job": {**roles, "unguarded": _counted(unguarded), **person},
        "quasi": _counted(certificate.get("quasi", ())),
        "models": [_without_column(spec) for spec in models],
        "kept": _counted(_kept(certificate)),
    }


def _without_column(spec: str) -> str:
    """A model as name and number. The number comes last, but for k-anonymity over persons: there it comes first."""
    parts = spec.split(":")
    return ":".join(parts[:2]) if len(parts) <= 2 or parts[0] == "k-anonymity" else f"{parts[0]}:{parts[-1]}"


def _counted(names: Sequence[str]) -> list[str]:
    """How many columns there are, in the place of their names; nothing for none."""
    if not names:
        return []
    return [tell("1 column") if len(names) == 1 else tell("{count} columns", count=len(names))]


def _released(certificate: Dict) -> list[str]:
    records, job = certificate.get("records", {}), {**certificate.get("job", {}), "keep": _kept(certificate)}
    told = [tell("{count} records are released.", count=_count(records.get("released", 0)))]
    suppressed = records.get("suppressed", 0)
    if suppressed:
        told.append(tell("{count} records are suppressed: their values are not told.", count=_count(suppressed)))
    told.append(tell("Generalized, because others may know them: {names}.", names=_names(certificate.get("quasi", ()))))
    for text, role in (
        ("Sensitive, released as they are: {names}.", "sensitive"),
        ("Kept as they are: {names}.", "keep"),
        ("Dropped: {names}.", "identifiers"),
    ):
        if job.get(role):
            told.append(tell(text, names=_names(job[role])))
    if job.get("person"):
        told.append(tell("Several records may be of one person; '{name}' tells which.", name=job["person"]))
    return told


def _promised(certificate: Dict) -> list[str]:
    told = []
    for spec in certificate.get("models", ()):
        name, *settings = str(spec).split(":")
        if name == "k-anonymity":
            text = "Every record has the same generalized values as at least {others} others."
            told.append(tell(text, others=_count(int(settings[0]) - 1)))
        else:
            told.append(f"{spec}: {tell(_entry(name).meaning)}" if _entry(name) else str(spec))
    return told


def _checked(certificate: Dict) -> list[str]:
    told = [tell("The released values were read back and checked by code that knows nothing of how they were made.")]
    for check in certificate.get("checks", ()):
        verdict = tell("holds") if check["passed"] else tell("DOES NOT HOLD")
        measured = check.get("measured")
        found = tell("no bound") if measured is None else digits(f"{measured:,.6g}")
        told.append(f"{check['model']}: {verdict} ({tell(check.get('measure', ''))}: {found})")
    classes = certificate.get("classes")
    if classes and certificate.get("class_based", True):
        told.append(tell("There are {count} groups of records that look the same.", count=_count(classes)))
    return told


def _costs(certificate: Dict) -> list[str]:
    loss = certificate.get("loss", {})
    told = []
    if isinstance(loss.get("gcp"), int | float):
        share = digits(f"{loss['gcp']:.1%}")
        told.append(tell("{share} of the detail of the generalized columns is lost (GCP).", share=share))
    if isinstance(loss.get("exact_cells"), int | float):
        told.append(tell("{share} of these cells are still exact.", share=digits(f"{loss['exact_cells']:.1%}")))
    if isinstance(loss.get("listed_values"), int | float):
        count = digits(f"{loss['listed_values']:.1f}")
        told.append(tell("A cell of a category without a hierarchy lists {count} values on average.", count=count))
    if loss.get("lonely_ends"):
        text = "Ends of released ranges that are the exact value of one record alone: {count}."
        told.append(tell(text, count=_count(int(loss["lonely_ends"]))))
    bound = loss.get("lower_bound")
    if bound:
        share = digits(f"{bound:.1%}")
        told.append(tell("No release that keeps the same promise can lose less than {share}.", share=share))
    return told


def remaining_risks(certificate: Dict) -> list[str]:
    """What the release does not protect against, as far as the job tells it."""
    told = [*_risks_of_groups(certificate), *_risks_of_kept_columns(certificate)]
    if not certificate.get("job", {}).get("person"):
        told.append(tell("It is taken for granted that each record is another person."))
    if certificate.get("row_order") == "input":
        text = "The rows are in the order of the input: if that was sorted by something, ranges narrow each other."
        told.append(tell(text))
    told.append(tell("Another release about the same people can undo this one; check both together before the second."))
    told.append(tell("Knowledge about people that nobody thought of when the columns got their roles."))
    return told


def _risks_of_groups(certificate: Dict) -> list[str]:
    """What somebody learns who finds the group of a person, and what the models leave open."""
    job, models = certificate.get("job", {}), [str(spec) for spec in certificate.get("models", ())]
    told = []
    smallest = certificate.get("smallest_class")
    if smallest and certificate.get("class_based", True):
        text = "Whoever knows the generalized values of a person still finds the group: a guess is right once in {k}."
        told.append(tell(text, k=_count(smallest)))
    unguarded = job.get("unguarded", [name for name in job.get("sensitive", ()) if not _looked_at(name, models)])
    if unguarded:
        text = "No model looks at {names}: where all of a group have the same value, it is known of everybody in it."
        told.append(tell(text, names=_names(unguarded)))
    return told + [tell(entry.does_not_stop) for entry in map(_entry, _model_names(models)) if entry is not None]


def _risks_of_kept_columns(certificate: Dict) -> list[str]:
    told = []
    kept, allowed = _kept(certificate), _allowed_and_telling(certificate)
    if kept:
        text = "Kept columns are published as they are. Whoever knows one of them from elsewhere can use it: {names}."
        told.append(tell(text, names=_names(kept)))
    alone = certificate.get("alone_with_kept")
    if alone:
        text = "{count} records stand alone for whoever knows the kept columns besides the generalized ones."
        sentence = tell(text, count=_count(alone))
        records = certificate.get("records", {}).get("released", 0)
        told.append(Grave(sentence) if alone > ALONE * records else sentence)
    if allowed:
        text = "Published knowingly, although they can tell who somebody is: {names}."
        told.append(Grave(tell(text, names=_names(allowed))))
    return told


def _allowed_and_telling(certificate: Dict) -> list[str]:
    """Columns that were allowed and against which something speaks; a certificate may hold no reasons."""
    kept, allowed = certificate.get("kept"), certificate.get("job", {}).get("allow") or ()
    return [name for name in allowed if not isinstance(kept, Mapping) or kept.get(name)]


def _kept(certificate: Dict) -> list[str]:
    """Columns that are published as they are, whether they were named or not."""
    return list(certificate.get("kept") or certificate.get("job", {}).get("keep") or ())


def _model_names(models: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(spec.split(":")[0] for spec in models))


def _looked_at(column: str, models: Sequence[str]) -> bool:
    return any(f":{column}:" in f"{spec}:" for spec in models)


def _entry(name: str) -> Any:
    from shoal.errors import InputError

    try:
        return explain_model(name)
    except InputError:
        return None


def _names(names: Sequence[str]) -> str:
    if len(names) > COUNTED_TWICE:
        rest = tell("and {count} more", count=len(names) - COUNTED_TWICE)
        return ", ".join(names[:COUNTED_TWICE]) + " " + rest
    return ", ".join(names)


def _count(number: float) -> str:
    return digits(f"{number:,.0f}")
