"""Addresses in networks: each different address of a run of rows is looked up once, and remembered."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from typing import Final

import numpy as np

from tripline_contracts.normal_forms.ip_addresses import Range, address_number, network_range
from tripline_engine.domain.history.history import History
from tripline_engine.domain.memory.array_types import BoolArray, RowNumber

_REMEMBERED: Final = 1 << 16
"""Addresses whose answer a filter remembers: to read one costs as much as a hundred looked up."""


class Networks:
    """Networks as ranges that do not overlap, by version."""

    def __init__(self, networks: Iterable[str]) -> None:
        self._ranges: list[Range] = []
        for version, first, last in sorted(map(network_range, networks)):
            if self._ranges and self._ranges[-1][0] == version and first <= self._ranges[-1][2]:
                # of two networks that share an address one is in the other, and the wider comes first or begins alike
                _, begin, end = self._ranges.pop()
                self._ranges.append((version, begin, max(end, last)))
            else:
                self._ranges.append((version, first, last))
        self._remembered: dict[str, bool] = {}

    def __contains__(self, address: str) -> bool:
        known = self._remembered.get(address)
        if known is None:
            if len(self._remembered) >= _REMEMBERED:
                self._remembered.clear()
            known = self._remembered[address] = self._holds(address)
        return known

    def _holds(self, address: str) -> bool:
        version, number = address_number(address)
        index = bisect_right(self._ranges, (version, number, 1 << 128)) - 1
        return index >= 0 and self._ranges[index][0] == version and number <= self._ranges[index][2]


def network_test(
    name: str, networks: tuple[str, ...]
) -> Callable[[History, RowNumber, RowNumber], BoolArray]:
    """Whether the field of each row is an address in one of the networks; null is in none."""
    sought = Networks(networks)

    def test(history: History, start: RowNumber, end: RowNumber) -> BoolArray:
        texts = history.values[name]
        slots, of_row = np.unique(history.codes(name)[start:end], return_inverse=True)
        addresses = (texts.text(slot) for slot in slots.tolist())
        inside = np.array([address is not None and address in sought for address in addresses], np.bool_)
        result: BoolArray = inside[of_row]
        return result

    return test
