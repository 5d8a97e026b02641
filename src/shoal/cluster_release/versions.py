"""Several versions of one table, one per number of clusters, safe together: the case of the cluster-analysis paper.

B. C. M. Fung, K. Wang, L. Wang, P. C. K. Hung, Data and Knowledge Engineering 68(6), 2009, name it as open: versions
that are k-anonymous each can be joined. Here every version is masked under one more condition (`releases/parts.py`):
records that share a class now and shared all classes of the earlier versions must be safe by themselves. So whoever
can tell which record of one version is which of another one, by the order of the rows or by what is published
unchanged, still finds nobody among fewer than k, whatever number of versions is joined.

Who cannot tell records apart is answered by the flows of `releases/together.py`. These count also victims who are
nowhere in the table but could be; a version that would leave such a one below k is masked again with a larger
threshold of its parts, up to one class for everybody. Cost: one masking per version and trial, one flow problem per
pair of versions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.algorithms.base import Clustering
from shoal.cluster_release.framework import ForClusterAnalysis
from shoal.cluster_release.result import ClusterRelease
from shoal.cluster_release.settings import ClusterSettings, at_threshold
from shoal.encode.encoded_table import EncodedColumn
from shoal.errors import InternalError, Problem, RequirementError
from shoal.evaluation.usefulness.clustering.clusterers import Labels
from shoal.job.draft import Draft
from shoal.models.base import Requirement
from shoal.models.linkage import Qid
from shoal.pipeline.prepare import Prepared
from shoal.pipeline.run import make_release
from shoal.pipeline.series import Entry, add_release
from shoal.pipeline.sources import ReadSource
from shoal.pipeline.verify_together import common_columns
from shoal.progress import Watch
from shoal.released.domain import as_text
from shoal.released.reading import group_rows
from shoal.releases.check import check_newest
from shoal.releases.parts import SafeParts
from shoal.releases.reading_together import ReadTogether
from shoal.releases.verdict import Scope, Setting, TogetherVerdict
from shoal.tables.formats.atomic import make_folder
from shoal.verification.check import verify_release

EARLIER_COLUMN = "class before"
GROWTH = 2  # of the threshold of parts, from trial to trial


@dataclass(eq=False)
class Version:
    """One version of the table, with what is needed to make the next one."""

    clusters: int
    made: ClusterRelease
    published: pl.DataFrame  # in the order of the input, read back from what is published
    joint: NDArray[np.int32]  # (records,) the classes of this and all earlier versions, joined
    parts_of: int | None  # the least records that a part of a class was asked to have; None: the first version
    sha256: str  # of what is published
    certificate: dict[str, Any]


def make_versions(
    draft: Draft, read: ReadSource, settings: ClusterSettings, clusters: Sequence[int], watch: Watch, room: int = 1
) -> list[Version]:
    """One version for each number of clusters, in this order, each safe with all before it. Nothing is written.

    `room`: a version that others follow has classes of at least so many times the threshold. With 1 the first version
    is as fine as can be, and leaves the others no cut but its own or a coarser one.
    """
    problems = _problems(draft, settings, clusters)
    if room < 1:
        problems.append(Problem("bad-option", "the room for later versions must be at least 1"))
    if problems:
        draft = replace(draft, problems=tuple(dict.fromkeys((*draft.problems, *problems))))
    versions: list[Version] = []
    for place, number in enumerate(clusters or (1,), start=1):
        own = replace(settings, clusters=number)
        versions.append(_make_version(draft, read, own, versions, watch, room if place < len(clusters) else 1))
    return versions


def write_versions(versions: Sequence[Version], folder: Path, input_file: Path | None, form: str = "csv") -> Path:
    """Write every version with its certificate, and the series that names them all; returns the series file.

    The bytes of each are read back and checked with the versions before it. Versions are written one by one; each is
    safe with those that lie there already.
    """
    make_folder(folder)
    series, entries = folder / "series.json", list[Entry]()
    for version in versions:
        stem = f"clusters_{version.clusters}"
        places = {"release": folder / f"{stem}.{form}", "certificate": folder / f"{stem}.certificate.json"}
        result = version.made.result.holder.publish(places)
        version.certificate, version.sha256 = result.certificate, result.certificate["hashes"]["release"]
        add_release(series, entries, places["release"], input_file, result.certificate)
        hashes = result.certificate["hashes"]
        entries.append(Entry(places["release"], hashes["release"], result.certificate, input_file, hashes["input"]))
    return series


def _make_version(
    draft: Draft, read: ReadSource, settings: ClusterSettings, before: Sequence[Version], watch: Watch, room: int
) -> Version:
    """The first masking that holds with the versions before it; each trial asks for larger parts than the last."""
    factor = 1
    while True:
        purpose = OneOfVersions(settings, before, factor, room)
        try:
            result = make_release(draft, read, watch, purpose)
        except RequirementError as error:
            if "not-together" not in error.reasons or purpose.everybody:
                raise
            factor *= GROWTH
            continue
        assert purpose.found is not None
        assert purpose.published is not None
        joined = [result.groups] if not before else [before[-1].joint, result.groups]
        joint = group_rows(joined, result.groups.shape[0])[0]
        return Version(
            clusters=settings.clusters,
            made=replace(purpose.found, result=result),
            published=purpose.published,
            joint=joint.astype(np.int32),
            parts_of=purpose.parts_of if before else None,
            sha256=result.certificate["hashes"]["release"],
            certificate=result.certificate,
        )


class OneOfVersions(ForClusterAnalysis):
    """Masks so that the joint classes with all earlier versions are safe too."""

    def __init__(self, settings: ClusterSettings, before: Sequence[Version], factor: int, room: int) -> None:
        super().__init__(settings)
        self.before, self.factor, self.room = tuple(before), factor, room
        self.parts_of = 0
        self.everybody = False  # the parts asked for are so large that one class is left
        self.published: pl.DataFrame | None = None

    def _mask(self, prepared: Prepared, labels: Labels, requirement: Requirement, watch: Watch) -> Clustering:
        own = requirement
        if self.room > 1:
            own = Requirement(at_threshold(requirement.models, requirement.k * self.room, None))
        if not self.before:
            return super()._mask(prepared, labels, own, watch)
        self.parts_of = requirement.k * self.factor
        inside = Requirement(at_threshold(requirement.models, self.parts_of, None))
        joint = self.before[-1].joint
        too_large = self.parts_of >= prepared.frame.height
        self.everybody = too_large or bool(inside.deficits(prepared.table, joint, int(joint.max()) + 1).any())
        if self.everybody:
            return Clustering(np.zeros(prepared.frame.height, dtype=np.int32))
        return super()._mask(_with_joint(prepared, joint), labels, _with_parts(own, inside), watch)

    def verify(self, prepared: Prepared, published: pl.DataFrame) -> dict[str, Any]:
        """The joint classes of the released values, for who can link records; the flows, for who cannot."""
        texts = self.published = published.select(as_text(published[name]).alias(name) for name in published.columns)
        if not self.before:
            return {}
        frames = [*(version.published for version in self.before), texts]
        joint = _verify_joint(prepared, frames)
        verdict = _verify_flows(prepared, frames)
        if not verdict.passed:
            failed = [Problem("not-together", str(check)) for check in verdict.failures()]
            raise RequirementError([*failed, Problem("nothing-written", "nothing was written")])
        told = replace(verdict, scope=Scope.ALL)  # the joint classes are those of all versions at once
        return {"earlier": [version.sha256 for version in self.before], "joint_classes": joint, **told.as_dict()}


def _with_joint(prepared: Prepared, joint: NDArray[np.int32]) -> Prepared:
    """The table with the joint classes of the earlier versions as a column that models can look at."""
    column = EncodedColumn(EARLIER_COLUMN, joint, int(joint.max()) + 1)
    columns = {**prepared.table.columns, EARLIER_COLUMN: column}
    return replace(prepared, table=replace(prepared.table, columns=columns))


def _with_parts(own: Requirement, inside: Requirement) -> Requirement:
    """What is asked of a class, and of the parts of it that lie in one joint class."""
    return Requirement((*own.models, SafeParts(inside, EARLIER_COLUMN)))


def _verify_joint(prepared: Prepared, frames: Sequence[pl.DataFrame]) -> dict[str, Any]:
    """Every model on the classes over the quasi-identifiers of all versions, record by record."""
    quasi = prepared.job.quasi
    columns = [frame[name].alias(f"{number} {name}") for number, frame in enumerate(frames, start=1) for name in quasi]
    names = [column.name for column in columns]
    others = [prepared.frame[name] for name in prepared.requirement.columns() if name not in names]
    found = verify_release(pl.DataFrame([*columns, *others]), names, prepared.requirement.models)
    if not found.passed:
        failed = [Problem("check-failed", f"joined versions: {check}") for check in found.failures()]
        raise InternalError([*failed, Problem("nothing-written", "the release was thrown away; nothing was written")])
    return {"passed": True, "classes": found.classes, "smallest": found.smallest_class}


def _verify_flows(prepared: Prepared, frames: Sequence[pl.DataFrame]) -> TogetherVerdict:
    quasi, requirement = prepared.job.quasi, prepared.requirement
    linking = common_columns(frames, quasi)
    needed = ReadTogether.what_is_needed(requirement.k, requirement.models, linking)
    how = ReadTogether(quasi, linking, prepared.plan.domains(prepared.frame), needed)
    return check_newest(frames, how, setting=Setting.SAME)


def _problems(draft: Draft, settings: ClusterSettings, clusters: Sequence[int]) -> list[Problem]:
    problems = settings.problems()
    if not clusters:
        problems.append(Problem("bad-clusters", "no number of clusters is given", hint="--clusters 2,6,10"))
    if any(number < 1 for number in clusters):
        problems.append(Problem("bad-clusters", "every number of clusters must be at least 1"))
    if len(set(clusters)) < len(clusters):
        problems.append(Problem("bad-clusters", "a number of clusters is given twice"))
    if draft.requirement is not None and any(isinstance(model, Qid) for model in draft.requirement.models):
        message = "versions are joined over all quasi-identifiers, so they need one threshold for all of them"
        problems.append(Problem("not-with-earlier", message, hint="-k 10 in place of 'qid' models"))
    if draft.job.person is not None:
        problems.append(Problem("not-with-earlier", "persons with several records cannot be kept over versions yet"))
    if draft.job.suppression_limit > 0:
        message = "records that are suppressed in one version only would stand out when versions are joined"
        problems.append(Problem("not-with-earlier", message, hint="leave out the suppression limit"))
    if settings.interval_text != "closed":
        problems.append(Problem("not-with-earlier", "versions are compared as closed intervals"))
    return problems
