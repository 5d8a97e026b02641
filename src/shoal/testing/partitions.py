"""Every way to group a few records, for checks against the best possible."""

from __future__ import annotations

from collections.abc import Iterator


def partitions(count: int, k: int) -> Iterator[list[int]]:
    """Every way to put `count` records into groups of at least k, as a group number per record."""

    def extend(groups: list[int], sizes: list[int]) -> Iterator[list[int]]:
        if len(groups) == count:
            if min(sizes) >= k:
                yield groups
            return
        if sum(max(0, k - size) for size in sizes) > count - len(groups):
            return
        for number in range(len(sizes) + 1):
            grown = [*sizes, 1] if number == len(sizes) else [s + (i == number) for i, s in enumerate(sizes)]
            yield from extend([*groups, number], grown)

    yield from extend([], [])
