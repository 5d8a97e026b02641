"""Do several releases of the same people hold together? The attacks are defined in `together.py`.

Growing tables: every two releases are looked at with the attacks F, C and B. Versions of one table: the same without
newcomers, so that F and C are the intersection attack without a key: the candidates of a person are the records that
fit in both releases in some world. If the rows are in the same order, or carry a key, no world is left open: the
classes of all releases are joined record by record, and a person hides in the joint class only (`joining.py`). The
verdict is then about the joint classes; what others learn, who cannot join records, is told beside it.

Two releases, and any number joined record by record, are looked at exactly. More than two are looked at in pairs and,
where they are a chain (`chain.py`) or the rows are known, all at once; otherwise all of them together may crack more
than the pairs, and the verdict says so.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.errors import InputError, Problem
from shoal.hierarchies.hierarchy import Hierarchy
from shoal.models.base import Model
from shoal.released.domain import Domain, DomainKind
from shoal.released.reading import group_rows
from shoal.releases.attacks import Numbers, all_victims, real_victims
from shoal.releases.chain import Step, chain_goes_on, chain_holds, first_step, never_interrupted
from shoal.releases.classes import ReleaseClasses, read_classes
from shoal.releases.diversity import diversities_among
from shoal.releases.domains import domains_of_releases
from shoal.releases.joining import join_by_key, join_by_order, joint_check
from shoal.releases.judging import Needed
from shoal.releases.reading_together import ReadTogether
from shoal.releases.verdict import Attack, AttackCheck, Scope, Setting, TogetherVerdict
from shoal.releases.worlds import Worlds, make_worlds
from shoal.tables.schema import as_names


@dataclass(frozen=True)
class Reading:
    """How the releases are to be looked at.

    `same_order`: row i of all releases is the same person, newcomers at the end, and the attacker knows it.

    `join_key`: columns of all releases that tell who is who; they are no values of the person.

    `rows_known` is the data holder's knowledge, not the attacker's: row i of every release is the same person, and
    newcomers follow at the end. Then only victims that exist are judged, and the persons below k are counted one by
    one. Without it every victim that is possible counts.

    `strict`: the attacker is given the classes of a victim, and newcomers who need not exist count.

    `exempt_suppressed`: records whose quasi-identifiers are all `*` in both releases are not judged.
    """

    setting: Setting = Setting.GROWING
    same_order: bool = False
    join_key: tuple[str, ...] = ()
    rows_known: bool = False
    strict: bool = False
    exempt_suppressed: bool = True

    @classmethod
    def of(
        cls, *, setting: Setting | str = Setting.GROWING, join_key: Sequence[str] | str = (), **more: bool
    ) -> Reading:
        """The same with a setting as text, and one column or several."""
        return cls(setting=_setting(setting), join_key=as_names(join_key), **more)


def check_together(
    releases: Sequence[pl.DataFrame],
    quasi: Sequence[str] | str,
    k: int,
    sensitive: Sequence[str] | str | None = None,
    *,
    models: Sequence[Model] = (),
    changing: Collection[str] = (),
    domains: Mapping[str, Domain] | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    missing: Sequence[str] = (),
    **reading: Any,
) -> TogetherVerdict:
    """Check releases, the earliest first, against an attacker who has all of them.

    `sensitive` columns are released as they are and do not change; they tell records apart. Of the `models` those of
    l-diversity are judged on the records that are left. Columns that are `changing`, quasi-identifiers or sensitive,
    are not used to tell whether two records fit: a weaker reading. `domains` are those of the original of the last
    release (`make_domains`); without them the releases, the `hierarchies`, and the texts that mean `missing` tell. For
    `reading` see `Reading`.
    """
    how = Reading.of(**reading)
    names = as_names(quasi)
    secrets = tuple(name for name in as_names(sensitive or ()) if name not in changing and name not in how.join_key)
    diversities = diversities_among(models)
    _check(releases, names, k, how, [model.column for model in diversities if model.column not in secrets])
    read_with = domains
    if read_with is None:
        read_with = domains_of_releases(releases, names, hierarchies, missing=missing)
    tables = read_classes(releases, names, read_with, secrets, changing)
    needed = Needed(k, tuple(diversities))
    joint = _joined(releases, tables, needed, how)
    checks, scope = _all_pairs(tables, needed, how) if not joint else (joint, Scope.ALL)
    return TogetherVerdict(
        k=k,
        setting=how.setting,
        checks=tuple(checks),
        scope=scope,
        unreadable_cells=sum(table.unreadable for table in tables),
        diversities=tuple(model.spec() for model in diversities),
        changing=tuple(changing),
        read_alone=domains is None,
        taken_as_values=tuple(name for name in names if domains is None and read_with[name].kind is DomainKind.FLAT),
        without_joining=_without_joining(tables, needed, how) if joint else (),
    )


def _without_joining(tables: Sequence[ReleaseClasses], needed: Needed, how: Reading) -> tuple[AttackCheck, ...]:
    """What others learn; nothing is told where values of a person changed, so that no world fits without the key."""
    try:
        return tuple(_all_pairs(tables, needed, how)[0])
    except InputError:
        return ()


def _joined(
    releases: Sequence[pl.DataFrame], tables: Sequence[ReleaseClasses], needed: Needed, how: Reading
) -> list[AttackCheck]:
    """The check of an attacker who joins the releases record by record, if the reading has one."""
    if how.same_order:
        return [joint_check(join_by_order([frame.height for frame in releases]), tables, needed, Attack.SAME_ORDER)]
    if how.join_key:
        return [joint_check(join_by_key(releases, how.join_key), tables, needed, Attack.SAME_KEY)]
    return []


def check_newest(
    releases: Sequence[pl.DataFrame],
    how: ReadTogether,
    *,
    setting: Setting = Setting.GROWING,
    joint_before: bool = False,
    join_key: tuple[str, ...] = (),
    newcomers: pl.DataFrame | None = None,
) -> TogetherVerdict:
    """Check the last release with every earlier one, and by the key if there is one.

    `joint_before`: the earlier ones are known to hold all at once. Then a last release that keeps every class of the
    one before it as a whole holds with all of them at once. `newcomers` are the cells of those who are new in the last
    release, where that is known: who is there counts, whether the releases tell of it or not.
    """
    tables = read_classes(releases, how.quasi, how.domains, how.linking, how.changing)
    checks: list[AttackCheck] = []
    scope = Scope.ALL if len(tables) == 2 else Scope.PAIRS
    last, steady = len(tables) - 1, not how.may_leave and never_interrupted(tables)
    there = _classes_with(newcomers, releases[-1], tables[-1]) if newcomers is not None else None
    for earlier in range(last):
        worlds = make_worlds(tables[earlier], tables[last], may_leave=how.may_leave)
        if joint_before and steady and earlier == last - 1 and chain_goes_on(worlds, first_step(worlds), how.needed):
            scope = Scope.ALL
        checks += all_victims(worlds, (earlier + 1, last + 1), how.needed, there=there)
    if join_key:
        checks.append(joint_check(join_by_key(releases, join_key), tables, how.needed, Attack.SAME_KEY))
    return TogetherVerdict(
        k=how.needed.k,
        setting=setting,
        checks=tuple(checks),
        scope=scope,
        unreadable_cells=sum(table.unreadable for table in tables),
        diversities=tuple(model.spec() for model in how.needed.diversities),
        changing=tuple(how.changing),
    )


def _classes_with(cells: pl.DataFrame, release: pl.DataFrame, table: ReleaseClasses) -> NDArray[np.bool_]:
    """(classes,) those that hold the cells of somebody; all of them where a cell is not found."""
    names = cells.columns
    wanted = cells.unique().with_row_index("cell")
    rows = release.select(names).with_row_index("row").join(wanted, on=names, nulls_equal=True)
    marked = np.full(table.sizes.shape[0], rows["cell"].n_unique() < wanted.height)
    marked[table.class_of_row[rows["row"].to_numpy()]] = True
    return marked


def _all_pairs(tables: Sequence[ReleaseClasses], needed: Needed, how: Reading) -> tuple[list[AttackCheck], Scope]:
    """Every two releases with every attack; and whether that, or more, tells about all at once."""
    checks: list[AttackCheck] = []
    chain: list[Worlds] = []
    steps: list[Step] = []
    for earlier, later in combinations(range(len(tables)), 2):
        worlds = make_worlds(tables[earlier], tables[later], may_leave=how.setting is Setting.MOVING)
        if later == earlier + 1 and len(tables) > 2 and how.setting is not Setting.MOVING:
            chain.append(worlds)
            steps.append(first_step(worlds))
        numbers: Numbers = (earlier + 1, later + 1)
        if how.rows_known:
            checks += real_victims(worlds, numbers, needed, exempt=how.exempt_suppressed)
        else:
            checks += all_victims(worlds, numbers, needed, strict=how.strict, exempt=how.exempt_suppressed)
    if len(tables) == 2:
        return checks, Scope.ALL
    if how.rows_known and _stay_together(tables, needed):
        return checks, Scope.ALL
    proven = bool(steps) and never_interrupted(tables) and chain_holds(chain[0], chain[1:], steps, needed)
    proven = proven and not how.strict
    return checks, Scope.ALL if proven else Scope.PAIRS


def _stay_together(tables: Sequence[ReleaseClasses], needed: Needed) -> bool:
    """In the real world everybody has k companions who came at the same time and share all classes since."""
    if needed.diversities:
        return False
    ends = [0, *(table.records for table in tables)]
    for number in range(len(tables)):
        start, end = ends[number], ends[number + 1]
        if end > start:
            columns = [table.class_of_row[start:end] for table in tables[number:]]
            if group_rows(columns, end - start)[1].min() < needed.k:
                return False
    return True


def _setting(setting: Setting | str) -> Setting:
    try:
        return Setting(setting)
    except ValueError:
        message = "the setting of several releases must be 'growing', 'same' or 'moving'"
        raise InputError(Problem("bad-setting", message)) from None


def _check(
    releases: Sequence[pl.DataFrame], quasi: Sequence[str], k: int, how: Reading, not_linking: Sequence[str]
) -> None:
    problems = []
    heights = [release.height for release in releases]
    if len(releases) < 2:
        problems.append(Problem("too-few-releases", "at least two releases are needed"))
    if k < 1:
        problems.append(Problem("bad-setting", "k must be at least 1"))
    if not quasi:
        problems.append(Problem("no-quasi-identifier", "no quasi-identifier was given"))
    if how.setting is Setting.SAME and len(set(heights)) > 1:
        message = "versions of one table must have the same number of records"
        problems.append(Problem("different-lengths", message, None, "use the setting 'growing' if people came"))
    if how.setting is Setting.GROWING and not (np.diff(heights) >= 0).all():
        message = "a later release has fewer records than an earlier one"
        hint = "give the earliest first; use the setting 'moving' if people may have left"
        problems.append(Problem("shrinking", message, None, hint))
    if how.same_order and how.setting is Setting.MOVING:
        message = "where people leave, the same order does not tell who is who"
        problems.append(Problem("bad-setting", message, None, "name a key"))
    if how.same_order and how.join_key:
        problems.append(Problem("bad-setting", "releases are joined by the order of rows or by a key, not both"))
    problems += [
        Problem("two-roles", "the key that joins releases cannot be a quasi-identifier", name)
        for name in how.join_key
        if name in quasi
    ]
    if how.rows_known and how.setting is Setting.MOVING:
        message = "where people leave, rows with the same number are not the same person"
        problems.append(Problem("bad-setting", message))
    for column in not_linking:
        message = "diversity is judged on what is left after cracking, so the column must be sensitive and steady"
        problems.append(Problem("not-sensitive", message, column))
    if problems:
        raise InputError(problems)
