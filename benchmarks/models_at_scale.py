"""What models besides k cost on large tables, in processor seconds and loss, and whether more data ever loses more.

    python -m benchmarks.models_at_scale --data FOLDER [--records 100000,300000,600000] [--requirements ...] [--flat]

FOLDER (or SHOAL_DATA) holds adult. The table has 12 quasi-identifiers and is drawn to look like adult: a person is a
row of adult in which a few cells are drawn anew from their column; of everybody there are one to three records, a year
apart, in which age and hours move a little. Few have a high income (about 6 of 100), so that `l-diversity:income:1.02`
asks every class for one of them in fifty: the young and the never married have to be released with others.

Every run is a whole command, from the CSV file to the verified CSV file, on one thread. "pieces" is the mean loss of
the same people in random fifths, each released on its own: the whole table must not lose more. Results go to
benchmarks/results/ as dated JSON.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks.measure import results_file, run_measured, save_results, shoal_command
from benchmarks.tables import data_folder

QUASI = (
    "age", "workclass", "education", "marital-status", "occupation", "relationship",
    "race", "sex", "native-country", "hours-per-week", "capital-gain", "capital-loss",
)  # fmt: skip
PERSON, SENSITIVE = "person", "income"
NOISE = 0.02  # share of the cells of a person that are drawn anew
RICH = 0.25  # share of adult's high incomes that stay high
PIECES = 5
REQUIREMENTS: dict[str, tuple[str, ...]] = {
    "k": (),
    "persons": ("--person", PERSON),
    "l": ("--model", f"l-diversity:{SENSITIVE}:1.02"),
    "both": ("--person", PERSON, "--model", f"l-diversity:{SENSITIVE}:1.02"),
}


def people(adult: pl.DataFrame, records: int, seed: int = 0) -> pl.DataFrame:
    """A table of so many records of persons like those of adult, in random order."""
    random = np.random.default_rng(seed)
    persons = records  # more than enough: cut off below
    rows = random.integers(0, adult.height, persons)
    held = random.integers(1, 4, persons)
    person = np.repeat(np.arange(persons), held)[:records]
    turn = np.arange(records) - np.searchsorted(person, person)
    columns = [pl.Series(PERSON, person)]
    for name in QUASI:
        cells = adult[name].gather(rows)
        other = adult[name].gather(random.integers(0, adult.height, persons))
        anew = pl.Series(random.random(persons) < NOISE)
        whole = pl.select(pl.when(anew).then(other).otherwise(cells)).to_series().gather(person)
        if name in ("age", "hours-per-week"):
            step = turn if name == "age" else random.integers(0, 2, records) * turn
            whole = pl.Series(np.clip(whole.to_numpy() + step, 1, 90))
        columns.append(whole.rename(name))
    rich = (adult[SENSITIVE].gather(rows) == ">50K").to_numpy() & (random.random(persons) < RICH)
    columns.append(pl.Series(SENSITIVE, np.where(rich, ">50K", "<=50K")).gather(person).rename(SENSITIVE))
    return pl.DataFrame(columns).sample(fraction=1.0, shuffle=True, seed=seed)


def measure(table: Path, options: list[str]) -> dict[str, Any]:
    """One whole run: loss and cost."""
    command = shoal_command("anonymize", table, "-o", table.with_name("release.csv"), "--quasi", ",".join(QUASI))
    command += ["--sensitive", SENSITIVE, "--identifiers", PERSON, "-k", "10", "--json", "--threads", "1", *options]
    cost = run_measured(command, timeout=7200)
    if cost.code != 0:
        return {"failed": cost.code}
    answer = json.loads(cost.out)
    return {
        "gcp": answer["certificate"]["loss"]["gcp"],
        "processor_seconds": round(cost.processor_seconds, 1),
        "clustering": round(answer["seconds"].get("cluster", 0.0), 1),
        "peak_megabytes": round(cost.peak_megabytes),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--records", default="100000,300000,600000")
    parser.add_argument("--requirements", default=",".join(REQUIREMENTS))
    parser.add_argument("--flat", action="store_true", help="without hierarchies")
    parser.add_argument("--pieces", action="store_true", help="also release random fifths of the people on their own")
    options = parser.parse_args()
    folder = data_folder(options.data)
    adult = pl.read_csv(folder / "adult" / "adult.csv")
    more = [] if options.flat else ["--hierarchies", str(folder / "adult" / "hierarchies")]
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        table, part = Path(scratch) / "people.csv", Path(scratch) / "part.csv"
        people(adult, 3_000).write_csv(table)
        for name in options.requirements.split(","):
            measure(table, [*REQUIREMENTS[name], *more])  # the first run on a machine compiles
        for records in map(int, options.records.split(",")):
            whole = people(adult, records)
            whole.write_csv(table)
            piece_of = np.random.default_rng(1).integers(0, PIECES, records)[whole[PERSON].to_numpy()]
            for name in options.requirements.split(","):
                row = {"records": records, "requirement": name, **measure(table, [*REQUIREMENTS[name], *more])}
                if options.pieces:
                    losses = []
                    for piece in range(PIECES):
                        some = whole.filter(pl.Series(piece_of == piece))
                        some.write_csv(part)
                        losses.append((some.height, measure(part, [*REQUIREMENTS[name], *more])["gcp"]))
                    row["pieces"] = sum(size * loss for size, loss in losses) / records
                rows.append(row)
                print(json.dumps(row), flush=True)
    target = results_file("models-at-scale")
    save_results(target, flat=options.flat, runs=rows)
    print(f"written: {target}")


if __name__ == "__main__":
    main()
