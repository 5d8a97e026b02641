"""What the page asks about a finished run: original and release side by side, groups, distributions, clusters.

A run keeps its released quasi-identifiers in the order of the table (`look.parquet`), which the published file need
not have. Everything is read as the evaluation reads it; pictures of records show a sample, and say so.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.errors import InputError, Problem
from shoal.evaluation.usefulness.clustering.comparison import compare_release
from shoal.evaluation.usefulness.learning import model_accuracy, table_features
from shoal.evaluation.usefulness.reading_cells import make_bins, original_bins, text_shares
from shoal.job.job import Job
from shoal.job.plan import make_plan
from shoal.models.k_anonymity import KAnonymity
from shoal.models.registry import parse_model
from shoal.pipeline.verify_together import TogetherOptions, together
from shoal.released.domain import DomainKind, FloatArray
from shoal.released.reading import ReadColumn, read_release
from shoal.releases.check import check_together
from shoal.releases.verdict import Setting
from shoal.tables.distinct import as_text
from shoal.tables.formats.files import ReadTable as ReadFile
from shoal.tables.formats.files import read_table
from shoal.web.files import read_json

KEPT = "look.parquet"
MOST_ROWS = 200
DRAWN = 1_500  # records in the picture of the groups
CLUSTERED = 20_000  # records; of a larger table a sample is clustered
MOST_CLUSTERS = 30

Question = dict[str, Any]


def keep_for_looking(folder: Path, released: pl.DataFrame, job: Job) -> None:
    """The released quasi-identifiers, in the order of the table, as texts."""
    released.select(as_text(released[name]) for name in job.quasi).write_parquet(folder / KEPT)


class Look:
    """A finished run and the table that it was made from."""

    def __init__(self, table: ReadFile, folder: Path) -> None:
        frame = table.frame
        self.job = Job.load(folder / "job.yaml")
        self._file = table
        if not (folder / KEPT).is_file():
            raise InputError(Problem("no-such-file", "this run keeps nothing to look at", hint="run it again"))
        self.original, self.released = frame, pl.read_parquet(folder / KEPT)
        if read_json(folder / "certificate.json")["hashes"]["input"] != table.sha256:
            raise InputError(Problem("another-table", "the table has changed since this run", hint="run it again"))
        self.plan = make_plan(self.job, frame)
        self.domains = self.plan.domains(frame)
        self.table = read_release(frame, self.released, self.job.quasi, self.domains)
        of_class = np.mean([column.loss for column in self.table.columns.values()], axis=0)
        self.losses: FloatArray = of_class[self.table.class_of_row]

    def rows(self, question: Question) -> dict[str, Any]:
        """Records beside what is released of them; all, or those of one group; in the order of the table or by loss."""
        order = self._in_order(question)
        start, count = max(0, int(question.get("start", 0))), min(MOST_ROWS, int(question.get("count", 25)))
        chosen = order[start : start + count]
        quasi, kept = list(self.job.quasi), [name for name in self.job.sensitive if name in self.original.columns]
        rows = self._pairs(chosen, quasi, kept)
        return {"records": len(order), "start": start, "columns": quasi, "kept": kept, "rows": rows}

    def _pairs(self, chosen: NDArray[np.intp], quasi: list[str], kept: list[str]) -> list[dict[str, Any]]:
        """What each of these records was, and what is released of it."""
        texts = zip(
            self._texts(self.original, quasi, chosen),
            self._texts(self.released, quasi, chosen),
            self._texts(self.original, kept, chosen),
            strict=True,
        )
        groups, losses = self.table.class_of_row[chosen].tolist(), self.losses[chosen].tolist()
        return [
            {"row": row + 1, "group": group, "loss": loss, "before": before, "after": after, "kept": others}
            for row, group, loss, (before, after, others) in zip(chosen.tolist(), groups, losses, texts, strict=True)
        ]

    def _in_order(self, question: Question) -> NDArray[np.intp]:
        """The records that are asked for."""
        if question.get("group") is not None:
            return np.flatnonzero(self.table.class_of_row == int(question["group"]))
        if question.get("order") == "loss":
            return np.argsort(-self.losses, kind="stable")
        if question.get("order") == "group":
            return np.argsort(self.table.class_of_row, kind="stable")
        return np.arange(self.table.rows)

    def map(self, question: Question) -> dict[str, Any]:
        """Records on the two directions in which the original differs most, with group and loss; and their boxes."""
        rows = self._some_groups()
        places, explained = self._places(rows)
        groups = self.table.class_of_row[rows]
        points = zip(places.tolist(), groups.tolist(), self.losses[rows].tolist(), rows.tolist(), strict=True)
        return {
            "points": [
                [round(x, 4), round(y, 4), group, round(loss, 4), row + 1] for (x, y), group, loss, row in points
            ],
            "boxes": self._boxes(np.unique(groups)),
            "columns": list(self.job.quasi),
            "explained": explained,
            "records": self.table.rows,
            "drawn": len(rows),
            "groups": len(self.table.class_sizes),
        }

    def _places(self, rows: NDArray[np.intp]) -> tuple[FloatArray, float]:
        """Where each record is drawn, and how much of all differences these two directions show."""
        features = table_features(self.table, self.original, rows, scaled=True).astype(np.float64)
        centred = features - features.mean(axis=0)
        _, strengths, directions = np.linalg.svd(centred, full_matrices=False)
        total = float((strengths**2).sum()) or 1.0
        return _spread(centred @ directions[:2].T), float((strengths[:2] ** 2).sum()) / total

    def _boxes(self, groups: NDArray[np.integer[Any]]) -> dict[int, dict[str, Any]]:
        """The released cells of groups, with their sizes."""
        cells = self._texts(self.released, list(self.job.quasi), self.table.class_row[groups])
        sizes = self.table.class_sizes[groups].tolist()
        return {
            group: {"size": size, "cells": of} for group, size, of in zip(groups.tolist(), sizes, cells, strict=True)
        }

    def _some_groups(self) -> NDArray[np.intp]:
        """The records of groups taken at random, as many as can be drawn: whole groups, so that their boxes show."""
        random = np.random.default_rng([self.job.seed, 71])
        by_group = np.argsort(self.table.class_of_row, kind="stable")
        ends = np.cumsum(self.table.class_sizes)
        rows: list[NDArray[np.intp]] = []
        left = DRAWN
        for group in random.permutation(len(ends)).tolist():
            members = by_group[ends[group] - self.table.class_sizes[group] : ends[group]]
            if members.size > left:
                members = random.permutation(members)[:left] if not rows else members[:0]
            rows.append(members)
            left -= members.size
            if left <= 0:
                break
        return np.sort(np.concatenate(rows))

    def distribution(self, question: Question) -> dict[str, Any]:
        """How often the values of a column occur, before and, as far as the release tells, after."""
        column = self._column(question["column"])
        bins = make_bins(column.domain)
        before = np.bincount(original_bins(column, bins, self.original[question["column"]]), minlength=bins.count)
        counts = np.bincount(column.codes, minlength=column.cells.loss.shape[0])
        after = counts @ text_shares(column, bins)
        return {"labels": _bin_labels(column), "before": before, "after": after}

    def clusters(self, question: Question) -> dict[str, Any]:
        """Whether an analyst finds the same clusters in the release as in the original."""
        wanted = int(question.get("clusters", 6))
        if not 2 <= wanted <= MOST_CLUSTERS:
            raise InputError(Problem("bad-clusters", f"give a number of clusters from 2 to {MOST_CLUSTERS}"))
        original, released = self.original, self.released
        sampled = self.table.rows > CLUSTERED
        if sampled:
            rows = np.sort(np.random.default_rng([self.job.seed, 72]).permutation(self.table.rows)[:CLUSTERED])
            original, released = original[rows], released[rows]
        found = compare_release(original, released, self.domains, clusters=wanted, seed=self.job.seed)
        return {**found.comparison.as_dict(), "clusters": wanted, "sampled": CLUSTERED if sampled else None}

    def learning(self, question: Question) -> dict[str, Any]:
        """How well a column that is kept can be foretold, by models of the original and of the release."""
        name = question["column"]
        if name not in self.original.columns or name in self.job.quasi or name in self.job.identifiers:
            raise InputError(Problem("unknown-column", "choose a column that is released as it is", name))
        return model_accuracy(self.table, self.original, name, seed=self.job.seed, grouped=True)

    def together(self, question: Question) -> dict[str, Any]:
        """What this release tells together with the one of an earlier run on the same table."""
        earlier = Look(self._file, Path(question["earlier"]))
        _comparable(earlier.job, self.job)
        secrets = [name for name in self.job.sensitive if name in earlier.job.sensitive]
        frames = [
            run.released.with_columns(as_text(self.original[name]).alias(name) for name in secrets)
            for run in (earlier, self)
        ]
        k = min(run.job.k or 2 for run in (earlier, self))
        verdict = check_together(frames, self.job.quasi, k, secrets, rows_known=True, domains=self.domains)
        return verdict.as_dict()

    def beside(self, question: Question) -> dict[str, Any]:
        """What this release tells together with a file that was published before it."""
        frames = [read_table(Path(question[name])).frame for name in ("earlier", "release")]
        asked = question.get("setting")
        options = TogetherOptions(setting=Setting(asked) if asked in set(Setting) else Setting.SAME)
        models = [KAnonymity(self.job.k or 2), *(parse_model(model) for model in self.job.models)]
        return together(frames, self.job.quasi, models, options, self.plan.hierarchies).as_dict()

    def _texts(self, frame: pl.DataFrame, names: list[str], rows: Any) -> list[tuple[Any, ...]]:
        if not names:
            return [()] * len(rows)
        piece = frame.select(names)[np.asarray(rows)]
        return piece.select(as_text(piece[name]) for name in names).rows()

    def _column(self, name: str) -> ReadColumn:
        if name not in self.table.columns:
            raise InputError(Problem("unknown-column", "that is no quasi-identifying column of this run", name))
        return self.table.columns[name]


def _comparable(earlier: Job, job: Job) -> None:
    """Raise InputError where two runs cannot be looked at together."""
    if (earlier.csv, earlier.date_formats) != (job.csv, job.date_formats):
        raise InputError(Problem("read-differently", "the two runs read the table in different ways"))
    if earlier.quasi != job.quasi:
        raise InputError(Problem("different-columns", "the two runs have different quasi-identifying columns"))


def _spread(places: FloatArray) -> FloatArray:
    """Places in a square, halfway between where they are and evenly spread, so that crowds of dots can be seen."""
    spread = np.zeros((len(places), 2))
    for axis, along in enumerate(places.T):
        values, of_row, times = np.unique(np.round(along, 9), return_inverse=True, return_counts=True)
        rank = (np.cumsum(times) - times / 2)[of_row] / len(along)
        wide = values[-1] - values[0]
        spread[:, axis] = (rank + ((along - values[0]) / wide if wide > 0 else 0.5)) / 2
    return spread


def _bin_labels(column: ReadColumn) -> list[str]:
    """What stands in each bin: a value, the ends of a range, or how many rarer values share it."""
    domain, bins = column.domain, make_bins(column.domain)
    in_order = domain.kind in (DomainKind.NUMBER, DomainKind.ORDER)
    labels = []
    for number in range(bins.count):
        codes = np.flatnonzero(bins.of_code[:-1] == number)
        if codes.size == 0:
            labels.append("missing")
        elif codes.size == 1:
            labels.append(str(domain.values[codes[0]]))
        elif in_order:
            by_place = codes[np.argsort(domain.positions[codes], kind="stable")]
            labels.append(f"{domain.values[by_place[0]]} to {domain.values[by_place[-1]]}")
        else:
            labels.append(f"{codes.size} rarer values")
    return labels
