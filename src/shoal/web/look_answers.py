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
from shoal.tables.formats.files import read_table

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

    def __init__(self, frame: pl.DataFrame, folder: Path) -> None:
        self.job = Job.load(folder / "job.yaml")
        if not (folder / KEPT).is_file():
            raise InputError(Problem("no-such-file", "this run keeps nothing to look at", hint="run it again"))
        self.original, self.released = frame, pl.read_parquet(folder / KEPT)
        if self.released.height != frame.height:
            raise InputError(Problem("another-table", "the table has changed since this run", hint="run it again"))
        self.plan = make_plan(self.job, frame)
        self.domains = self.plan.domains(frame)
        self.table = read_release(frame, self.released, self.job.quasi, self.domains)
        of_class = np.mean([column.loss for column in self.table.columns.values()], axis=0)
        self.losses: FloatArray = of_class[self.table.class_of_row]

    def rows(self, question: Question) -> dict[str, Any]:
        """Records beside what is released of them; all, or those of one group; in the order of the table or by loss."""
        order = np.arange(self.table.rows)
        if question.get("group") is not None:
            order = np.flatnonzero(self.table.class_of_row == int(question["group"]))
        elif question.get("order") == "loss":
            order = np.argsort(-self.losses, kind="stable")
        elif question.get("order") == "group":
            order = np.argsort(self.table.class_of_row, kind="stable")
        start, count = max(0, int(question.get("start", 0))), min(MOST_ROWS, int(question.get("count", 25)))
        chosen = order[start : start + count]
        quasi, kept = list(self.job.quasi), [name for name in self.job.sensitive if name in self.original.columns]
        before = self._texts(self.original, quasi, chosen)
        after = self._texts(self.released, quasi, chosen)
        others = self._texts(self.original, kept, chosen)
        rows = [
            {
                "row": int(row) + 1,
                "group": int(self.table.class_of_row[row]),
                "loss": float(self.losses[row]),
                "before": before[place],
                "after": after[place],
                "kept": others[place] if kept else [],
            }
            for place, row in enumerate(chosen)
        ]
        return {"records": len(order), "start": start, "columns": quasi, "kept": kept, "rows": rows}

    def map(self, question: Question) -> dict[str, Any]:
        """Records on the two directions in which the original differs most, with group and loss; and their boxes."""
        rows = self._some_groups()
        features = table_features(self.table, self.original, rows, scaled=True).astype(np.float64)
        centred = features - features.mean(axis=0)
        _, strengths, directions = np.linalg.svd(centred, full_matrices=False)
        places = _spread(centred @ directions[:2].T)
        groups = self.table.class_of_row[rows]
        boxes = {}
        for group in np.unique(groups).tolist():
            cells = self._texts(self.released, list(self.job.quasi), self.table.class_row[[group]])[0]
            boxes[group] = {"size": int(self.table.class_sizes[group]), "cells": cells}
        total = float((strengths**2).sum()) or 1.0
        return {
            "points": [
                [round(float(x), 4), round(float(y), 4), int(group), round(float(loss), 4), int(row) + 1]
                for (x, y), group, loss, row in zip(places, groups, self.losses[rows], rows, strict=True)
            ],
            "boxes": boxes,
            "columns": list(self.job.quasi),
            "explained": float((strengths[:2] ** 2).sum()) / total,
            "records": self.table.rows,
            "drawn": len(rows),
            "groups": len(self.table.class_sizes),
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
        return model_accuracy(self.table, self.original, name, seed=self.job.seed)

    def together(self, question: Question) -> dict[str, Any]:
        """What this release tells together with the one of an earlier run on the same table."""
        earlier = Look(self.original, Path(question["earlier"]))
        if earlier.job.quasi != self.job.quasi:
            message = "the two runs have different quasi-identifying columns"
            raise InputError(Problem("different-columns", message))
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
        piece = frame.select(names)[np.asarray(rows)]
        return piece.select(as_text(piece[name]) for name in names).rows()

    def _column(self, name: str) -> ReadColumn:
        if name not in self.table.columns:
            raise InputError(Problem("unknown-column", "that is no quasi-identifying column of this run", name))
        return self.table.columns[name]


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
