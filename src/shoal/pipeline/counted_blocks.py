"""The groups of a counted table whose distinct rows do not fit into memory: block by block, each by itself.

The table is cut where the flagship's own blocks are cut (`encode/block_cuts.py`); every block is a table of its own
that is encoded like the whole, clustered, and leaves a plan on the disk. Groups never cross a cut, so a release in
blocks is another one than that of the whole table; it is the same for every memory and every engine that cannot hold
the rows. What still has to fit into memory are the values of the columns and the classes of the release.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.algorithms.base import Algorithm, Clustering, Context
from shoal.encode.block_cuts import BlockCuts, RowSample, make_block_cuts
from shoal.encode.counted import CountedRows, CountedTable
from shoal.encode.encoded_table import IntegerArray
from shoal.encode.stored import RowFiles, StoredRows
from shoal.engines.cluster_counted import cluster_counted
from shoal.metrics.score import Scores, score_table
from shoal.models.base import Requirement
from shoal.models.k_anonymity import asked_k
from shoal.pipeline.counted_release import CountedInput
from shoal.progress import Watch
from shoal.recode.block_plan import BlockPlan, one_type, save_block
from shoal.recode.plan import make_release_plan
from shoal.recode.release import RecodeOptions
from shoal.released.domain import Domain
from shoal.released.reading import read_release

BLOCK_ROWS = 500_000  # distinct rows of a block, about; if memory holds fewer, so many as it holds
Encode = Callable[[CountedRows], CountedTable]


@dataclass(frozen=True, eq=False)
class BlockGroups:
    """What all blocks together are like; see `Grouped`."""

    prepared: CountedInput
    clustering: Clustering
    missing_cells: Mapping[str, int]
    classes: pl.DataFrame  # the released rows with their counts
    row_sizes: pl.DataFrame  # how many records share their row, and how many such rows there are

    def rows(self) -> tuple[pl.DataFrame, NDArray[np.int64]]:
        return self.classes.drop(_COUNT), self.classes[_COUNT].to_numpy().astype(np.int64)

    def sizes(self) -> NDArray[np.int64]:
        return np.repeat(self.row_sizes["size"].to_numpy(), self.row_sizes[_COUNT].to_numpy()).astype(np.int64)

    def scores(self, shown: pl.DataFrame, written: CountedRows, domains: Mapping[str, Domain]) -> Scores:
        """From the classes that were written: with ranges, nodes and sets their cells tell what they lose."""
        quasi = list(self.prepared.job.quasi)
        release = written.frame(quasi)
        table = read_release(release, release, quasi, domains, same_order=False, weights=written.counts)
        return score_table(
            table, release, k=asked_k(self.prepared.requirement.models), weights=self.prepared.plan.weights
        )


_COUNT = "\0count"  # no column has such a name


@dataclass(frozen=True, eq=False)
class FoundInBlock:
    """What a block tells besides its plan."""

    missing: Mapping[str, int]
    row_sizes: pl.DataFrame


@dataclass(frozen=True, eq=False)
class BlockWork:
    """Cluster one block and leave its plan beside its rows. It can be sent to who sees the same folder."""

    stored: StoredRows
    files: tuple[RowFiles, ...]
    encode: Encode
    requirement: Requirement
    algorithm: Algorithm
    seed: int
    threads: int
    options: RecodeOptions
    kept: tuple[str, ...]

    def place(self, number: int) -> Path:
        return self.stored.folder / f"plan-{number}"

    def __call__(self, number: int) -> FoundInBlock:
        counted = self.stored.block(self.files[number])
        encoded = self.encode(counted)
        context = Context(self.seed, self.threads, wants_bound=False)
        deals = cluster_counted(encoded, self.requirement, self.algorithm, context, 0.0, self.options)
        save_block(make_release_plan(counted, encoded, deals, self.options, self.kept), self.place(number))
        sizes = pl.Series("size", encoded.table.weights).value_counts(name=_COUNT)
        return FoundInBlock(dict(encoded.codebook.missing_cells), sizes)


def group_in_blocks(
    prepared: CountedInput, encode: Encode, context: Context, watch: Watch
) -> tuple[BlockGroups, BlockPlan]:
    """Cut the rows into blocks, cluster one after the other, and say how their records are dealt out."""
    stored = prepared.counted
    assert isinstance(stored, StoredRows)
    with watch.stage("cut"):
        small = _values_alone(stored, encode)
        cuts, files = _cut(stored, small, prepared.requirement.k, context.seed)
    work = BlockWork(
        stored, tuple(files), encode, prepared.requirement, prepared.algorithm, context.seed, context.threads,
        prepared.recode_options, tuple(prepared.kept),
    )  # fmt: skip
    with watch.stage("cluster"):
        found = prepared.engine.each_block(work, len(files), watch.passing("cluster"))
    watch.end_if_refused()
    with watch.stage("recode"):
        blocks = _block_plan(work, small, cuts)
        watch.show("recode", blocks)
    return _groups(prepared, found, blocks), blocks


def _values_alone(stored: StoredRows, encode: Encode) -> CountedTable:
    """The columns encoded; of the rows there is one, which means nothing."""
    some_row = np.zeros((len(stored.values), 1), dtype=np.int32)
    return encode(CountedRows(stored.values, some_row, np.ones(1, dtype=np.int64)))


def _cut(stored: StoredRows, small: CountedTable, k: int, seed: int) -> tuple[BlockCuts, list[RowFiles]]:
    """The cuts, found on a sample of the distinct rows, and the rows of every block."""
    lines = _codes_of_values(small)
    sample = RowSample().add_all(
        np.stack([line[numbers] for line, numbers in zip(lines, piece, strict=True)])
        for piece, _ in stored.files.pieces()
    )
    rows = sample.rows()
    table = replace(small.table, codes=rows, weights=np.ones(rows.shape[1], dtype=np.int64))
    cuts = make_block_cuts(table, sample.step, k, min(BLOCK_ROWS, stored.most), seed)
    return stored.blocks(cuts, lines, 4 * k)


def _codes_of_values(small: CountedTable) -> tuple[IntegerArray, ...]:
    return tuple(part.code_of_value for part in small.parts)


def _block_plan(work: BlockWork, small: CountedTable, cuts: BlockCuts) -> BlockPlan:
    """How all records are dealt out, from the plans that the blocks have left."""
    files = tuple(work.place(number) for number in range(cuts.blocks))
    types = one_type(files, small.codebook)
    names, codes = tuple(part.name for part in small.parts), _codes_of_values(small)
    blocks = BlockPlan(names, work.stored.values, codes, work.kept, cuts, files, types, frozenset())
    return replace(blocks, known_values=_known_values(blocks))


def _groups(prepared: CountedInput, found: Sequence[FoundInBlock], blocks: BlockPlan) -> BlockGroups:
    """What all blocks together are like."""
    note = f"the table was grouped in {len(found)} blocks: memory did not hold its distinct rows"
    clustering = Clustering(np.zeros(0, dtype=np.int32), details={"notes": [note] if len(found) > 1 else []})
    missing = {name: sum(one.missing[name] for one in found) for name in prepared.job.quasi}
    row_sizes = pl.concat(one.row_sizes for one in found).group_by("size").agg(pl.col(_COUNT).sum()).sort("size")
    return BlockGroups(prepared, clustering, missing, _classes(blocks), row_sizes)


def _known_values(blocks: BlockPlan) -> frozenset[str]:
    known = set(blocks.kept)
    for number in range(len(blocks.files)):
        plan = blocks.of_block(number)
        known = {name for name in known if plan.has_known_values(name)}
    return frozenset(known)


def _classes(blocks: BlockPlan) -> pl.DataFrame:
    """The rows that are meant to be written, with their counts."""
    found = []
    for number in range(len(blocks.files)):
        plan = blocks.of_block(number)
        counts = pl.Series(_COUNT, np.diff(plan.deal_ends, prepend=0))
        cells = pl.DataFrame({name: plan.cells[name].of_record for name in blocks.names})
        cells = cells.with_columns(counts).group_by(blocks.names).agg(pl.col(_COUNT).sum())
        found.append(
            cells.with_columns(plan.cells[name].values.gather(cells[name]).alias(name) for name in blocks.names)
        )
    return pl.concat(found).group_by(blocks.names).agg(pl.col(_COUNT).sum())
