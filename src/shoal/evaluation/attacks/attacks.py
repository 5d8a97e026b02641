"""All attacks on a release, one after the other: linkage, inference, linkability, singling out."""

from __future__ import annotations

from typing import Any

from shoal.evaluation.attacks.linkability import linkability_attack
from shoal.evaluation.attacks.linkage import linkage_attack
from shoal.evaluation.attacks.second_opinion import anonymeter_opinion
from shoal.evaluation.attacks.singling_out import singling_out_attack
from shoal.evaluation.options import AttackerTables, Compared


def run_attacks(compared: Compared, tables: AttackerTables) -> tuple[dict[str, Any], list[str]]:
    """What every attack brought, and which of them looked at a sample."""
    table, original, options = compared.table, compared.original, compared.options
    linked, inference, samples = _linked(compared, tables)
    linkability = linkability_attack(table, original, first=options.party, control=tables.control, seed=options.seed)
    samples += _sampled_linkability(linkability, original.height)
    found: dict[str, Any] = {
        "linkage": linked,
        "inference": inference,
        "linkability": linkability,
        "singling_out": singling_out_attack(table, original, control=tables.control, seed=options.seed),
        "source": "the original" if tables.external is None else "an external table",
    }
    if tables.anonymeter is not None:
        found["anonymeter"] = anonymeter_opinion(tables.anonymeter, compared, tables.control)
        samples.append(f"anonymeter's attacks on {found['anonymeter']['linkability']['targets']:,} records")
    return found, samples


def _linked(compared: Compared, tables: AttackerTables) -> tuple[dict[str, Any], dict[str, Any] | None, list[str]]:
    """What linking brought, and guessing the first sensitive column from it."""
    options = compared.options
    source = compared.original if tables.external is None else tables.external
    linkage, inference, _ = linkage_attack(
        compared.table,
        source,
        same_rows=tables.external is None,
        k=options.k,
        sensitive=compared.release[options.sensitive[0]] if options.sensitive else None,
        control=tables.control,
        seed=options.seed,
    )
    if inference is not None:
        inference["column"] = options.sensitive[0]
    sampled = [f"the linkage attack on {linkage.targets:,} of {source.height:,} records"] if linkage.sampled else []
    return linkage.as_dict(), inference, sampled


def _sampled_linkability(found: dict[str, Any] | None, records: int) -> list[str]:
    samples = []
    if found is not None and found["sampled"]:
        samples.append(f"the linkability attack on {found['targets']:,} of {records:,} records")
    if found is not None and found["counted"] < records:
        samples.append(f"its second party on {found['counted']:,} of {records:,} records")
    return samples
