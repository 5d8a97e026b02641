"""The tables that benchmarks run on: adult, and larger tables that look like it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import polars as pl

ADULT_QUASI = ("age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country")
NOISE = 0.15  # share of cells that a scaled copy draws anew


def data_folder(given: Path | None) -> Path:
    """The folder of real tables: an option, or SHOAL_DATA. Says what is lacking and ends if there is none."""
    folder = given or (Path(os.environ["SHOAL_DATA"]) if os.environ.get("SHOAL_DATA") else None)
    if folder is None or not (folder / "adult" / "adult_arx.csv").is_file():
        sys.exit(
            "the real tables are lacking: name their folder with --data or SHOAL_DATA (it holds adult/adult_arx.csv)"
        )
    return folder


def scaled_adult(adult: pl.DataFrame, records: int, seed: int = 0) -> pl.DataFrame:
    """A table of any size like adult: rows drawn with replacement, some cells drawn anew from their column.

    Ages move by up to two years, so copies of a row differ as people of a larger country would.
    """
    random = np.random.default_rng(seed)
    rows = random.integers(0, adult.height, records)
    columns = []
    for name in adult.columns:
        column = adult[name].gather(rows)
        if name == "age":
            ages = column.cast(pl.Int64).to_numpy() + random.integers(-2, 3, records)
            columns.append(pl.Series(name, np.clip(ages, 17, 90)))
            continue
        anew = random.random(records) < NOISE
        other = adult[name].gather(random.integers(0, adult.height, records))
        columns.append(pl.select(pl.when(pl.Series(anew)).then(other).otherwise(column)).to_series().rename(name))
    return pl.DataFrame(columns)
