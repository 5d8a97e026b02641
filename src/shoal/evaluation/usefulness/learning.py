"""Train on the release, test on untouched originals.

Features are the quasi-identifiers, read by `reading_cells`: a number is the middle of its range, a category the shares
of the values that its cell stands for. The label is a column that is released as it is. The same models are trained on
the original for comparison; the majority label is the baseline. Records are split into two parts, one to train on and
one to test on; at most `largest` records are used, drawn at random, and the result says how many.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.evaluation.usefulness.reading_cells import make_bins, original_bins, read_numbers, text_shares
from shoal.released.domain import DomainKind, FloatArray, text_codes
from shoal.released.reading import ReadColumn, ReadTable
from shoal.tables.scales import parse_numbers

LARGEST = 24_000
LARGEST_FEATURE = 1e30
MOST_LABELS = 30
GROUPED_LABELS = 8  # into so many at most, a label of too many values is grouped where that is asked for
RANGES = 4  # of a label that is a number


def is_installed() -> bool:
    return find_spec("sklearn") is not None


def model_accuracy(
    table: ReadTable,
    original: pl.DataFrame,
    label: str,
    *,
    largest: int = LARGEST,
    seed: int = 0,
    grouped: bool = False,
) -> dict[str, Any]:
    """Accuracy of gradient boosting and logistic regression; or why there is none.

    A label of more than `MOST_LABELS` values is skipped, or, `grouped`, foretold by its ranges or commonest values.
    """
    if not is_installed():
        return {"skipped": "scikit-learn is not installed: pip install 'shoal[eval]'"}
    if not table.aligned:
        return {"skipped": "the rows of release and original do not belong together"}
    labels, told = _labels(original[label], grouped)
    rows = np.random.default_rng([seed, 31]).permutation(original.height)[:largest]
    train, test = rows[: len(rows) * 2 // 3], rows[len(rows) * 2 // 3 :]
    unfit = _unfit(labels, train, test)
    if unfit is not None:
        return {"skipped": unfit}
    majority = float((labels[test] == np.bincount(labels[train]).argmax()).mean())
    return {
        "label": label,
        "trained_on": int(train.shape[0]),
        "tested_on": int(test.shape[0]),
        "sampled": original.height > largest,
        "majority": majority,
        "results": _trained_and_tested(table, original, labels, (train, test), majority, seed),
        **told,
    }


def _unfit(labels: NDArray[np.int32], train: NDArray[np.int64], test: NDArray[np.int64]) -> str | None:
    """Why a label cannot be foretold, or None."""
    values = int(labels.max()) + 1
    if values < 2 or values > MOST_LABELS:
        return f"the label has {values} values; 2 to {MOST_LABELS} are needed"
    if np.unique(labels[train]).shape[0] < 2 or test.shape[0] == 0:
        return "there are too few records"
    return None


def _trained_and_tested(
    table: ReadTable,
    original: pl.DataFrame,
    labels: NDArray[np.int32],
    rows: tuple[NDArray[np.int64], NDArray[np.int64]],
    majority: float,
    seed: int,
) -> list[dict[str, Any]]:
    """The accuracy of every model, learnt from the original and from the release, on other rows of the original."""
    train, test = rows
    learnt_from = {
        "original": table_features(table, original, train),
        "release": table_features(table, original, train, release=True),
    }
    proof = table_features(table, original, test)
    results = []
    models = _models(seed)  # imports the libraries whose threads are limited next
    with few_threads():
        for name, make in models.items():
            for trained, features in learnt_from.items():
                found = make().fit(features, labels[train]).predict(proof)
                accuracy = float((found == labels[test]).mean())
                results.append({"model": name, "trained": trained, "accuracy": accuracy})
            results.append({"model": name, "trained": "majority", "accuracy": majority})
    return results


def _labels(column: pl.Series, grouped: bool) -> tuple[NDArray[np.int32], dict[str, str]]:
    """The label as codes. Of too many values, where that is asked for: numbers in ranges of about as many records,
    other texts by the commonest of them; and how that is said."""
    codes = text_codes(column)[1]
    times = np.bincount(codes)
    if not grouped or len(times) <= MOST_LABELS:
        return codes, {}
    positions = parse_numbers(column.cast(pl.String)).positions
    if np.isfinite(positions).all():
        ends = np.unique(np.quantile(positions, np.arange(1, RANGES) / RANGES))
        ranges = np.searchsorted(ends, positions, side="left").astype(np.int32)
        return ranges, {"grouped": f"in {len(ends) + 1} ranges of about as many records"}
    group = np.full(len(times), GROUPED_LABELS - 1, dtype=np.int32)
    group[np.argsort(-times, kind="stable")[: GROUPED_LABELS - 1]] = np.arange(GROUPED_LABELS - 1)
    return group[codes], {"grouped": f"the {GROUPED_LABELS - 1} commonest values, and all others as one"}


def few_threads() -> AbstractContextManager[Any]:
    """Small models do not gain from many threads, and lose much when the cores are busy."""
    limits: AbstractContextManager[Any] = import_module("threadpoolctl").threadpool_limits(1)
    return limits


def _models(seed: int) -> dict[str, Any]:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return {
        "gradient boosting": lambda: HistGradientBoostingClassifier(
            max_iter=40, max_leaf_nodes=15, early_stopping=False, random_state=seed % 2**32
        ),
        "logistic regression": lambda: make_pipeline(StandardScaler(), LogisticRegression(max_iter=300, tol=1e-3)),
    }


def table_features(
    table: ReadTable, original: pl.DataFrame, rows: NDArray[np.int64], *, release: bool = False, scaled: bool = False
) -> FloatArray:
    """(rows, features) of the original or of the release; `scaled` gives numbers between 0 and 1."""
    blocks: list[FloatArray] = []
    for name, column in table.columns.items():
        domain = column.domain
        if domain.kind in (DomainKind.NUMBER, DomainKind.ORDER) and domain.values:
            numbers = _numbers(column, original[name], release)[rows]
            if scaled:
                numbers = (numbers - domain.positions[0]) / (domain.span or 1.0)
            blocks.append(numbers[:, np.newaxis])
        else:
            blocks.append(_shares_of_bins(column, original[name], release)[rows])
    # the libraries compute with 32 bits, where larger numbers are infinite
    return np.clip(np.nan_to_num(np.hstack(blocks)), -LARGEST_FEATURE, LARGEST_FEATURE).astype(np.float32)


def _shares_of_bins(column: ReadColumn, original: pl.Series, release: bool) -> FloatArray:
    """(rows, bins) how much of each cell is in each bin: one whole bin, for a value of the original."""
    bins = make_bins(column.domain)
    if release:
        return text_shares(column, bins)[column.codes]
    return np.asarray(np.eye(bins.count)[original_bins(column, bins, original)])


def _numbers(column: ReadColumn, original: pl.Series, release: bool) -> FloatArray:
    """(records,) the numbers of the original, or the middles of the released ranges; the mean where none is known."""
    domain = column.domain
    centre = float((domain.positions * domain.counts).sum() / domain.counts.sum())
    if release:
        reading = read_numbers(column)
        return np.where(reading.known, reading.middle, centre)[column.codes]
    codes = column.original if column.original is not None else domain.encode(original)
    return np.append(domain.positions, centre)[codes]
