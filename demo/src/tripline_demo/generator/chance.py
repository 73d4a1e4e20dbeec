"""Randomness that is addressed, not drawn: a value per (seed, purpose, index).

A stream made of such values is the same however it is cut into batches, and any part of it can be computed
without what came before. The mixer is the finaliser of SplitMix64 (Steele, Lea, Flood 2014, "Fast splittable
pseudorandom number generators"), applied over the index in steps of the golden gamma.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

Indices = npt.NDArray[np.uint64]
Integers = npt.NDArray[np.int64]
Shares = npt.NDArray[np.float64]

STRANGERS: Final = 1_000_000_000
"""How many members there are beyond a population: a repeat within a window is a rarity."""

_GAMMA: Final = np.uint64(0x9E3779B97F4A7C15)
_FIRST: Final = np.uint64(0xBF58476D1CE4E5B9)
_SECOND: Final = np.uint64(0x94D049BB133111EB)
_MASK: Final = (1 << 64) - 1


def bits(seed: int, purpose: int, index: Indices) -> Indices:
    """64 random bits for each index; other seeds and purposes give unrelated bits."""
    start = _mixed_int(_mixed_int(seed) ^ (purpose + 1))
    state = np.uint64(start) + (index + np.uint64(1)) * _GAMMA
    state = (state ^ (state >> np.uint64(30))) * _FIRST
    state = (state ^ (state >> np.uint64(27))) * _SECOND
    mixed: Indices = state ^ (state >> np.uint64(31))
    return mixed


def shares(seed: int, purpose: int, index: Indices) -> Shares:
    """Uniform in [0, 1), with 53 bits."""
    uniform: Shares = (bits(seed, purpose, index) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return uniform


def between(seed: int, purpose: int, index: Indices, low: int, high: int) -> Integers:
    """Uniform integers in [low, high], both ends included."""
    integers: Integers = low + (shares(seed, purpose, index) * (high - low + 1)).astype(np.int64)
    return integers


def normals(seed: int, purpose: int, index: Indices) -> Shares:
    """Standard normal values (Box–Muller; uses `purpose` and `purpose + 1`)."""
    radius = np.sqrt(-2.0 * np.log(1.0 - shares(seed, purpose, index)))
    normal: Shares = radius * np.cos(2.0 * np.pi * shares(seed, purpose + 1, index))
    return normal


def popular(seed: int, purpose: int, index: Indices, population: int) -> Integers:
    """Members 1 to `population`, the low ones more often: Zipf–Mandelbrot with exponent 1.

    The offset is a tenth of the population, so the most popular member is met some eleven times as often as
    the least, and about four times as often as the average, whatever the size of the population.
    """
    offset = population / 10
    rank = offset * ((population + offset) / offset) ** shares(seed, purpose, index) - offset
    members: Integers = np.minimum(rank.astype(np.int64) + 1, population)
    return members


def beyond(seed: int, purpose: int, index: Indices, population: int) -> Integers:
    """Members from beyond the population, whom nobody in it has anything to do with."""
    chosen = bits(seed, purpose, index) % np.uint64(STRANGERS)
    return population + 1 + chosen.astype(np.int64)


def _mixed_int(value: int) -> int:
    """The same finaliser over one Python integer of any size."""
    state = (value + int(_GAMMA)) & _MASK
    state = ((state ^ (state >> 30)) * int(_FIRST)) & _MASK
    state = ((state ^ (state >> 27)) * int(_SECOND)) & _MASK
    return state ^ (state >> 31)
