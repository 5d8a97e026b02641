"""What HIPAA's expert determination, the EMA's policy 0070 and ISO/IEC 27559 ask about a release, answered by numbers.

Everything comes from the certificate. What no number answers (who receives the data, under which contract) is left to
whoever publishes, and said so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from shoal.reports.story import remaining_risks

Certificate = Mapping[str, Any]
Answers = list[tuple[str, str]]  # questions with their answers

EMA_GROUP = 11  # the policy's threshold of 0.09 is the risk in a group of 11
YOURS = "No number answers this: it is to be written by whoever publishes."


def answers(certificate: Certificate) -> dict[str, Answers]:
    """The questions of each framework in its own order."""
    return {
        "HIPAA, expert determination (45 CFR 164.514(b)(1))": _hipaa(certificate),
        "European Medicines Agency, policy 0070": _ema(certificate),
        "ISO/IEC 27559, privacy enhancing de-identification framework": _iso(certificate),
    }


def _hipaa(certificate: Certificate) -> Answers:
    return [
        ("Who is the anticipated recipient, and what else can they reasonably get?", YOURS),
        ("Which identifiers were removed?", _dropped(certificate)),
        ("Replicability and availability: which values occur again elsewhere, and can be known?", _known(certificate)),
        ("Distinguishability: how many people share these values after release?", _crowd(certificate)),
        ("Is the risk very small that a recipient identifies a person?", _risk(certificate)),
        ("What are the methods of the analysis?", _method(certificate)),
        ("What are its results?", _results(certificate)),
    ]


def _ema(certificate: Certificate) -> Answers:
    return [
        ("Which direct identifiers were removed?", _dropped(certificate)),
        ("Which quasi-identifiers were considered?", _known(certificate)),
        ("Which adversaries and attacks are plausible? Is a disease rare, a population small?", YOURS),
        ("Is the risk of re-identification below the threshold of 0.09?", _threshold(certificate)),
        ("Can an individual be singled out?", _crowd(certificate)),
        ("Can records about an individual be linked?", _linked(certificate)),
        ("Can information about an individual be inferred?", _inferred(certificate)),
        ("What is the impact on data utility?", _cost(certificate)),
    ]


def _iso(certificate: Certificate) -> Answers:
    return [
        ("Context assessment: who may use the data, where, and what could go wrong?", YOURS),
        ("Data assessment: what is in the table?", f"{_dropped(certificate)} {_known(certificate)}"),
        ("Identifiability assessment: how likely is it that a person is found?", _risk(certificate)),
        ("Mitigation: how was the table changed?", _changed(certificate)),
        ("What did that cost?", _cost(certificate)),
        ("Was the result tested?", _results(certificate)),
        ("What remains?", " ".join(remaining_risks(certificate))),
        ("Governance: what happens before, while and after the data is available?", YOURS),
    ]


def _dropped(certificate: Certificate) -> str:
    names = certificate.get("job", {}).get("identifiers", ())
    return f"Dropped: {_listed(names)}." if names else "No identifying column was named."


def _known(certificate: Certificate) -> str:
    return f"Taken for known to others, and generalized: {_listed(certificate.get('quasi', ()))}."


def _crowd(certificate: Certificate) -> str:
    smallest, classes = certificate.get("smallest_class"), certificate.get("classes")
    if not smallest or not certificate.get("class_based", True):
        return "The groups of this release are candidates, not classes; its requirements tell how many fit a person."
    return (
        f"The released records fall into {classes:,} groups with the same values; the smallest has {smallest:,} "
        "records. No record stands alone by its generalized values."
    )


def _risk(certificate: Certificate) -> str:
    smallest = certificate.get("smallest_class")
    if not smallest:
        return "The certificate does not tell it."
    text = (
        f"At most 1/{smallest:,} = {1 / smallest:.3f} for a person who is known to be in the table (the prosecutor's)."
    )
    alone = certificate.get("alone_with_kept")
    if alone:
        text += f" Whoever knows the kept columns as well finds {alone:,} records that stand alone."
    return text


def _threshold(certificate: Certificate) -> str:
    smallest = certificate.get("smallest_class")
    if not smallest:
        return "The certificate does not tell it."
    met = smallest >= EMA_GROUP
    verdict = "That meets it" if met else "That is ABOVE it"
    risk = f"The highest risk is 1/{smallest:,} = {1 / smallest:.3f}."
    return f"{risk} {verdict}: the policy's 0.09 is the risk in a group of {EMA_GROUP}."


def _linked(certificate: Certificate) -> str:
    kept = list(certificate.get("kept") or ())
    text = f"By the generalized values a record can be linked to a group only. {_risk(certificate)}"
    if kept:
        return f"{text} Columns that are published as they are can be linked exactly: {_listed(kept)}."
    return f"{text} No column is published as it is." if not certificate.get("job", {}).get("sensitive") else text


def _inferred(certificate: Certificate) -> str:
    checks = [check for check in certificate.get("checks", ()) if not str(check["model"]).startswith("k-anonymity")]
    if not checks:
        return (
            "No requirement limits it: where a whole group has one sensitive value, that is known of everybody in it."
        )
    return f"It is limited by: {_verdicts(checks)}."


def _changed(certificate: Certificate) -> str:
    records = certificate.get("records", {})
    return (
        f"{records.get('released', 0):,} records are released, {records.get('suppressed', 0):,} are suppressed; the "
        "values of each group became ranges, sets or nodes of a hierarchy."
    )


def _cost(certificate: Certificate) -> str:
    loss = certificate.get("loss", {})
    gcp, exact, bound = loss.get("gcp"), loss.get("exact_cells"), loss.get("lower_bound")
    if not isinstance(gcp, int | float):
        return "The certificate does not tell it."
    text = f"{gcp:.1%} of the detail of the generalized columns is lost (GCP)."
    if isinstance(exact, int | float):
        text += f" {exact:.1%} of these cells are still exact."
    return f"{text} No release that keeps the same promise can lose less than {bound:.1%}." if bound else text


def _method(certificate: Certificate) -> str:
    job = certificate.get("job", {})
    made = f"Groups of similar records were formed by the algorithm '{job.get('algorithm', 'not told')}'"
    return (
        f"{made} (seed {certificate.get('seed', 0)}) and their values generalized. The released values were then read "
        "back and checked by code that knows nothing of how they were made. The same input, job and seed give "
        "the same bytes."
    )


def _results(certificate: Certificate) -> str:
    passed = "Every requirement holds" if certificate.get("passed") else "NOT every requirement holds"
    return f"{passed}, measured on the released values: {_verdicts(certificate.get('checks', ()))}."


def _verdicts(checks: Sequence[Mapping[str, Any]]) -> str:
    told = []
    for check in checks:
        measured = check.get("measured")
        found = "no bound" if measured is None else f"{measured:.6g}"
        told.append(f"{check['model']} {'holds' if check['passed'] else 'DOES NOT HOLD'} ({check['measure']}: {found})")
    return "; ".join(told)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"
