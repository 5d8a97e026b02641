"""Which classes contain each target: lists of possible classes, filtered attribute by attribute."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.compile import kernel


@kernel
def match_targets(
    targets: NDArray[np.float64],
    changed: NDArray[np.int32],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    missing: NDArray[np.uint8],
    set_start: NDArray[np.int64],
    set_end: NDArray[np.int64],
    members: NDArray[np.float64],
    sizes: NDArray[np.int64],
    label_counts: NDArray[np.int64],
    matches: NDArray[np.int64],
    classes: NDArray[np.int32],
    best_label: NDArray[np.int32],
    best_share: NDArray[np.float64],
    fitting: NDArray[np.int64],
    weights: NDArray[np.int64],
) -> int:
    """For every target the released records and classes that contain it, and the likeliest sensitive value.

    IN   targets        (attributes, targets) positions in sorted order; NaN is missing
    IN   changed        (targets,) first attribute in which a target differs from the one before it
    IN   low, high      (attributes, classes) positions that a class's cell covers
    IN   missing        (attributes, classes) 1 where the cell covers missing values
    IN   set_start/end  (attributes, classes) the cell's values in `members` where it is a scattered set, else -1
    IN   members        sorted positions of scattered sets
    IN   sizes          (classes,)
    IN   label_counts   (classes, labels) records of each sensitive value; no labels: (classes, 0)
    IN   weights        (targets,) how many people of the attacker's table are this target
    OUT  matches        (targets,) released records that contain the target
    OUT  classes        (targets,) classes that contain it
    OUT  best_label     (targets,) commonest sensitive value among the matches, -1 without labels
    OUT  best_share     (targets,) its share
    OUT  fitting        (classes,) people of the attacker's table who fit the class

    Returns the number of comparisons it took.
    """
    width, count = targets.shape
    work = 0
    possible = np.empty((width + 1, sizes.shape[0]), dtype=np.int32)
    length = np.zeros(width + 1, dtype=np.int64)
    for number in range(sizes.shape[0]):
        possible[0, number] = number
    length[0] = sizes.shape[0]
    labels = np.zeros(label_counts.shape[1], dtype=np.int64)
    for target in range(count):
        for attribute in range(changed[target], width):
            value = targets[attribute, target]
            absent = np.isnan(value)
            kept = 0
            work += length[attribute]
            for place in range(length[attribute]):
                one = possible[attribute, place]
                if absent:
                    inside = missing[attribute, one] == 1
                elif set_start[attribute, one] >= 0:
                    start, end = set_start[attribute, one], set_end[attribute, one]
                    while start < end:
                        middle = (start + end) // 2
                        if members[middle] < value:
                            start = middle + 1
                        else:
                            end = middle
                    inside = start < set_end[attribute, one] and members[start] == value
                else:
                    inside = low[attribute, one] <= value and value <= high[attribute, one]
                if inside:
                    possible[attribute + 1, kept] = one
                    kept += 1
            length[attribute + 1] = kept
        total = np.int64(0)
        labels[:] = 0
        for place in range(length[width]):
            one = possible[width, place]
            total += sizes[one]
            fitting[one] += weights[target]
            for label in range(labels.shape[0]):
                labels[label] += label_counts[one, label]
        matches[target] = total
        classes[target] = length[width]
        best_label[target] = -1
        best_share[target] = 0.0
        if total > 0 and labels.shape[0] > 0:
            best = 0
            for label in range(1, labels.shape[0]):
                if labels[label] > labels[best]:
                    best = label
            best_label[target] = best
            best_share[target] = labels[best] / total
    return work
