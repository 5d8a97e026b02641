"""The next release of people who were published before: made so that all releases hold together.

*Keep* is the way (`Keeping`): who was in the last release stays in exactly the class of then, cell by cell, and
newcomers form classes of their own. So an old person hides among the same records as before, whatever is joined, and a
newcomer among at least k newcomers. Nothing finer is possible for old people in classes of fewer than 2k records: any
part of such a class would leave somebody with fewer than k candidates to whoever can link the records.

Earlier releases are out in the world and cannot be changed: what they lack (a smaller k, too few values) no later one
can mend, and fewer than k newcomers cannot hide from those who know that they are new. Both are told as impossible.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.algorithms.base import Clustering, Context
from shoal.encode.subset import table_of
from shoal.errors import InputError, Problem, RequirementError
from shoal.models.alpha_k import AlphaK
from shoal.models.k_anonymity import KAnonymity
from shoal.pipeline.keep_who_stayed import Widened, keep_who_stayed
from shoal.pipeline.prepare import Prepared
from shoal.pipeline.purpose import Purpose, recode_options, threads_of
from shoal.pipeline.verify_together import common_columns, linking_columns
from shoal.progress import Watch
from shoal.released.domain import Domain, as_text, make_domains
from shoal.releases.check import check_newest
from shoal.releases.diversity import KINDS
from shoal.releases.needs import Needs, make_needs
from shoal.releases.reading_together import ReadTogether
from shoal.releases.verdict import Setting, TogetherVerdict
from shoal.releases.weak import Weak, weak_classes
from shoal.releases.who import Looking, Whereabouts, find_people


@dataclass(frozen=True, eq=False)
class Earlier:
    """A release that is out in the world."""

    frame: pl.DataFrame
    sha256: str
    certificate: Mapping[str, Any] = field(default_factory=dict)  # empty: it has none, or it was not given


@dataclass(eq=False)
class Keeping(Purpose):
    """A release that keeps the classes of the last one. Made for one run: it remembers who was found where."""

    earlier: Sequence[Earlier]  # the earliest first
    original: pl.DataFrame | None = None  # the table behind the last of them
    found: Whereabouts | None = field(default=None, init=False)
    kept_class: NDArray[np.int32] | None = field(default=None, init=False)  # (records,) whose cells stay; -1: none
    widened: Widened | None = field(default=None, init=False)  # whose cells cover several classes of then
    smallest_newcomers: int | None = field(default=None, init=False)
    newcomer_cells: pl.DataFrame | None = field(default=None, init=False)  # as released, where it is known who is new
    kept: bool = field(default=True, init=False)  # False: another strategy made classes anew

    def cluster(self, prepared: Prepared, watch: Watch) -> Clustering:
        """The classes of the last release, and groups of the newcomers."""
        self._check(prepared)
        self.found = self._find(prepared)
        k = prepared.requirement.k
        smallest = int(self.found.release.sizes[~self.found.release.suppressed].min(initial=k))
        if smallest < k:
            message = f"the last release has a class of {smallest} records: its people can never have {k} candidates"
            raise RequirementError(Problem("earlier-too-fine", message, hint=f"ask for k = {smallest} at most"))
        if prepared.job.weaker_case:
            if prepared.job.setting != "moving":
                too_few_newcomers(self.found.newcomers.shape[0], k)
            return keep_who_stayed(self, prepared, self.found, watch)
        newcomers, self.kept_class = self.found.newcomers, self.found.class_of_row
        too_few_newcomers(newcomers.shape[0], k)
        groups = self.kept_class.copy()
        suppressed = np.zeros(prepared.frame.height, dtype=np.bool_)
        if newcomers.shape[0]:
            made = self.group_newcomers(prepared, newcomers, watch)
            groups[newcomers] = made.groups + self.found.release.sizes.shape[0]
            if made.suppressed is not None:
                suppressed[newcomers] = made.suppressed
        details = {"newcomers": int(newcomers.shape[0]), "notes": self._notes()}
        return Clustering(groups, suppressed=suppressed if suppressed.any() else None, details=details)

    def finish(self, prepared: Prepared, released: pl.DataFrame) -> pl.DataFrame:
        """The cells of people in kept classes are those that were published."""
        assert self.found is not None
        assert self.kept_class is not None
        classes = self.found.release
        first_row = np.zeros(classes.sizes.shape[0], dtype=np.int64)
        first_row[classes.class_of_row[::-1]] = np.arange(classes.records - 1, -1, -1)
        rows, kept = first_row[np.maximum(self.kept_class, 0)], pl.Series(self.kept_class >= 0)
        columns = []
        for name in prepared.job.quasi:
            before, now = self.earlier[-1].frame[name].gather(rows), released[name]
            if before.dtype != now.dtype:
                before, now = as_text(before), as_text(now)
            columns.append(pl.select(pl.when(kept).then(before).otherwise(now)).to_series().alias(name))
        finished = released.with_columns(columns)
        if self.widened is not None:
            wide = pl.Series(self.widened.rows)
            finished = finished.with_columns(
                pl.select(pl.when(wide).then(self.widened.cells[name]).otherwise(as_text(finished[name])))
                .to_series()
                .alias(name)
                for name in prepared.job.quasi
            )
        if not prepared.job.weaker_case:
            self.smallest_newcomers = _smallest(finished, prepared.job.quasi, self.found)
        self.remember_newcomers(prepared, finished)
        return finished

    def known_newcomers(self) -> NDArray[np.int64] | None:
        """The rows of those who are new, where the table of then tells; else a newcomer may be anybody."""
        return self.found.newcomers if self.found is not None and self.found.told_by_original else None

    def remember_newcomers(self, prepared: Prepared, released: pl.DataFrame) -> None:
        """In which cells newcomers are, for the check of what will be published in another order."""
        rows = self.known_newcomers()
        self.newcomer_cells = None if rows is None else as_texts(released[rows].select(prepared.job.quasi)).unique()

    def verify(self, prepared: Prepared, published: pl.DataFrame) -> dict[str, Any]:
        """The new release with every earlier one, from the released values; what the certificate tells of it."""
        verdict = self._together(prepared, published)
        if not verdict.passed:
            failed = [Problem("not-together", str(check)) for check in verdict.failures()]
            hint = "the earlier releases do not allow it this way; --strategy search may find another one"
            raise RequirementError([*failed, Problem("nothing-written", "nothing was written", hint=hint)])
        return {
            "strategy": "keep" if self.kept else "search",
            "earlier": [one.sha256 for one in self.earlier],
            **self._about_newcomers(prepared),
            **verdict.as_dict(),
        }

    def _about_newcomers(self, prepared: Prepared) -> dict[str, Any]:
        if not self.kept or self.found is None:
            return {"newcomers": prepared.frame.height - self.earlier[-1].frame.height}
        newcomers = {"newcomers": int(self.found.newcomers.shape[0])}
        if prepared.job.weaker_case:
            return {**newcomers, "people_who_left": self.found.left, "people_who_moved": int(self.found.moved.sum())}
        return {
            **newcomers,
            "newcomers_told_by_original": self.found.told_by_original,
            "smallest_class_of_newcomers": self.smallest_newcomers,
        }

    def _together(self, prepared: Prepared, published: pl.DataFrame) -> TogetherVerdict:
        frames = [*(one.frame for one in self.earlier), published]
        return check_newest(
            [as_texts(frame) for frame in frames],
            self.reading(prepared, published),
            setting=Setting(prepared.job.setting),
            joint_before=_held_jointly(self.earlier),
            join_key=prepared.job.join_key,
            newcomers=self.newcomer_cells,
        )

    def reading(self, prepared: Prepared, published: pl.DataFrame) -> ReadTogether:
        """How the releases and a table are read together, by what the job says about the people."""
        job, requirement = prepared.job, prepared.requirement
        others = [*job.quasi, *job.join_key, *job.changing]
        linking = linking_columns([*(one.frame for one in self.earlier), published], others)
        needed = ReadTogether.what_is_needed(requirement.k, requirement.models, linking)
        domains = self._domains(prepared)
        return ReadTogether(job.quasi, linking, domains, needed, job.setting == "moving", job.changing)

    def weak(self, prepared: Prepared, released: pl.DataFrame) -> Weak:
        """The classes of a release that fail with any of the earlier ones."""
        frames = [*(one.frame for one in self.earlier), released]
        reading = self.reading(prepared, released)
        return weak_classes([as_texts(frame) for frame in frames], reading, self.known_newcomers())

    def needs(self, prepared: Prepared) -> Needs:
        """Nobody needs anything yet."""
        table = prepared.frame.drop(prepared.plan.dropped)
        return make_needs([as_texts(one.frame) for one in self.earlier], as_texts(table), self.reading(prepared, table))

    def _domains(self, prepared: Prepared) -> Mapping[str, Domain]:
        """Of the table; where people leave or values change, of the table behind the last release as well."""
        plan = prepared.plan
        if not prepared.job.weaker_case or self.original is None:
            return plan.domains(prepared.frame)
        names = [name for name in prepared.job.quasi if name in self.original.columns]
        both = [as_texts(frame.select(names)) for frame in (prepared.frame, self.original)]
        return make_domains(
            pl.concat(both), [column.attribute for column in plan.quasi], plan.hierarchies, plan.missing
        )

    def _find(self, prepared: Prepared) -> Whereabouts:
        released, job = prepared.frame.drop(prepared.plan.dropped), prepared.job
        last = self.earlier[-1].frame
        linking = common_columns([last, released], [*job.quasi, *job.join_key, *job.changing])
        looking = Looking(
            job.quasi,
            linking,
            self._domains(prepared),
            job.person_key,
            job.setting == "moving",
            job.changing,
            job.join_key,
        )
        return find_people(prepared.frame, last, self.original, looking)

    def group_newcomers(self, prepared: Prepared, newcomers: NDArray[np.int64], watch: Watch) -> Clustering:
        """Groups of some records by themselves."""
        from shoal.engines.local import cluster_table
        from shoal.recode.release import hidden_records

        table, options = table_of(prepared.table, newcomers), recode_options(prepared)
        context = Context(prepared.job.seed, threads_of(prepared.job), watch.progress, watch.stop, wants_bound=False)
        return cluster_table(
            table,
            prepared.requirement,
            prepared.algorithm,
            context,
            prepared.job.suppression_limit,
            lambda found: hidden_records(table, prepared.codebook, found, options),
        )

    def _notes(self) -> list[str]:
        assert self.found is not None
        if self.found.told_by_original:
            return []
        return [
            "Who is new was told by the released values alone, without the earlier table: a newcomer may have been "
            "taken for an old person with the same values, and could then be known among fewer than k newcomers."
        ]

    def _check(self, prepared: Prepared) -> None:
        problems = [
            Problem("unknown-column", f"release {number} has no such column", name)
            for number, one in enumerate(self.earlier, start=1)
            for name in prepared.job.quasi
            if name not in one.frame.columns
        ]
        known = (KAnonymity, AlphaK, *KINDS)
        problems += [
            Problem("not-with-earlier", f"'{model.name}' cannot be kept over releases", hint="k and l-diversity can")
            for model in prepared.requirement.models
            if not isinstance(model, known)
        ]
        if not prepared.algorithm.class_based or prepared.algorithm.own_values:
            message = f"'{prepared.algorithm.name}' decides about released values itself, so it cannot keep classes"
            problems.append(Problem("not-with-earlier", message, hint="--algorithm shoal"))
        if prepared.plan.scheme != "local" or prepared.job.suppressed == "drop":
            message = "recodings that are the same everywhere, and dropped records, cannot keep the classes of then"
            problems.append(Problem("not-with-earlier", message))
        if prepared.job.person is not None:
            problems.append(
                Problem("not-with-earlier", "persons with several records cannot be kept over releases yet")
            )
        if problems:
            raise InputError(problems)


def too_few_newcomers(newcomers: int, k: int) -> None:
    """Fewer than k newcomers are known to be new, whatever is released."""
    if 0 < newcomers < k:
        message = f"{newcomers} newcomers cannot hide from those who know that they are new: {k} could"
        raise RequirementError(Problem("too-few-newcomers", message, hint="hold them back until there are more"))


def _smallest(released: pl.DataFrame, quasi: Sequence[str], found: Whereabouts) -> int | None:
    """The smallest class, counted among newcomers alone; those who are hidden in every cell do not count."""
    new = released[found.newcomers].select(quasi)
    shown = new.filter(~pl.all_horizontal(pl.all().cast(pl.String) == "*").fill_null(value=False))
    sizes = shown.group_by(quasi).len()["len"]
    return int(str(sizes.min())) if len(sizes) else None


def as_texts(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.select(as_text(frame[name]).alias(name) for name in frame.columns)


def _held_jointly(earlier: Sequence[Earlier]) -> bool:
    """Whether the earlier releases are known to hold all at once: there is one, or the last certificate says so."""
    if len(earlier) == 1:
        return True
    told = earlier[-1].certificate.get("together", {})
    return bool(told.get("exact")) and list(told.get("earlier", ())) == [one.sha256 for one in earlier[:-1]]
