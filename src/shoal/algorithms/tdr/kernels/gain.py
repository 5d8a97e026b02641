"""Information gain of splits of a number range, from counts of (code, class) pairs in the order of the codes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.compile import kernel

Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]
Flags = NDArray[np.bool_]

TIE = 1e-9  # gains that are closer than this are equal: sums of logarithms carry that much rounding


@kernel
def _times_log(count: float) -> float:
    if count <= 0:
        return 0.0
    return float(count * np.log2(count))


@kernel
def best_split(
    first_pair: Int64s,  # IN  (codes + 1,) int64: where the pairs of a code begin
    pair_class: Int32s,  # IN  (pairs,) int32
    pair_count: Int64s,  # IN  (pairs,) int64
    low: int,  # IN  first code of the range
    high: int,  # IN  last code of the range
    positions: NDArray[np.float64],  # IN  (codes,) where the values lie; equal positions are never split
    smallest: int,  # IN  records that each half needs
    classes: int,  # IN  number of classes
) -> int:
    """The first code of the right half in the split of highest gain, or -1 if there is none.

    Among equal gains the split that divides the records most evenly wins, then the lowest. The codes are sorted, so
    one pass over the pairs of the range is enough.
    """
    left = np.zeros(classes, np.int64)
    right = np.zeros(classes, np.int64)
    total = 0
    for pair in range(first_pair[low], first_pair[high + 1]):
        right[pair_class[pair]] += pair_count[pair]
        total += pair_count[pair]
    right_sum = 0.0
    for number in range(classes):
        right_sum += _times_log(right[number])
    whole = _times_log(total) - right_sum
    left_sum = 0.0
    left_total = 0
    best_code, best_gain, best_balance = -1, -1.0, 0
    for code in range(low, high):
        if first_pair[code] == first_pair[code + 1]:
            continue  # a code without records is no place to split
        for pair in range(first_pair[code], first_pair[code + 1]):
            number, count = pair_class[pair], pair_count[pair]
            left_sum += _times_log(left[number] + count) - _times_log(left[number])
            right_sum += _times_log(right[number] - count) - _times_log(right[number])
            left[number] += count
            right[number] -= count
            left_total += count
        right_total = total - left_total
        if right_total == 0:
            break
        if positions[code] == positions[code + 1]:
            continue  # one number in two spellings
        balance = min(left_total, right_total)
        if balance < smallest:
            continue
        gain = (whole - _times_log(left_total) + left_sum - _times_log(right_total) + right_sum) / total
        if gain > best_gain + TIE or (gain > best_gain - TIE and balance > best_balance):
            best_code, best_balance = code + 1, balance
            best_gain = max(gain, best_gain)
    return best_code


@kernel
def children_gain(
    first_pair: Int64s,  # IN  (codes + 1,) int64
    pair_class: Int32s,  # IN  (pairs,) int32
    pair_count: Int64s,  # IN  (pairs,) int64
    bounds: Int64s,  # IN  (children + 1,) int64: first code of each child, and one past the last code
    classes: int,  # IN  number of classes
    records: Int64s,  # OUT (children,) int64: records of each child
) -> float:
    """The information gain of cutting a range of codes into neighbouring ranges."""
    whole = np.zeros(classes, np.int64)
    part = np.zeros(classes, np.int64)
    total = 0
    rest = 0.0
    for child in range(bounds.shape[0] - 1):
        part[:] = 0
        records[child] = 0
        for pair in range(first_pair[bounds[child]], first_pair[bounds[child + 1]]):
            part[pair_class[pair]] += pair_count[pair]
            records[child] += pair_count[pair]
        rest += _times_log(records[child])
        for number in range(classes):
            rest -= _times_log(part[number])
            whole[number] += part[number]
        total += records[child]
    if total == 0:
        return 0.0
    impurity = _times_log(total)
    for number in range(classes):
        impurity -= _times_log(whole[number])
    return (impurity - rest) / total


@kernel
def disclosure_gains(
    first_pair: Int64s,  # IN  (codes + 1,) int64
    pair_class: Int32s,  # IN  (pairs,) int32
    pair_count: Int64s,  # IN  (pairs,) int64
    suppressed: Flags,  # IN  (codes,) bool: the codes that are still suppressed
    classes: int,  # IN  number of classes
    gains: NDArray[np.float64],  # OUT (codes,) float64: the gain of disclosing each suppressed code
) -> None:
    """The information gain of taking one code out of the suppressed ones, for each of them."""
    whole = np.zeros(classes, np.int64)
    total = 0
    for code in range(suppressed.shape[0]):
        if suppressed[code]:
            for pair in range(first_pair[code], first_pair[code + 1]):
                whole[pair_class[pair]] += pair_count[pair]
                total += pair_count[pair]
    whole_sum = 0.0
    for number in range(classes):
        whole_sum += _times_log(whole[number])
    for code in range(suppressed.shape[0]):
        gains[code] = 0.0
        if not suppressed[code] or total == 0:
            continue
        part, part_sum, rest_sum = 0, 0.0, whole_sum
        for pair in range(first_pair[code], first_pair[code + 1]):
            number, count = pair_class[pair], pair_count[pair]
            part += count
            part_sum += _times_log(count)
            rest_sum += _times_log(whole[number] - count) - _times_log(whole[number])
        impurity = _times_log(total) - whole_sum
        left = _times_log(part) - part_sum + _times_log(total - part) - rest_sum
        gains[code] = (impurity - left) / total
