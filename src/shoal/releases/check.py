"""Do several releases of the same people hold together? The attacks are defined in `together.py`.

Growing tables: every two releases are looked at with the attacks F, C and B. Versions of one table: the same without
newcomers, so that F and C are the intersection attack without a key: the candidates of a person are the records that
fit in both releases in some world. If the rows are in the same order (or carry a key by which they are sorted alike),
no world is left open: the classes of all releases are joined row by row, and a person hides in the joint class only.

Two releases, and any number in the same order, are looked at exactly. More than two releases without an order are
looked at in pairs: what is cracked there is cracked, but all of them together may crack more, and the verdict says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import polars as pl

from shoal.errors import InputError, Problem
from shoal.hierarchies.hierarchy import Hierarchy
from shoal.released.domain import Domain
from shoal.released.reading import group_rows
from shoal.releases.classes import ReleaseClasses, read_classes
from shoal.releases.domains import domains_of_releases
from shoal.releases.together import Together, look_together
from shoal.releases.verdict import Attack, AttackCheck, Setting, TogetherVerdict, judge, judge_persons
from shoal.tables.schema import as_names


def check_together(
    releases: Sequence[pl.DataFrame],
    quasi: Sequence[str] | str,
    k: int,
    sensitive: Sequence[str] | str | None = None,
    *,
    setting: Setting | str = Setting.GROWING,
    same_order: bool = False,
    rows_known: bool = False,
    domains: Mapping[str, Domain] | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
) -> TogetherVerdict:
    """Check releases, the earliest first, against an attacker who has all of them.

    `sensitive` columns are released as they are and do not change; they tell records apart. `domains` are those of the
    original of the last release (`make_domains`); without them the releases and the `hierarchies` tell. `same_order`
    is for versions of one table where row i is the same person everywhere, and the attacker knows it.

    `rows_known` is the data holder's knowledge, not the attacker's: row i of every release is the same person, and
    newcomers follow at the end. Then only victims that exist are judged, and the persons below k are counted one by
    one. Without it every victim that is possible counts, and releases with overlapping classes may fail needlessly.
    """
    names, secrets = as_names(quasi), as_names(sensitive or ())
    chosen = _setting(setting)
    _check(releases, names, k, chosen, same_order=same_order)
    read_with = domains if domains is not None else domains_of_releases(releases, names, hierarchies)
    tables = read_classes(releases, names, read_with, secrets)
    if same_order:
        checks = [_in_order(tables, k)]
    else:
        checks = [
            check
            for earlier, later in combinations(range(len(tables)), 2)
            for check in _pair(tables[earlier], tables[later], (earlier + 1, later + 1), k, rows_known=rows_known)
        ]
    exact = same_order or len(tables) == 2
    return TogetherVerdict(k, chosen, tuple(checks), exact, sum(table.unreadable for table in tables))


def _setting(setting: Setting | str) -> Setting:
    try:
        return Setting(setting)
    except ValueError:
        message = "the setting of several releases must be 'growing' or 'same'"
        raise InputError(Problem("bad-setting", message)) from None


def _check(
    releases: Sequence[pl.DataFrame], quasi: Sequence[str], k: int, setting: Setting, *, same_order: bool
) -> None:
    problems = []
    heights = [release.height for release in releases]
    if len(releases) < 2:
        problems.append(Problem("too-few-releases", "at least two releases are needed"))
    if k < 1:
        problems.append(Problem("bad-setting", "k must be at least 1"))
    if not quasi:
        problems.append(Problem("no-quasi-identifier", "no quasi-identifier was given"))
    if setting is Setting.SAME and len(set(heights)) > 1:
        message = "versions of one table must have the same number of records"
        problems.append(Problem("different-lengths", message, None, "use the setting 'growing' if people came"))
    if setting is Setting.GROWING and heights != sorted(heights):
        message = "a later release has fewer records than an earlier one"
        problems.append(Problem("shrinking", message, None, "give the earliest first; nobody may have left"))
    if same_order and setting is Setting.GROWING:
        message = "only versions of one table can be in the same order"
        problems.append(Problem("bad-setting", message, None, "use the setting 'same'"))
    if problems:
        raise InputError(problems)


def _pair(
    earlier: ReleaseClasses, later: ReleaseClasses, numbers: tuple[int, int], k: int, *, rows_known: bool
) -> list[AttackCheck]:
    found = look_together(earlier, later)
    if rows_known:
        return _real_victims(found, earlier, later, numbers, k)
    classes, later_classes = earlier.sizes.shape[0], later.sizes.shape[0]
    forward, cross = found.worst_of_earlier(classes), found.worst_of_later(later_classes)
    closed_forward = found.worst_of_earlier(classes, closed=True)
    closed_cross = found.worst_of_later(later_classes, closed=True)
    return [
        judge(Attack.FORWARD, numbers, k, forward, earlier.sizes, closed_forward),
        judge(Attack.CROSS, numbers, k, cross, later.sizes, closed_cross),
        judge(Attack.BACKWARD, numbers, k, found.newcomers, later.sizes, found.closed_newcomers),
    ]


def _real_victims(
    found: Together, earlier: ReleaseClasses, later: ReleaseClasses, numbers: tuple[int, int], k: int
) -> list[AttackCheck]:
    """The same attacks on the people that there are: every person in its own pair of classes."""
    old = earlier.records
    pair = found.pair_of(earlier.class_of_row, later.class_of_row[:old])
    if (pair < 0).any() or (found.anonymity[pair] == 0).any():
        message = "rows with the same number do not fit; they cannot be the same person"
        hint = "put them in the same order, with newcomers at the end"
        raise InputError(Problem("rows-do-not-fit", message, None, hint))
    new = later.class_of_row[old:]
    exact, closed = found.anonymity[pair], found.closed_anonymity[pair]
    return [
        judge_persons(Attack.FORWARD, numbers, k, exact, earlier.class_of_row, closed),
        judge_persons(Attack.CROSS, numbers, k, exact, later.class_of_row[:old], closed),
        judge_persons(Attack.BACKWARD, numbers, k, found.newcomers[new], new, found.closed_newcomers[new]),
    ]


def _in_order(tables: Sequence[ReleaseClasses], k: int) -> AttackCheck:
    sizes = group_rows([table.class_of_row for table in tables], tables[0].records)[1]
    return judge(Attack.SAME_ORDER, tuple(range(1, len(tables) + 1)), k, sizes, sizes)
