"""The text dictionary of a field: a slot for each value, and the text itself once, for as long as the slot is in use.

Rows hold slots; a text is only read when an alert is written.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from tripline_contracts.filters.filter_leaves import TextOperator
from tripline_engine.domain.memory.arena import Arena
from tripline_engine.domain.memory.array_types import (
    BoolArray,
    Int32Array,
    Int64Array,
    Offset,
    Slot,
    Uint8Array,
    Uint64Array,
)
from tripline_engine.domain.memory.kernel import kernel
from tripline_engine.domain.memory.slot_table import SlotTable
from tripline_engine.domain.transactions.columns import Texts

_FIRST_HEAP_BYTES: Final = 4096
# `spans` begins with the end of the heap's used part. Then, for each slot, the start of its text, and its length in
# bytes plus 1 (0: no text yet).
_END, _FIRST = 0, 1


class TextHeap(NamedTuple):
    """The texts by slot.

    :ivar low: with ``high``, the key of the text that is there: a slot is used again for other keys
    :ivar spans: see above
    :ivar heap: the texts' bytes
    """

    low: Uint64Array
    high: Uint64Array
    spans: Int64Array
    heap: Uint8Array


@kernel()
def span_of(slot: Slot) -> Offset:
    """Where in `spans` the slot's text is said."""
    return _FIRST + 2 * slot


@kernel(nogil=True)
def _store(
    fresh: Int32Array,
    slots: Int32Array,
    offsets: Int32Array,
    data: Uint8Array,
    key_low: Uint64Array,
    key_high: Uint64Array,
    texts: TextHeap,
) -> None:
    """Write the texts number ``fresh``, unless a slot has the same key again and still its text."""
    spans, heap = texts.spans, texts.heap
    end = spans[_END]
    for i in fresh:
        slot: Slot = int(slots[i])
        span = span_of(slot)
        if spans[span + 1] > 0 and texts.low[slot] == key_low[slot] and texts.high[slot] == key_high[slot]:
            continue
        first, length = np.int64(offsets[i]), np.int64(offsets[i + 1] - offsets[i])
        for k in range(length):
            heap[end + k] = data[first + k]
        spans[span], spans[span + 1] = end, length + 1
        texts.low[slot], texts.high[slot] = key_low[slot], key_high[slot]
        end += length
    spans[_END] = end


@kernel(nogil=True)
def _compact(used: BoolArray, spans: Int64Array, heap: Uint8Array, out: Uint8Array) -> None:
    """Copy the texts of slots in use to ``out``, one after the other; drop the others."""
    end = 0
    for slot in range(len(used)):
        span = span_of(slot)
        if not used[slot]:
            spans[span + 1] = 0
        if spans[span + 1] == 0:
            continue
        first, length = spans[span], spans[span + 1] - 1
        for k in range(length):
            out[end + k] = heap[first + k]
        spans[span] = end
        end += length
    spans[_END] = end


_AT_START, _AT_END, _ANYWHERE = 0, 1, 2
_WHERE: Final[dict[TextOperator, int]] = {
    "startsWith": _AT_START,
    "endsWith": _AT_END,
    "contains": _ANYWHERE,
}


@kernel(nogil=True)
def _match(slots: Int32Array, texts: TextHeap, part: Uint8Array, where: int, matches: BoolArray) -> None:
    """Which texts have the part at their start, at their end, or anywhere; no text has it, where a slot is NO_SLOT."""
    for i in range(len(slots)):
        matches[i] = False
        if slots[i] < 0:
            continue
        span = span_of(slots[i])
        start, length = texts.spans[span], texts.spans[span + 1] - 1
        last = length - len(part)
        first = last if where == _AT_END else 0
        for offset in range(first, (0 if where == _AT_START else last) + 1):
            if offset < 0 or offset > last:
                break
            k = 0
            while k < len(part) and texts.heap[start + offset + k] == part[k]:
                k += 1
            if k == len(part):
                matches[i] = True
                break


class TextDictionary(SlotTable):
    """Slots for texts, by their 128-bit identities, with the text of each slot."""

    def __init__(self, arena: Arena, name: str) -> None:
        super().__init__(arena, name)
        slots = self.capacity
        self._texts = TextHeap(
            arena.open(f"{name}.text.low", np.uint64, slots),
            arena.open(f"{name}.text.high", np.uint64, slots),
            arena.open(f"{name}.text.span", np.int64, _FIRST + 2 * slots),
            arena.open(f"{name}.text.heap", np.uint8, _FIRST_HEAP_BYTES),
        )

    @property
    def heap(self) -> TextHeap:
        """The texts as they are, for kernels."""
        return self._texts

    def intern_texts(self, texts: Texts, low: Uint64Array, high: Uint64Array) -> Int32Array:
        """The slot of each of n texts (int32; NO_SLOT for null), each counted once more.

        :param low: with ``high``, their identities
        """
        slots, fresh = self._intern(low, high, texts.present)
        self._make_room(int((texts.offsets[fresh + 1] - texts.offsets[fresh]).sum()))
        _store(fresh, slots, texts.offsets, texts.data, self.key_low, self.key_high, self._texts)
        return slots

    def text(self, slot: Slot) -> str | None:
        """The text in a slot that is in use; None for NO_SLOT."""
        if slot < 0:
            return None
        span = _FIRST + 2 * slot
        first, length = self._texts.spans[span], self._texts.spans[span + 1] - 1
        return bytes(self._texts.heap[first : first + length]).decode()

    def matching(self, slots: Int32Array, operator: TextOperator, part: bytes) -> BoolArray:
        """Which of n slots in use (bool, n) hold a text that begins with the part, ends with it, or has it in it.

        :param part: UTF-8; in it no character begins inside another, so bytes tell what code points would
        """
        matches = np.empty(len(slots), np.bool_)
        _match(slots, self._texts, np.frombuffer(part, np.uint8), _WHERE[operator], matches)
        return matches

    def _make_room(self, more: int) -> None:
        """Make room for the texts of new slots, of ``more`` bytes at most."""
        if self.capacity > len(self._texts.low):
            self._texts = self._texts._replace(
                low=self._arena.resize(f"{self._name}.text.low", self.capacity),
                high=self._arena.resize(f"{self._name}.text.high", self.capacity),
                spans=self._arena.resize(f"{self._name}.text.span", _FIRST + 2 * self.capacity),
            )
        spans, heap = self._texts.spans, self._texts.heap
        if spans[_END] + more <= len(heap):
            return
        # to move all texts takes long where there are many, so only if half of the bytes are of slots no longer in use
        used_bytes = np.maximum(spans[_FIRST + 1 :: 2][self.in_use] - 1, 0).sum()
        if 2 * used_bytes <= spans[_END]:
            out = np.empty(len(heap), np.uint8)
            _compact(self.in_use, spans, heap, out)
            end = int(spans[_END])
            heap[:end] = out[:end]
        needed = int(spans[_END]) + more
        if needed > len(heap):
            resized = self._arena.resize(f"{self._name}.text.heap", 1 << needed.bit_length())
            self._texts = self._texts._replace(heap=resized)
