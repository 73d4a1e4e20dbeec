"""The values of a text field: a slot for each, and the text itself once, for as long as the slot is used.

Rows hold slots; a text is only looked at when an alert is written.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from tripline_engine.domain.arena import Arena
from tripline_engine.domain.rows import Texts
from tripline_engine.domain.slot_table import SlotTable

_FIRST_HEAP = 4096
_END = 0


@njit(cache=True, nogil=True)
def _keep(
    slots: Any,
    offsets: Any,
    data: Any,
    low: Any,
    high: Any,
    own_low: Any,
    own_high: Any,
    span: Any,
    heap: Any,
) -> Any:
    """Write the texts of slots that have got a new key; how far the heap is filled then."""
    end = span[0]
    for i in range(len(slots)):
        slot = np.int64(slots[i])
        if slot < 0:
            continue
        at = 1 + 2 * slot
        if span[at + 1] >= 0 and own_low[slot] == low[slot] and own_high[slot] == high[slot]:
            continue
        first, length = np.int64(offsets[i]), np.int64(offsets[i + 1] - offsets[i])
        for k in range(length):
            heap[end + k] = data[first + k]
        span[at], span[at + 1] = end, length
        own_low[slot], own_high[slot] = low[slot], high[slot]
        end += length
    return end


@njit(cache=True, nogil=True)
def _gather(used: Any, span: Any, heap: Any, out: Any) -> int:
    """Copy the texts of slots in use to ``out``, one after the other; forget the others'."""
    end = 0
    for slot in range(len(used)):
        at = 1 + 2 * slot
        if not used[slot]:
            span[at + 1] = -1
            continue
        first, length = span[at], span[at + 1]
        for k in range(length):
            out[end + k] = heap[first + k]
        span[at] = end
        end += max(length, 0)
    return end


class TextTable(SlotTable):
    """Slots for texts, named by their 128-bit identities, which remembers each text.

    ``_span`` (int64) holds how far the heap is filled, then for each slot where its text begins and how many
    bytes it has (-1: none yet); ``_own_low`` and ``_own_high`` whose text that is, for slots are used again.
    """

    def __init__(self, arena: Arena, name: str) -> None:
        super().__init__(arena, name)
        slots = self.capacity
        self._own_low = arena.open(f"{name}.text.low", np.uint64, slots)
        self._own_high = arena.open(f"{name}.text.high", np.uint64, slots)
        self._span = arena.open(f"{name}.text.span", np.int64, 1 + 2 * slots, -1)
        self._heap = arena.open(f"{name}.text.heap", np.uint8, _FIRST_HEAP)
        self._span[_END] = max(self._span[_END], 0)

    def take(
        self, texts: Texts, low: npt.NDArray[np.uint64], high: npt.NDArray[np.uint64]
    ) -> npt.NDArray[np.int32]:
        """The slot of each of n texts (int32; -1 for null), each counted once more.

        :param low: with ``high``, their identities
        """
        slots = self.intern(low, high, texts.present)
        self._make_room(int(texts.offsets[-1] - texts.offsets[0]))
        columns = self.key_low, self.key_high, self._own_low, self._own_high
        self._span[_END] = _keep(slots, texts.offsets, texts.data, *columns, self._span, self._heap)
        return slots

    def take_distinct(
        self,
        texts: Texts,
        low: npt.NDArray[np.uint64],
        high: npt.NDArray[np.uint64],
        places: npt.NDArray[np.int32],
    ) -> npt.NDArray[np.int32]:
        """As above, of texts that are told once each: ``places`` says which of them stands where (-1: null)."""
        slots = self.take(texts, low, high)
        present = places >= 0
        self.count_more(slots, np.bincount(places[present], minlength=len(slots)) - 1)
        return np.where(present, slots[places], np.int32(-1)) if len(slots) else places

    def text(self, slot: int) -> str | None:
        """The text in a slot that is in use; None for slot -1."""
        if slot < 0:
            return None
        first, length = self._span[1 + 2 * slot], self._span[2 + 2 * slot]
        return bytes(self._heap[first : first + length]).decode()

    def _make_room(self, more: int) -> None:
        """For the texts of new slots, of ``more`` bytes at most."""
        if self.capacity > len(self._own_low):
            self._own_low = self._arena.resize(f"{self._name}.text.low", self.capacity)
            self._own_high = self._arena.resize(f"{self._name}.text.high", self.capacity)
            self._span = self._arena.resize(f"{self._name}.text.span", 1 + 2 * self.capacity, -1)
        if self._span[_END] + more <= len(self._heap):
            return
        out = np.empty(len(self._heap), np.uint8)
        end = _gather(self.in_use, self._span, self._heap, out)
        if 2 * (end + more) > len(self._heap):
            capacity = 1 << (2 * (end + more)).bit_length()
            self._heap = self._arena.resize(f"{self._name}.text.heap", capacity)
        self._heap[:end] = out[:end]
        self._span[_END] = end
