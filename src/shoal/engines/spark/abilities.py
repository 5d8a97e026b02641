"""What the engine declares; known without loading Spark."""

from __future__ import annotations

from shoal.engines.base import Abilities

SPARK = Abilities(
    inputs="CSV, Parquet; a file or a folder of files that all executors see; a frame of Spark",
    outputs="Parquet; a folder of files",
    memory="the distinct rows of the quasi-identifiers, on the driver; with further models also 4 bytes per record "
    "and column there",
    any_algorithm=False,
    report=False,
    groups=False,
    frames="Spark (released into a folder)",
    into_folder=True,
)
