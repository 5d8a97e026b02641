"""Tables in PostgreSQL: reading, and writing back staged and read again, beside the server's own COPY.

    python -m benchmarks.sql [--records 1000000] [--rounds 3]

The table has 12 columns (numbers, texts, a date, a decimal, a uuid). The floor is `psql` with COPY ... TO a file and
COPY ... FROM that file into a new table, in the same run. Beside it stands what a release does with a database:
everything read in a fixed order, everything written to a staging table, read back, and given its name. The server is
one of its own, started as the tests start theirs; each figure is the least of a few rounds, which take turns.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.measure import results_file, save_results

FILL = """
CREATE TABLE people AS SELECT n AS id, (17 + n * 7919 % 74)::int AS age, (10000 + n * 31 % 90000)::text AS postcode,
  CASE n % 2 WHEN 0 THEN 'female' ELSE 'male' END AS sex, (n % 97)::smallint AS work, n * 13 % 40 AS hours,
  (n % 1000 * 1.01)::numeric(10,2) AS cost, DATE '1940-01-01' + (n % 25000) AS born, n / 7.0::float8 AS weight,
  md5(n::text)::uuid AS number, 'ward ' || n % 31 AS ward, n % 3 = 0 AS insured
FROM generate_series(1::bigint, {records}) n
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    from tests.sql.conftest import started_server

    with started_server() as server, tempfile.TemporaryDirectory() as scratch:
        os.environ["PGPASSFILE"] = server["PGPASSFILE"]
        row = measure(server["address"], Path(scratch) / "people.csv", options.records, options.rounds)
    file = results_file("sql")
    save_results(file, rows=[row])
    print(json.dumps(row, indent=1))
    print(f"written: {file}")


def measure(address: str, path: Path, records: int, rounds: int) -> dict[str, object]:
    psql(address, FILL.format(records=records))
    ways: dict[str, Callable[[], None]] = {
        "COPY to a file": lambda: psql(address, f"\\copy people TO '{path}' CSV"),
        "COPY from it": lambda: copy_back(address, path),
        "read": lambda: print(read(address), file=sys.stderr),
        "read, write, read back": lambda: write(address),
    }
    best = dict.fromkeys(ways, float("inf"))
    for _ in range(rounds):
        for name, way in ways.items():
            start = time.perf_counter()
            way()
            best[name] = min(best[name], time.perf_counter() - start)
    copy = best["COPY to a file"] + best["COPY from it"]
    seconds = {name: round(value, 2) for name, value in best.items()}
    return {"records": records, "seconds": seconds, "over_copy": round(best["read, write, read back"] / copy, 2)}


def psql(address: str, statement: str) -> None:
    subprocess.run(["psql", "-q", "-d", address, "-c", statement], check=True, stdout=subprocess.DEVNULL)


def copy_back(address: str, path: Path) -> None:
    psql(address, "DROP TABLE IF EXISTS again; CREATE TABLE again (LIKE people)")
    psql(address, f"\\copy again FROM '{path}' CSV")


def read(address: str) -> int:
    from shoal.tables.formats.sql.address import parse_address
    from shoal.tables.formats.sql.tables import read_sql

    return read_sql(parse_address(f"{address}?table=people&key=id")).frame.height


def write(address: str) -> None:
    from shoal.tables.formats.sql.address import parse_address
    from shoal.tables.formats.sql.tables import SqlTarget, read_sql

    table = read_sql(parse_address(f"{address}?table=people&key=id"))
    with SqlTarget(parse_address(f"{address}?table=written"), replace=True) as target:
        assert target.stage(table.frame, table).height == table.frame.height
        target.commit()


if __name__ == "__main__":
    main()
