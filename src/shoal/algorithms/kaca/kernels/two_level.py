"""Two-level clustering: merging of classes that are too small with classes of other outer clusters.

Outer clusters are sorted by their mixed-radix numbers, each number in one or more 63-bit words (see
`algorithms/kaca/numbering.py`). The clusters that differ from a given one in a single attribute are an arithmetic
progression of numbers: each member is looked up by binary search.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.algorithms.kaca.kernels.kaca import absorb, distance_within
from shoal.kernels.arrays import Int32, Int64
from shoal.kernels.climbing import fill_costs
from shoal.kernels.compile import kernel


class Outer(NamedTuple):
    """The outer clusters and how their numbers are made."""

    numbers: Int64  # (clusters, words), sorted
    strides: Int64  # (attributes,) attributes from left to right in the number
    radices: Int64  # (attributes,)
    words: Int64  # (attributes,) the word that an attribute's digit is in
    offsets: Int64  # (attributes,) where the digits of an attribute begin in `first` and `last`
    first: Int32  # (levels, digits) the range of level-1 nodes (digits) that are
    last: Int32  # (levels, digits) under the same node at a level


class Chain(NamedTuple):
    """The classes of each outer cluster as a linked list; -1 ends it."""

    heads: Int32  # (clusters,)
    following: Int32  # (classes,)


@kernel
def find_first(numbers: Any, wanted: Any) -> Any:
    """The position of the first number that is not below `wanted`, by binary search.

    IN  numbers  int64 (clusters, words), sorted
    IN  wanted   int64 (words,)
    """
    low = 0
    high = numbers.shape[0]
    while low < high:
        middle = (low + high) // 2
        below = False
        for word in range(wanted.shape[0]):
            if numbers[middle, word] != wanted[word]:
                below = numbers[middle, word] < wanted[word]
                break
        if below:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def _find(numbers: Any, wanted: Any) -> Any:
    """The position of a number, -1 if it is not there."""
    position = find_first(numbers, wanted)
    if position == numbers.shape[0]:
        return -1
    for word in range(wanted.shape[0]):
        if numbers[position, word] != wanted[word]:
            return -1
    return position


@kernel
def _look_through(cluster: Any, own: Any, classes: Any, chain: Any, costs: Any, best: Any) -> None:
    """Compare the classes of one outer cluster with the nearest found so far.

    IN/OUT best  float64 (2,): distance, class
    """
    other = chain.heads[cluster]
    while other >= 0:
        if other != own:
            total = distance_within(classes, own, other, costs, best[0])
            if total < best[0]:
                best[0] = total
                best[1] = other
        other = chain.following[other]


@kernel
def _try_progressions(own: Any, cluster: Any, outer: Any, classes: Any, chain: Any, costs: Any, best: Any) -> None:
    """Look at the outer clusters that differ from `cluster` in one attribute only, attribute by attribute.

    Per attribute the node above grows level by level; the search stops at the first level with a class in reach.
    """
    wanted = outer.numbers[cluster].copy()
    for attribute in range(outer.strides.shape[0]):
        word = outer.words[attribute]
        stride = outer.strides[attribute]
        number = outer.numbers[cluster, word]
        digit = (number // stride) % outer.radices[attribute]
        place = outer.offsets[attribute] + digit
        first = digit
        last = digit
        found = False
        for level in range(2, outer.first.shape[0]):
            if found:
                break
            for candidate in range(outer.first[level, place], outer.last[level, place] + 1):
                if first <= candidate <= last:
                    continue
                wanted[word] = number + (candidate - digit) * stride
                position = _find(outer.numbers, wanted)
                if position >= 0 and chain.heads[position] >= 0:
                    _look_through(position, own, classes, chain, costs, best)
                    found = True
            first = outer.first[level, place]
            last = outer.last[level, place]
        wanted[word] = number


@kernel
def _try_prefixes(own: Any, cluster: Any, outer: Any, classes: Any, chain: Any, costs: Any, best: Any) -> None:
    """Look at the outer clusters that share the longest beginning of the number with `cluster`."""
    wanted = np.empty(outer.numbers.shape[1], np.int64)
    for attribute in range(outer.strides.shape[0] - 1, -1, -1):  # all digits to the left of this attribute's are shared
        word = outer.words[attribute]
        step = outer.strides[attribute] * outer.radices[attribute]
        for place in range(wanted.shape[0]):  # word by word: assigning slices takes seconds to compile
            wanted[place] = outer.numbers[cluster, place] if place < word else 0
        wanted[word] = outer.numbers[cluster, word] // step * step
        start = find_first(outer.numbers, wanted)
        wanted[word] += step
        stop = find_first(outer.numbers, wanted)
        for position in range(start, stop):
            _look_through(position, own, classes, chain, costs, best)
        if best[1] >= 0:
            return


@kernel
def _unlink(chain: Any, cluster: Any, number: Any) -> None:
    """Take a class out of the list of its outer cluster, if it is there."""
    here = chain.heads[cluster]
    if here == number:
        chain.heads[cluster] = chain.following[number]
        return
    while here >= 0:
        if chain.following[here] == number:
            chain.following[here] = chain.following[number]
            return
        here = chain.following[here]


@kernel
def _partner(own: Any, cluster: Any, outer: Any, classes: Any, every: Any, small: Any, costs: Any, best: Any) -> Any:
    """The class to merge with: see merge_across. Returns the way it was found: 0, 1 or 2."""
    best[0] = np.inf
    best[1] = -1.0
    _try_progressions(own, cluster, outer, classes, small, costs, best)
    if best[1] >= 0:
        return 0
    _look_through(cluster, own, classes, every, costs, best)
    _try_progressions(own, cluster, outer, classes, every, costs, best)
    if best[1] >= 0:
        return 1
    _try_prefixes(own, cluster, outer, classes, every, costs, best)
    return 2


@kernel
def merge_across(
    ladder: Any, outer: Any, classes: Any, homes: Any, every: Any, small: Any, k: Any, parent: Any, ways: Any
) -> None:
    """Merge every class of fewer than k records until it has k. All classes together must have k records.

    Partners are, in this order: the nearest small class in a progression; the nearest class of any size in a
    progression or in the same outer cluster; the nearest class that shares the longest beginning of the number.

    IN/OUT classes       see algorithms/kaca/kernels/kaca.py
    IN  homes            int32 (classes,) the outer cluster of each class
    IN/OUT every, small  chains of all classes and of those with fewer than k records
    IN/OUT parent        int32 (classes,) the class each was merged into; itself at the beginning
    OUT ways             int64 (3,) how many partners were found in each of the three ways
    """
    costs = np.empty(ladder.join_costs.shape[0], np.float64)
    best = np.empty(2, np.float64)
    for number in range(parent.shape[0]):
        own = number
        while parent[own] == own and classes.sizes[own] < k:
            cluster = homes[own]
            fill_costs(ladder, classes.codes[own], classes.lifts[own], costs)
            ways[_partner(own, cluster, outer, classes, every, small, costs, best)] += 1
            other = int(best[1])
            absorb(classes, own, other, costs)
            parent[own] = other
            _unlink(every, cluster, own)
            _unlink(small, cluster, own)
            if classes.sizes[other] >= k:
                _unlink(small, homes[other], other)
            own = other
