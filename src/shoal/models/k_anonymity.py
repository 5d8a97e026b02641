"""k-anonymity: every record shares its released quasi-identifiers with at least k - 1 others.

L. Sweeney, k-anonymity: a model for protecting privacy, Int. J. Uncertainty, Fuzziness and Knowledge-Based
Systems 10(5), 2002. P. Samarati, Protecting respondents' identities in microdata release, IEEE TKDE 13(6), 2001.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.encode.encoded_table import EncodedTable
from shoal.models.base import Model


@dataclass(frozen=True)
class KAnonymity(Model):
    """Every group has at least k records."""

    k: int
    name: ClassVar[str] = "k-anonymity"
    title: ClassVar[str] = "every record shares its quasi-identifiers with at least k - 1 others"
    citation: ClassVar[str] = "Samarati 2001; Sweeney 2002"

    def __post_init__(self) -> None:
        if self.k < 2:
            raise ValueError(f"k must be at least 2, not {self.k}: with k = 1 nobody is hidden")

    def spec(self) -> str:
        return f"k-anonymity:{self.k}"

    def minimal_size(self) -> int:
        return self.k

    def deficits(self, table: EncodedTable, groups: NDArray[np.int32], count: int) -> NDArray[np.float64]:
        sizes = np.bincount(groups, minlength=count)
        return np.maximum(0, self.k - sizes).astype(np.float64)
