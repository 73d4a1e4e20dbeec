"""The values of a text field: a slot for each, and the text itself once, for as long as the slot is used.

Rows hold slots; a text is only looked at when an alert is written.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tripline_engine.domain.memory.arena import Arena
from tripline_engine.domain.memory.kernel import kernel
from tripline_engine.domain.memory.slot_table import SlotTable
from tripline_engine.domain.transactions.columns import Texts

_FIRST_HEAP: Final = 4096
# What `span` begins with: how far the heap is filled. Then, for each slot, where its text begins, and how many bytes it
# has and one more (0: there is none yet).
_END, _FIRST = 0, 1


@kernel(nogil=True)
def _keep(
    fresh: Any,
    slots: Any,
    offsets: Any,
    data: Any,
    low: Any,
    high: Any,
    own_low: Any,
    own_high: Any,
    span: Any,
    heap: Any,
) -> None:
    """Write the texts of the ``fresh`` ones, but where a slot has got the key back whose text it still has."""
    end = span[_END]
    for i in fresh:
        slot = np.int64(slots[i])
        at = _FIRST + 2 * slot
        if span[at + 1] > 0 and own_low[slot] == low[slot] and own_high[slot] == high[slot]:
            continue
        first, length = np.int64(offsets[i]), np.int64(offsets[i + 1] - offsets[i])
        for k in range(length):
            heap[end + k] = data[first + k]
        span[at], span[at + 1] = end, length + 1
        own_low[slot], own_high[slot] = low[slot], high[slot]
        end += length
    span[_END] = end


@kernel(nogil=True)
def _gather(used: Any, span: Any, heap: Any, out: Any) -> None:
    """Copy the texts of slots in use to ``out``, one after the other; forget the others'."""
    end = 0
    for slot in range(len(used)):
        at = _FIRST + 2 * slot
        if not used[slot]:
            span[at + 1] = 0
        if span[at + 1] == 0:
            continue
        first, length = span[at], span[at + 1] - 1
        for k in range(length):
            out[end + k] = heap[first + k]
        span[at] = end
        end += length
    span[_END] = end


class TextDictionary(SlotTable):
    """Slots for texts, named by their 128-bit identities, which remembers each text.

    ``_span`` (int64) says where the texts are; ``_own_low`` and ``_own_high`` whose they are, for slots are used again.
    """

    def __init__(self, arena: Arena, name: str) -> None:
        super().__init__(arena, name)
        slots = self.capacity
        self._own_low = arena.open(f"{name}.text.low", np.uint64, slots)
        self._own_high = arena.open(f"{name}.text.high", np.uint64, slots)
        self._span = arena.open(f"{name}.text.span", np.int64, _FIRST + 2 * slots)
        self._heap = arena.open(f"{name}.text.heap", np.uint8, _FIRST_HEAP)

    def take(
        self, texts: Texts, low: npt.NDArray[np.uint64], high: npt.NDArray[np.uint64]
    ) -> npt.NDArray[np.int32]:
        """The slot of each of n texts (int32; -1 for null), each counted once more.

        :param low: with ``high``, their identities
        """
        slots, fresh = self._intern(low, high, texts.present)
        self._make_room(int((texts.offsets[fresh + 1] - texts.offsets[fresh]).sum()))
        columns = self.key_low, self.key_high, self._own_low, self._own_high
        _keep(fresh, slots, texts.offsets, texts.data, *columns, self._span, self._heap)
        return slots

    def text(self, slot: int) -> str | None:
        """The text in a slot that is in use; None for slot -1."""
        if slot < 0:
            return None
        at = _FIRST + 2 * slot
        first, length = self._span[at], self._span[at + 1] - 1
        return bytes(self._heap[first : first + length]).decode()

    def _make_room(self, more: int) -> None:
        """For the texts of new slots, of ``more`` bytes at most."""
        if self.capacity > len(self._own_low):
            self._own_low = self._arena.resize(f"{self._name}.text.low", self.capacity)
            self._own_high = self._arena.resize(f"{self._name}.text.high", self.capacity)
            self._span = self._arena.resize(f"{self._name}.text.span", _FIRST + 2 * self.capacity)
        if self._span[_END] + more <= len(self._heap):
            return
        # to move all texts takes long where there are many, so only if half of what is there is no longer told
        told = np.maximum(self._span[_FIRST + 1 :: 2][self.in_use] - 1, 0).sum()
        if 2 * told <= self._span[_END]:
            out = np.empty(len(self._heap), np.uint8)
            _gather(self.in_use, self._span, self._heap, out)
            end = int(self._span[_END])
            self._heap[:end] = out[:end]
        needed = int(self._span[_END]) + more
        if needed > len(self._heap):
            self._heap = self._arena.resize(f"{self._name}.text.heap", 1 << needed.bit_length())
