"""The plan: what is decided about every column, once, between reading and encoding.

Roles, scales, orders, hierarchies, recodings, weights and the texts that mean 'missing' are decided here and nowhere
else. Encoding, recoding, the check, the evaluation, the report, `compare` and `evaluate` are handed the plan, so that
they cannot disagree. `Plan.public` is what a certificate tells of it, without a value of the data; `job/certified.py`
reads it back.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from shoal.errors import InputError, Problem
from shoal.hierarchies.hierarchy import Hierarchy
from shoal.hierarchies.spec import make_hierarchy
from shoal.job.checks import check_columns, hierarchy_specs
from shoal.job.doubts import doubtful, taken_for_categories
from shoal.job.job import SCHEMES, Job, Recoding
from shoal.job.kept import Finding, find_telling, telling_problems, unnamed_columns
from shoal.job.rounding import plan_rounding
from shoal.models.base import Requirement
from shoal.models.k_map import KMap
from shoal.released.domain import Domain, make_domains
from shoal.tables.distinct import CodedColumn, code_columns
from shoal.tables.scales import find_scale, is_missing
from shoal.tables.schema import Attribute, Role, Scale
from shoal.tables.value_sizes import KeptFacts
from shoal.verification.reading import Knowledge


@dataclass(frozen=True, eq=False)
class ColumnPlan:
    """What is decided about one column."""

    name: str
    role: Role
    scale: Scale
    order: tuple[str, ...] | None = None  # of an ordered category, from low to high
    hierarchy: Hierarchy | None = None
    recoding: Recoding = "range"
    weight: float = 1.0
    at_most: int | None = None  # the highest level of the hierarchy to which values may be lifted; 0: not at all
    rounding: str | None = None  # the unit at which its ranges end; None: at values

    @property
    def dropped(self) -> bool:
        """Not released: what identifies."""
        return self.role is Role.IDENTIFYING

    @property
    def attribute(self) -> Attribute:
        return Attribute(self.name, self.role, self.scale, self.order)


@dataclass(frozen=True, eq=False)
class Plan:
    """All columns: quasi-identifiers first, as the user named them, then the others in the order of the table."""

    columns: tuple[ColumnPlan, ...]
    missing: tuple[str, ...]  # texts that mean 'missing'
    weights: dict[str, float]  # of the columns that were given one
    coded: dict[str, CodedColumn]  # the columns that matter as numbers: found once, used by all that follows
    scheme: str = "local"  # or full-domain, subtree, sibling: values are released the same way everywhere
    label: str | None = None  # the column to be kept predictable
    telling: Mapping[str, Sequence[Finding]] = field(default_factory=dict)  # what speaks against columns kept knowingly
    notes: tuple[str, ...] = ()  # what looks like a mistake, and is done all the same

    @property
    def quasi(self) -> tuple[ColumnPlan, ...]:
        return tuple(column for column in self.columns if column.role is Role.QUASI_IDENTIFYING)

    @property
    def attributes(self) -> list[Attribute]:
        return [column.attribute for column in self.columns]

    @property
    def hierarchies(self) -> dict[str, Hierarchy]:
        return {column.name: column.hierarchy for column in self.columns if column.hierarchy is not None}

    @property
    def scales(self) -> dict[str, Scale]:
        return {column.name: column.scale for column in self.columns}

    @property
    def orders(self) -> dict[str, tuple[str, ...]]:
        return {column.name: column.order for column in self.columns if column.order is not None}

    @property
    def dropped(self) -> list[str]:
        return [column.name for column in self.columns if column.dropped]

    @property
    def at_most(self) -> dict[str, int]:
        return {column.name: column.at_most for column in self.quasi if column.at_most is not None}

    @property
    def roundings(self) -> dict[str, str]:
        return {column.name: column.rounding for column in self.quasi if column.rounding is not None}

    @property
    def kept(self) -> list[str]:
        """Columns that are published as they are: neither sensitive nor the label, which is named for what it is."""
        kept = [column.name for column in self.columns if column.role is Role.INSENSITIVE]
        return [name for name in kept if name != self.label]

    @property
    def as_nodes(self) -> frozenset[str]:
        """Quasi-identifiers that are released as nodes of their hierarchy."""
        return frozenset(item.name for item in self.quasi if item.recoding == "nodes" and item.hierarchy is not None)

    def domains(self, original: pl.DataFrame, columns: Collection[str] | None = None) -> dict[str, Domain]:
        """What released cells are measured against: the values of the original.

        For every quasi-identifier, or for the named columns, which the plan must describe.
        """
        wanted = self.quasi if columns is None else [column for column in self.columns if column.name in columns]
        attributes = [column.attribute for column in wanted]
        return make_domains(original, attributes, self.hierarchies, self.missing, self.coded)

    def knowledge(self, population: pl.DataFrame | None = None, hidden: pl.DataFrame | None = None) -> Knowledge:
        """What the check of a release is told besides its cells."""
        return Knowledge(self.hierarchies, self.orders, self.missing, self.scales, population, hidden)

    def public(self, domains: Mapping[str, Domain]) -> dict[str, dict[str, Any]]:
        """The quasi-identifiers as a certificate shows them: enough to measure again, and no value.

        An order is told by ranks: those of the values that occur, taken in the order of the alphabet.
        """
        return {column.name: _public_column(column, domains[column.name]) for column in self.quasi}


def _public_column(column: ColumnPlan, domain: Domain) -> dict[str, Any]:
    shown: dict[str, Any] = {"scale": str(column.scale), "recoding": column.recoding, "weight": column.weight}
    if column.at_most is not None:
        shown["at_most"] = column.at_most
    if column.rounding is not None:
        shown["round"] = column.rounding
    if column.order is not None:
        rank_of = dict(zip(domain.values, domain.positions.tolist(), strict=True))
        shown["ranks"] = [int(rank_of[value]) for value in sorted(rank_of)]
    return shown


def make_plan(
    job: Job,
    frame: pl.DataFrame,
    requirement: Requirement | None = None,
    *,
    known: Mapping[str, CodedColumn] | None = None,
    described: Sequence[str] = (),
    kept_facts: KeptFacts | None = None,
) -> Plan:
    """The plan of a job for its table; every problem of the job with the table is raised together.

    `known` are columns of the frame as numbers, where the caller has them already; `described` are columns whose
    scale matters besides those of the job. `kept_facts` is what is known of the kept columns where the
    frame has no records.
    """
    problems = check_columns(job, frame, requirement, described)
    specs = hierarchy_specs(job, requirement, problems)
    if problems:
        raise InputError(problems)
    looked_at = set(requirement.columns()) if requirement is not None else set()
    roles = _roles(job, frame.columns, looked_at, described)
    counted = kept_facts is not None  # the values of columns that nobody looks at are not known then
    coded = dict(known or {}) if counted else _as_numbers(frame, roles, looked_at | set(described), known or {})
    columns = _plan_columns(job, roles, coded, specs, problems)
    scheme = job.recoding if job.recoding in SCHEMES else "local"
    plan = Plan(columns, job.missing, job.weights(), coded, scheme, job.class_column)
    if requirement is not None:
        plan = _looked_over(plan, job, frame, requirement, kept_facts, problems)
    if problems:
        raise InputError(problems)
    return plan


def _looked_over(
    plan: Plan,
    job: Job,
    frame: pl.DataFrame,
    requirement: Requirement,
    kept_facts: KeptFacts | None,
    problems: list[Problem],
) -> Plan:
    """The plan with what looks like a mistake, for a release that is to be made by it."""
    telling = _telling(plan, frame, requirement.k, kept_facts)
    problems += telling_problems(telling, job.allow)
    problems += taken_for_categories(job, plan.columns, plan.coded)
    if any(isinstance(model, KMap) for model in requirement.models):
        problems += _not_for_k_map(plan)
    return replace(plan, telling=telling, notes=doubtful(job, plan.columns, plan.coded))


def _telling(plan: Plan, frame: pl.DataFrame, k: int, facts: KeptFacts | None) -> Mapping[str, Sequence[Finding]]:
    """What speaks against the kept columns and the label: from all records, or from what is known of them."""
    looked_at = [column.name for column in plan.columns if column.role is Role.INSENSITIVE]
    names = [column.name for column in plan.quasi]
    if facts is None:
        return find_telling(frame, looked_at, {name: plan.coded[name] for name in names}, k, plan.missing)
    coded = code_columns(facts.sample, names)
    return find_telling(facts.sample, looked_at, coded, k, plan.missing, facts.sizes)


def _as_numbers(
    frame: pl.DataFrame, roles: Mapping[str, Role], looked_at: set[str], known: Mapping[str, CodedColumn]
) -> dict[str, CodedColumn]:
    """The columns whose values matter: quasi-identifiers, sensitive ones, and those that somebody looks at."""
    of_roles = (Role.QUASI_IDENTIFYING, Role.SENSITIVE)
    wanted = [name for name, role in roles.items() if role in of_roles or name in looked_at]
    return {**known, **code_columns(frame, (name for name in wanted if name not in known))}


def _plan_columns(
    job: Job,
    roles: Mapping[str, Role],
    coded: Mapping[str, CodedColumn],
    specs: Mapping[str, object],
    problems: list[Problem],
) -> tuple[ColumnPlan, ...]:
    """Quasi-identifiers first, in the order of the job, then the others in that of the table."""
    order = [*job.quasi, *(name for name in roles if name not in job.quasi)]
    columns = [_plan_column(job, name, roles[name], coded.get(name), specs, problems) for name in order]
    problems += _misused_recodings(job, columns, specs)
    problems += _broken_caps(columns)
    return tuple(columns)


def _plan_column(
    job: Job,
    name: str,
    role: Role,
    coded: CodedColumn | None,
    specs: Mapping[str, object],
    problems: list[Problem],
) -> ColumnPlan:
    """Scale and hierarchy are decided for the columns whose values matter."""
    hierarchy, scale, rounding = None, Scale.CATEGORY, None
    if coded is not None:
        scale = _scale(job, coded.values, problems)
        if name in specs:
            hierarchy = _hierarchy(job, name, specs[name], coded.values, problems)
        if role is Role.QUASI_IDENTIFYING:
            rounding = plan_rounding(job, name, coded, scale, name in specs, problems)
    order, recoding, weight = job.orders.get(name), job.column_recoding(name), job.weights().get(name, 1.0)
    return ColumnPlan(name, role, scale, order, hierarchy, recoding, weight, job.caps().get(name), rounding)


def _hierarchy(job: Job, name: str, spec: object, values: pl.Series, problems: list[Problem]) -> Hierarchy | None:
    """The hierarchy of a column over the values that are there."""
    present = values.filter(~is_missing(values, job.missing)).sort().cast(pl.String)
    try:
        return make_hierarchy(spec, present.to_list(), name, None, new_below_root=job.new_values == "root")
    except InputError as error:
        problems.extend(error.problems)
        return None


def _misused_recodings(job: Job, columns: list[ColumnPlan], specs: Mapping[str, object]) -> list[Problem]:
    problems = []
    numeric = {column.name for column in columns if column.scale.is_numeric}
    for name, recoding in job.recodings.items():
        if recoding == "nodes" and name not in specs:
            problems.append(Problem("no-hierarchy", "to release nodes, the column needs a hierarchy", name))
        if recoding in ("mean", "midpoint") and name not in numeric:
            message = f"the recoding '{recoding}' is for numbers and dates"
            problems.append(Problem("bad-recoding", message, name, "leave it out, or give the scale of the column"))
    return problems


def _broken_caps(columns: list[ColumnPlan]) -> list[Problem]:
    """A cell that is suppressed stands at the top of its hierarchy."""
    return [
        Problem("bad-recoding", message, column.name, "give level 0, or leave out one of them")
        for column in columns
        for message in [
            f"it may be lifted to level {column.at_most} only, which the recoding '{column.recoding}' breaks"
        ]
        if column.at_most and column.recoding in ("cell-suppression", "value-suppression")
    ]


def _not_for_k_map(plan: Plan) -> list[Problem]:
    """A mean tells exactly and fits hardly anybody: how many persons of a population it could be cannot be counted."""
    return [
        Problem("no-range", message, item.name, "use the recoding 'range'")
        for item in plan.quasi
        for message in [f"k-map counts who fits a released range; with the recoding '{item.recoding}' there is none"]
        if item.scale.is_numeric and item.recoding in ("mean", "midpoint")
    ]


def kept_columns(
    job: Job, columns: Sequence[str], requirement: Requirement | None, described: Sequence[str]
) -> list[str]:
    """The columns that are published as they are and not looked at as sensitive, the label among them."""
    looked_at = set(requirement.columns()) if requirement is not None else set()
    roles = _roles(job, columns, looked_at, described)
    return [name for name, role in roles.items() if role is Role.INSENSITIVE]


def _roles(job: Job, columns: Sequence[str], looked_at: set[str], described: Sequence[str]) -> dict[str, Role]:
    """The role of every column. Those that nobody named are published or dropped, as the job says."""
    dropped = unnamed_columns(job, columns, [*looked_at, *described]) if job.drop_rest else []
    return {name: Role.IDENTIFYING if name in dropped else _role(job, name, looked_at) for name in columns}


def _role(job: Job, name: str, looked_at: set[str]) -> Role:
    if name in job.quasi:
        return Role.QUASI_IDENTIFYING
    if name in job.identifiers or name == job.person:
        return Role.IDENTIFYING
    if name in job.sensitive or name in looked_at:
        return Role.SENSITIVE
    return Role.INSENSITIVE


def _scale(job: Job, column: pl.Series, problems: list[Problem]) -> Scale:
    if column.name in job.orders:
        return Scale.ORDERED
    given = job.scales.get(column.name)
    if given is Scale.ORDERED:
        hint = "give 'orders', the values from low to high"
        problems.append(Problem("no-order", "an ordered category needs its order", column.name, hint))
    return given if given is not None else find_scale(column, job.missing)
