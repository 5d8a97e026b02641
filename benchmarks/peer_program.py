"""Runs inside the environment of the peers (see the Makefile): one peer on one table, the release as CSV.

python peer_program.py anonypy table.csv out.csv K quasi,quasi
python peer_program.py anjana table.csv out.csv K quasi,quasi hierarchies-folder
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pandas as pd


def run_anonypy(frame: pd.DataFrame, k: int, quasi: list[str]) -> pd.DataFrame:
    """Mondrian; a row per class and sensitive value with a count, which is spread out to records again."""
    import anonypy

    for name in frame.columns:
        if name != "age":
            frame[name] = frame[name].astype("category")
    frame["all"] = pd.Series(["x"] * len(frame), dtype="category")
    released = pd.DataFrame(anonypy.Preserver(frame, quasi, "all").anonymize_k_anonymity(k=k))
    released = released.loc[released.index.repeat(released["count"])].reset_index(drop=True)
    for name in quasi:
        texts = released[name].map(lambda cell: str(cell[0]) if isinstance(cell, list) and len(cell) == 1 else cell)
        released[name] = texts.map(_anonypy_text)
    return released[quasi]


def _anonypy_text(cell: object) -> str:
    """Its sets are comma lists and its ranges a-b; written as sets and ranges that a reader can tell apart."""
    text = ",".join(map(str, cell)) if isinstance(cell, list) else str(cell)
    parts = text.split("-")
    if len(parts) == 2 and all(part.isdigit() for part in parts):
        return f"[{parts[0]}, {parts[1]}]"
    return "{" + ", ".join(sorted(text.split(","))) + "}" if "," in text else text


def run_anjana(frame: pd.DataFrame, k: int, quasi: list[str], folder: Path) -> pd.DataFrame:
    """Full-domain generalization; no record may be suppressed."""
    from anjana.anonymity import k_anonymity

    hierarchies = {}
    for name in quasi:
        (path,) = folder.glob(f"*_hierarchy_{name}.csv")
        levels = pd.read_csv(path, sep=";", header=None, dtype=str)
        hierarchies[name] = {number: levels[number].values for number in levels.columns}
    return k_anonymity(frame.astype(str), [], quasi, k, 0, hierarchies)[quasi]


def main() -> None:
    peer, table, out, k, quasi, *rest = sys.argv[1:]
    frame = pd.read_csv(table)
    start = time.perf_counter()
    if peer == "anonypy":
        released = run_anonypy(frame, int(k), quasi.split(","))
    else:
        released = run_anjana(frame, int(k), quasi.split(","), Path(rest[0]))
    print(time.perf_counter() - start)
    released.to_csv(out, index=False)


if __name__ == "__main__":
    main()
