"""The engine for tables that a cluster of Spark holds: the records stay there.

1. Spark counts the distinct rows of the columns that decide about groups. The driver gets those, and clusters them.
2. Executors give records their values by the plan that the driver sends. Records of a key that goes to several groups
   are few: their places are collected, ranked on the driver, and sent back with the plan. So the cells do not depend
   on how the table is cut.
3. Spark counts what was written, and our code judges these counts.

What is shuffled: counts, hashes of kept columns, and, unless the order of the input is to be kept, the rows of the
release as they are sorted: files in the order of the input would tell what its order tells (docs/scale.md).
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl

from shoal.encode.counted import CountedRows
from shoal.encode.stored import RowFiles, StoredRows
from shoal.engines.base import TOO_MANY, Abilities, Counted, Engine, Facts, Reading, Watcher, Written, unwatched
from shoal.engines.spark.abilities import SPARK
from shoal.engines.spark.hashing import rows_hash
from shoal.engines.spark.session import in_our_words, quiet
from shoal.engines.spark.table import FileTable, FrameTable, read_from, read_stored, rows_of, stored_schema, written_to
from shoal.engines.spark.types import ddl
from shoal.engines.spark.worker import (
    CONTENT,
    FILE,
    KEY,
    KEYS_OF_A_BLOCK,
    PLACE,
    ROW,
    Blocks,
    Dealt,
    Released,
    SampleOf,
    SharedOut,
    ValuesOf,
    column,
)
from shoal.errors import InputError, InternalError, Problem
from shoal.progress import Passed
from shoal.recode.block_plan import AnyPlan
from shoal.recode.plan import ReleasePlan, rank_in_order
from shoal.tables.formats.files import ReadTable
from shoal.tables.formats.folders import FolderPlace
from shoal.tables.numbering import Numbering
from shoal.tables.types import has_text
from shoal.tables.value_sizes import KeptFacts, ValueSizes

SAMPLE_ROWS = 200_000  # as many as the engine `stream` looks at
_COUNT = "count"
_PIECE = 500_000  # distinct rows that the driver looks at in one piece


class SparkEngine(Engine):
    """CSV and Parquet files, and frames of Spark, into a folder of Parquet files."""

    name: ClassVar[str] = "spark"
    can: ClassVar[Abilities] = SPARK

    def __init__(
        self,
        session: Any,
        table: FileTable | FrameTable,
        place: FolderPlace,
        scratch: Path,
        most_rows: int | None = None,
    ) -> None:
        """`scratch` is a folder that the executors see too; `most_rows` is how many distinct rows the driver holds."""
        self._session, self._table, self._place = session, table, place
        self._scratch, self._most_rows = scratch.resolve(), most_rows
        self._schema: dict[str, pl.DataType] = {}
        self._files: list[Path] = []
        self._rows: list[int] = []
        self._read: Any = None
        self._beside: Any = None  # what was written with the columns that are not published, if there are any
        self._sha256 = ""

    def facts(self) -> Facts:
        with quiet(), in_our_words():
            self._schema = self._table.schema()
        return Facts(self._schema)

    @property
    def sha256(self) -> str:
        return self._sha256

    @property
    def like(self) -> ReadTable | None:
        return None

    def distinct(
        self, names: Sequence[str], kept: Sequence[str], reading: Reading, watcher: Watcher = unwatched
    ) -> Counted:
        with quiet(), in_our_words():
            self._files = self._table.store(self._session, self._scratch / "input", watcher)
            self._rows = rows_of(self._files)
            if sum(self._rows) == 0:
                raise InputError(Problem("no-records", "the table has no records"))
            self._read = read_stored(self._session, self._files, self._schema, isinstance(self._table, FileTable))
            columns = {name: self._column(name) for name in names}
            stored = reading.blocks and self._too_many(columns)
            counted = (
                self._stored(columns) if stored else self._counted(self._read, columns, self._schema, self._most_rows)
            )
            readable = [name for name in kept if has_text(self._schema[name])]
            sizes = self._sizes(readable, tuple(reading.missing))
            sample = self._sample()
            self._sha256 = rows_hash(self._read.drop(FILE, ROW), self._schema)
        if counted.records != sum(self._rows):
            raise InternalError(Problem("input-changed", "the input was changed while it was read"))
        return Counted(counted, KeptFacts(sample, sizes))

    def _column(self, name: str) -> str:
        return column(list(self._schema).index(name))

    def _counted(
        self, rows: Any, columns: dict[str, str], schema: dict[str, pl.DataType], most: int | None = None
    ) -> CountedRows:
        """The distinct combinations of some columns, sorted, so that how Spark cuts a table means nothing."""
        counts = rows.groupBy(*columns.values()).count()
        if most is not None:
            counts = counts.limit(most + 1)
        found = _as_frame(counts).rename({known: name for name, known in columns.items()} | {"count": "\0"})
        if most is not None and found.height > most:
            message = f"the table has more than {most} distinct rows: the driver's memory does not hold them"
            raise InputError(Problem("too-many-distinct-rows", message, hint=TOO_MANY))
        found = found.cast({name: schema[name] for name in columns}).sort(list(columns), nulls_last=True)
        numberings = {name: Numbering() for name in columns}
        numbers = np.stack([one.number(found[name]) for name, one in numberings.items()])
        values = {name: one.values(schema[name], name) for name, one in numberings.items()}
        return CountedRows(values, numbers, found["\0"].to_numpy().astype(np.int64))

    def _too_many(self, columns: dict[str, str]) -> bool:
        """Whether the driver cannot hold the distinct rows."""
        if self._most_rows is None or sum(self._rows) <= self._most_rows:
            return False
        rows = self._read.select(*columns.values()).distinct().limit(self._most_rows + 1)
        return int(rows.count()) > self._most_rows

    def _stored(self, columns: dict[str, str]) -> StoredRows:
        """The distinct combinations in files: Spark writes them, the driver looks at one file after the other."""
        place, numberings = self._scratch / "counted", {name: Numbering() for name in columns}
        self._read.groupBy(*columns.values()).count().write.parquet(written_to(place))
        files = RowFiles(self._scratch / "rows")
        for path in sorted(place.glob("part-*.parquet")):
            found = pl.read_parquet(path, glob=False, hive_partitioning=False)
            for start in range(0, found.height, _PIECE):
                piece = found[start : start + _PIECE]
                typed = [piece[known].cast(self._schema[name]) for name, known in columns.items()]
                numbers = [one.number(column) for one, column in zip(numberings.values(), typed, strict=True)]
                files.add(np.stack(numbers), piece[_COUNT].to_numpy().astype(np.int64))
            path.unlink()
        values = {name: one.values(self._schema[name], name) for name, one in numberings.items()}
        return StoredRows(values, files, self._scratch, sum(self._rows), self._most_rows or 0)

    def each_block(self, work: Callable[[int], Any], blocks: int, watcher: Watcher = unwatched) -> list[Any]:
        """Executors do it, as many blocks at once as there are of them."""
        path = self._scratch / "work"
        path.write_bytes(pickle.dumps(work, protocol=5))
        with quiet(), in_our_words():
            numbers = self._session.range(0, blocks, 1, blocks)
            found = _as_frame(numbers.mapInArrow(Blocks(str(path)), "id bigint, found binary")).sort("id")
        return [pickle.loads(one) for one in found["found"].to_list()]

    def _sizes(self, names: Sequence[str], missing: tuple[str, ...]) -> dict[str, ValueSizes]:
        """How often the values of kept columns occur, from hashes of 64 bits."""
        if not names:
            return {}
        hashes = self._read.select(*(self._column(name) for name in names))
        kinds = "number int, absent boolean, hash bigint, records bigint"
        values = hashes.mapInArrow(ValuesOf(missing), kinds).groupBy("number", "absent", "hash").sum("records")
        found = _as_frame(values.groupBy("number", "absent", "sum(records)").count())
        return {name: _value_sizes(found.filter(pl.col("number") == number)) for number, name in enumerate(names)}

    def _sample(self) -> pl.DataFrame:
        step = 1
        while -(-sum(self._rows) // step) > 2 * SAMPLE_ROWS:
            step *= 2
        begins = np.concatenate([[0], np.cumsum(self._rows)[:-1]]).tolist()
        kinds = f"{stored_schema(self._schema)}, {PLACE} bigint"
        found = _as_frame(self._read.mapInArrow(SampleOf(self._numbers(), begins, step), kinds)).sort(PLACE)
        names = {column(number): name for number, name in enumerate(self._schema)}
        return found.drop(PLACE).rename(names).cast(pl.Schema(self._schema))

    def _numbers(self) -> dict[str, int]:
        return {file.name: number for number, file in enumerate(self._files)}

    def own_place(self) -> FolderPlace:
        return self._place

    def release(
        self, plan: AnyPlan, waiting: Path, hidden: Sequence[str], order: str, watcher: Watcher = unwatched
    ) -> None:
        with quiet(), in_our_words():
            path = self._send(plan)
            watcher(Passed(0.1, 0, sum(self._rows)))
            kinds = plan.schema(self._schema)
            shown = {column(number): kind for number, kind in enumerate(kinds.values())}
            beside = {f"h{number}": self._schema[name] for number, name in enumerate(hidden)}
            looked_at = dict.fromkeys([*plan.names, *plan.kept, *hidden])
            records = self._read.select(*(self._column(name) for name in looked_at), FILE, ROW)
            work = Released(path, tuple(self._column(name) for name in hidden))
            rows = records.mapInArrow(work, ddl({**shown, **beside}))
            if hidden:
                place = self._scratch / "beside"
                rows.write.parquet(written_to(place))
                self._beside = self._session.read.parquet(read_from(place))
                rows = self._beside.select(*shown)
            if order == "released":
                rows = rows.orderBy(*shown)
            rows.toDF(*kinds).write.option("mapreduce.fileoutputcommitter.marksuccessfuljobs", "false").parquet(
                written_to(waiting)
            )

    def _send(self, plan: AnyPlan) -> str:
        """The plan as a file, with the deals of the records whose key goes to several groups."""
        others = {name: self._column(name) for name in plan.kept if name not in plan.types}
        keys = {name: self._column(name) for name in dict.fromkeys(plan.names)}
        none = np.zeros(0, dtype=np.int64)
        dealt = Dealt(plan, keys, others, self._numbers(), none, none)
        path = self._scratch / "plan"
        dealt.save(path)
        found = self._shared_out(str(path), list(keys.values())) if _shares(plan) else pl.DataFrame()
        if found.height:
            key = found[KEY].to_numpy()
            ranks, block, own = rank_in_order(key), key // KEYS_OF_A_BLOCK, key % KEYS_OF_A_BLOCK
            deals = np.empty_like(key)
            for number in np.unique(block).tolist():
                some = block == number
                deals[some] = plan.of_block(number).deals_of(own[some], ranks[some])
            order = np.argsort(found[PLACE].to_numpy())
            path = self._scratch / "plan-with-places"
            Dealt(plan, keys, others, self._numbers(), found[PLACE].to_numpy()[order], deals[order]).save(path)
        return str(path)

    def _shared_out(self, path: str, keys: Sequence[str]) -> pl.DataFrame:
        """The records of shared keys, in the order in which they are dealt out."""
        from pyspark.sql import functions

        columns: list[Any] = [*keys, FILE, ROW]
        if not self._table.ordered:  # by content: records that are equal in all columns may change places
            every = [functions.col(column(number)) for number in range(len(self._schema))]
            content = [part for one in every for part in (one.isNull(), one)]
            columns.append(functions.xxhash64(*content).alias(CONTENT))
        work = self._read.select(*columns).mapInArrow(
            SharedOut(path), f"{PLACE} bigint, {KEY} bigint, {CONTENT} bigint"
        )
        return _as_frame(work).sort(KEY, CONTENT, PLACE)

    def as_written(self, rows: pl.DataFrame, waiting: Path) -> pl.DataFrame:
        return rows

    def released_counts(
        self, waiting: Path, names: Sequence[str], known: Sequence[str], watcher: Watcher = unwatched
    ) -> Written:
        with quiet(), in_our_words():
            self._place.tidy()
            written = self._session.read.parquet(read_from(waiting))
            schema = {one.name: _type_of(one) for one in written.schema.fields}
            plain = written.toDF(*(column(number) for number in range(len(schema))))
            sha256 = rows_hash(plain, schema)
            numbers = {name: column(number) for number, name in enumerate(schema)}
            hidden = [name for name in names if name not in schema]
            counted_in = plain
            if hidden:
                counted_in = self._beside
                if rows_hash(self._beside.select(*numbers.values()), schema) != sha256:
                    message = "what was written is not what was counted; nothing is kept"
                    raise InternalError(Problem("check-failed", message))
            beside = {name: f"h{number}" for number, name in enumerate(hidden)}
            kinds = {**schema, **{name: self._schema[name] for name in hidden}}
            counted = self._counted(counted_in, {name: {**numbers, **beside}[name] for name in names}, kinds)
            alone = _alone(plain.select(*(numbers[name] for name in known))) if known else 0
        if counted.records != sum(self._rows):
            raise InternalError(Problem("records-lost", "the release has another number of records than the input"))
        return Written(counted, sha256, alone, self._place.hashes())

    def published(self) -> Any:
        if not isinstance(self._table, FrameTable):
            return None
        with quiet(), in_our_words():
            return self._table.frame.sparkSession.read.parquet(read_from(self._place.target.resolve()))


def _shares(plan: AnyPlan) -> bool:
    """Whether there may be keys whose records go to several groups."""
    return not isinstance(plan, ReleasePlan) or plan.shared().size > 0


def _as_frame(rows: Any) -> pl.DataFrame:
    found = pl.from_arrow(rows.toArrow())
    assert isinstance(found, pl.DataFrame)
    return found


def _value_sizes(found: pl.DataFrame) -> ValueSizes:
    """From how many values, present or missing, occur how often."""
    present = found.filter(~pl.col("absent"))
    every = found.group_by("sum(records)").agg(pl.col(_COUNT).sum()).sort("sum(records)")
    records = int((present["sum(records)"] * present[_COUNT]).sum())
    return ValueSizes(
        every["sum(records)"].to_numpy().astype(np.int64),
        every[_COUNT].to_numpy().astype(np.int64),
        int(present[_COUNT].sum()),
        records,
    )


def _alone(rows: Any) -> int:
    """Rows that occur once, told by hashes of 64 bits."""
    from pyspark.sql import functions

    parts = [part for name in rows.columns for part in (functions.col(name).isNull(), functions.col(name))]
    hashes = rows.select(functions.xxhash64(*parts).alias("hash")).groupBy("hash").count()
    return int(hashes.filter(functions.col(_COUNT) == 1).count())


def _type_of(field: Any) -> pl.DataType:
    from shoal.engines.spark.types import polars_type

    found = polars_type(field.dataType.simpleString())
    assert found is not None  # it was written by us
    return found
