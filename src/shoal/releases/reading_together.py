"""How releases are read when the next one is made together with them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from shoal.models.base import Model
from shoal.released.domain import Domain
from shoal.releases.diversity import diversities_among
from shoal.releases.judging import Needed


@dataclass(frozen=True)
class ReadTogether:
    """What is compared, with which domains, and what must hold of the records that are left."""

    quasi: Sequence[str]
    linking: Sequence[str]  # columns that are published unchanged
    domains: Mapping[str, Domain]
    needed: Needed
    may_leave: bool = False
    changing: Collection[str] = ()

    @staticmethod
    def what_is_needed(k: int, models: Sequence[Model], linking: Collection[str]) -> Needed:
        """k, and diversity of the columns that link."""
        return Needed(k, tuple(model for model in diversities_among(models) if model.column in linking))
