"""Tables to integer codes, and the codebook that leads back.

`encode_table` does the work; it is loaded on first use so that algorithms, which need the arrays only, load no frames.
"""

from typing import Any

from shoal.encode.encoded_table import EncodedAttribute, EncodedColumn, EncodedTable, Kind

__all__ = ["EncodedAttribute", "EncodedColumn", "EncodedTable", "Kind", "encode_table"]


def __getattr__(name: str) -> Any:
    if name == "encode_table":
        from shoal.encode.encode import encode_table

        return encode_table
    raise AttributeError(name)
