"""All attacks on a release, one after the other: linkage, inference, linkability, singling out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from shoal.evaluation.attacks.linkability import linkability_attack
from shoal.evaluation.attacks.linkage import linkage_attack
from shoal.evaluation.attacks.second_opinion import anonymeter_opinion
from shoal.evaluation.attacks.singling_out import singling_out_attack
from shoal.released.reading import ReadTable


def run_attacks(
    table: ReadTable,
    original: pl.DataFrame,
    release: pl.DataFrame,
    *,
    k: int | None = None,
    sensitive: Sequence[str] = (),
    party: Sequence[str] = (),
    external: pl.DataFrame | None = None,
    control: pl.DataFrame | None = None,
    anonymeter: Path | None = None,
    seed: int = 0,
) -> tuple[dict[str, Any], list[str]]:
    """What every attack brought, and which of them looked at a sample.

    `external` is linked instead of the original; `control` holds people who are not in the release; `party` are the
    quasi-identifiers that the first of two parties knows; `anonymeter` is a Python that has anonymeter, to ask it too.
    """
    source = original if external is None else external
    guessed = release[sensitive[0]] if sensitive else None
    linkage, inference, _ = linkage_attack(
        table, source, same_rows=external is None, k=k, sensitive=guessed, control=control, seed=seed
    )
    linkability = linkability_attack(table, original, first=party, control=control, seed=seed)
    if inference is not None:
        inference["column"] = sensitive[0]
    samples = []
    if linkage.sampled:
        samples.append(f"the linkage attack on {linkage.targets:,} of {source.height:,} records")
    if linkability is not None and linkability["sampled"]:
        samples.append(f"the linkability attack on {linkability['targets']:,} of {original.height:,} records")
    if linkability is not None and linkability["counted"] < original.height:
        samples.append(f"its second party on {linkability['counted']:,} of {original.height:,} records")
    found: dict[str, Any] = {
        "linkage": linkage.as_dict(),
        "inference": inference,
        "linkability": linkability,
        "singling_out": singling_out_attack(table, original, control=control, seed=seed),
        "source": "the original" if external is None else "an external table",
    }
    if anonymeter is not None:
        found["anonymeter"] = anonymeter_opinion(
            anonymeter, table, original, release, party=party, sensitive=sensitive, control=control, seed=seed
        )
        samples.append(f"anonymeter's attacks on {found['anonymeter']['linkability']['targets']:,} records")
    return found, samples
