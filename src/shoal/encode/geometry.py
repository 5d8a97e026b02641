"""The attributes of an encoded table as the flat arrays that kernels take."""

from __future__ import annotations

import numpy as np

from shoal.encode.encoded_table import EncodedTable
from shoal.kernels.geometry import Geometry


def table_geometry(table: EncodedTable) -> Geometry:
    sizes = [attribute.size for attribute in table.attributes]
    level_sizes = [attribute.ancestors.size for attribute in table.attributes]
    return Geometry(
        kinds=np.array([int(attribute.kind) for attribute in table.attributes], dtype=np.int32),
        weights=table.attribute_weights,
        code_offsets=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        positions=np.concatenate([attribute.positions for attribute in table.attributes]),
        level_counts=np.array([attribute.levels for attribute in table.attributes], dtype=np.int32),
        level_offsets=(np.cumsum(level_sizes) - level_sizes).astype(np.int64),
        ancestors=np.concatenate([attribute.ancestors.ravel() for attribute in table.attributes]).astype(np.int32),
        level_cost=np.concatenate([attribute.level_cost.ravel() for attribute in table.attributes]),
    )
