"""Cut a set of groups into blocks of neighbours, top down, by cuts that separate what is far apart."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.kernels.compile import kernel
from shoal.kernels.random import random_below, random_unit

_PAIRS = 48
_CUTS = 6


@kernel
def _distance(features: Any, numbers: Any, step: Any, number_weight: Any, one: Any, two: Any) -> Any:
    """The loss of the box of two items (of the first one's steps)."""
    total = 0.0
    for layer in range(features.shape[1]):
        if features[one, layer] != features[two, layer]:
            total += step[features[one, layer]]
    for interval in range(numbers.shape[1]):
        total += number_weight[interval] * min(1.0, abs(numbers[one, interval] - numbers[two, interval]))
    return total


@kernel
def _value(features: Any, numbers: Any, item: Any, axis: Any) -> Any:
    """The coordinate of an item on an axis: a layer, or an interval after the layers."""
    layers = features.shape[1]
    return np.float64(features[item, axis]) if axis < layers else numbers[item, axis - layers]


@kernel
def best_cut(
    features: Any,
    numbers: Any,
    step: Any,
    number_weight: Any,
    order: Any,
    start: Any,
    stop: Any,
    random: Any,
    noise: Any,
) -> Any:
    """The axis and threshold that separate the most distance between sampled pairs, for the pairs they separate."""
    axes = features.shape[1] + numbers.shape[1]
    one = np.empty(_PAIRS, dtype=np.int64)
    two = np.empty(_PAIRS, dtype=np.int64)
    far = np.empty(_PAIRS)
    for pair in range(_PAIRS):
        one[pair] = order[start + random_below(random, stop - start)]
        two[pair] = order[start + random_below(random, stop - start)]
        far[pair] = _distance(features, numbers, step, number_weight, one[pair], two[pair])
    best_axis, best_threshold, best_score = -1, 0.0, -1.0
    for axis in range(axes):
        for _ in range(_CUTS):
            threshold = _value(features, numbers, order[start + random_below(random, stop - start)], axis)
            apart = together = 0.0
            apart_pairs = left = 0
            for pair in range(_PAIRS):
                first_side = _value(features, numbers, one[pair], axis) < threshold
                left += first_side
                if first_side != (_value(features, numbers, two[pair], axis) < threshold):
                    apart += far[pair]
                    apart_pairs += 1
                else:
                    together += far[pair]
            if left * 5 < _PAIRS or left * 5 > 4 * _PAIRS or apart_pairs == 0:
                continue
            rest = max(1, _PAIRS - apart_pairs)
            score = (apart / apart_pairs - together / rest) * (1.0 + noise * random_unit(random))
            if best_axis < 0 or score > best_score:
                best_axis, best_threshold, best_score = axis, threshold, score
    return best_axis, best_threshold


@kernel
def cut_blocks(
    features: Any,
    numbers: Any,
    weight: Any,
    step: Any,
    number_weight: Any,
    limit: Any,
    noise: Any,
    random: Any,
    block: Any,
) -> Any:
    """Number the items by blocks of at most `limit` total weight (more only if one item weighs more).

    IN  features  int32 (items, layers), numbers float64 (items, intervals), weight int64 (items,)
    OUT block     int32 (items,)
    """
    items = features.shape[0]
    order = np.arange(items)
    stack = np.empty((items + 1, 2), dtype=np.int64)  # parts still to be cut
    stack[0, 0], stack[0, 1] = 0, items
    parts = 1
    blocks = 0
    while parts > 0:
        parts -= 1
        start, stop = stack[parts, 0], stack[parts, 1]
        total = 0
        for place in range(start, stop):
            total += weight[order[place]]
        if total <= limit or stop - start < 2:
            for place in range(start, stop):
                block[order[place]] = blocks
            blocks += 1
            continue
        axis, threshold = best_cut(features, numbers, step, number_weight, order, start, stop, random, noise)
        middle = start
        if axis >= 0:
            for place in range(start, stop):
                item = order[place]
                if _value(features, numbers, item, axis) < threshold:
                    order[place] = order[middle]
                    order[middle] = item
                    middle += 1
        if middle == start or middle == stop:
            middle = (start + stop) // 2  # all alike: any halves will do
        stack[parts, 0], stack[parts, 1] = start, middle
        stack[parts + 1, 0], stack[parts + 1, 1] = middle, stop
        parts += 2
    return blocks
