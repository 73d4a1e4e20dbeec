"""The head record of a shard's state log: what the state is, apart from the segments and the rule book."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from tripline_contracts.event_type import EventType
from tripline_engine.domain.rules.log_position import PositionReport
from tripline_engine.domain.rules.named_values import NamedValues
from tripline_engine.domain.rules.rule_book import RuleBook
from tripline_engine.domain.rules.watermarks import Watermarks
from tripline_engine.domain.state_log.anchor_log import AnchorLog
from tripline_engine.domain.state_log.bucket_log import BucketLog
from tripline_engine.domain.state_log.firing_log import FiringLog
from tripline_engine.domain.state_log.list_log import read_lists, save_lists
from tripline_engine.domain.state_log.segment_log import DEFAULT_TUNING, SegmentLog, SegmentTuning
from tripline_engine.domain.state_log.state_log import StateLog
from tripline_engine.domain.transactions.entries import rows_type
from tripline_engine.domain.transactions.hash_key import HashKey

_FORMAT = 5
# Format 2 has segments of which no field is gone, format 3 has no pages, format 4 has lists within the rule book.
_READABLE = (2, 3, 4, _FORMAT)
_HEAD, _RULES = "head", "rules"


@dataclass(slots=True)
class Head:
    """A shard's durable state.

    :ivar sequence: how many micro-batches the shard has taken
    :ivar nonce: drawn anew with each; a projection is valid if it names the same
    :ivar book_nonce: the nonce of the micro-batch that last changed the rule book
    :ivar reported: the last report of the book's position; None before the first
    :ivar needed: the anchors that rules need; None where all are kept
    """

    sequence: int
    nonce: int
    book_nonce: int
    watermarks: Watermarks
    anchors: dict[str, AnchorLog]
    reported: PositionReport | None = None
    needed: frozenset[str] | None = None

    @staticmethod
    def read(log: StateLog, event_type: EventType, tuning: SegmentTuning = DEFAULT_TUNING) -> Head:
        """The head in the log, or that of a shard that has seen nothing."""
        data = log.get(_HEAD)
        if data is None:
            kept = frozenset(event_type.kept_anchors)
            return Head(0, 0, 0, Watermarks.new(event_type), _empty(log, event_type, tuning), needed=kept)
        stored: dict[str, Any] = msgspec.json.decode(data)
        if stored["format"] not in _READABLE:
            raise ValueError(
                f"the state log is of format {stored['format']}; this engine reads formats up to {_FORMAT}"
            )
        watermarks = Watermarks.of_json(stored["visibility"])
        watermarks.open_anchors(event_type)
        # heads of before there were buckets have none
        buckets = stored.get("buckets", {})
        # heads from before the event type declared a party have none for it
        anchors = _empty(log, event_type, tuning) | {
            name: AnchorLog(
                log,
                SegmentLog(name, rows_type(event_type, name), segments, tuning),
                FiringLog.of_json(name, stored["firing"][name]),
                BucketLog(name, buckets.get(name)),
            )
            for name, segments in stored["segments"].items()
        }
        return Head(
            stored["sequence"],
            stored["nonce"],
            stored["bookNonce"],
            watermarks,
            anchors,
            # heads from before there were reports have none
            PositionReport(*stored["reported"]) if stored.get("reported") else None,
            # heads from before anchors were kept on demand have none
            frozenset(stored["needed"]) if stored.get("needed") is not None else None,
        )

    def write(self, log: StateLog) -> None:
        """Put the head into the log."""
        anchors = self.anchors.items()
        stored = {
            "format": _FORMAT,
            "sequence": self.sequence,
            "nonce": self.nonce,
            "bookNonce": self.book_nonce,
            "reported": self.reported and self.reported.to_json(),
            "needed": None if self.needed is None else sorted(self.needed),
            "visibility": self.watermarks.to_json(),
            "segments": {name: anchor.segments.to_json() for name, anchor in anchors},
            "firing": {name: anchor.firing.to_json() for name, anchor in anchors},
            "buckets": {name: anchor.buckets.to_json() for name, anchor in anchors},
        }
        log.put(_HEAD, msgspec.json.encode(stored))


def _empty(log: StateLog, event_type: EventType, tuning: SegmentTuning) -> dict[str, AnchorLog]:
    """The logs of all anchors, in order, before any has accepted anything."""
    return {
        anchor: AnchorLog.empty(log, anchor, rows_type(event_type, anchor), tuning)
        for anchor in event_type.all_anchors
    }


def read_book(
    log: StateLog, event_type: EventType, key: HashKey, before: NamedValues | None = None
) -> RuleBook:
    """The rule book in the log, or an empty one. Of lists in `before`, which are used up, only what is new is read."""
    data = log.get(_RULES)
    if data is None:
        return RuleBook(event_type)
    return RuleBook.of_bytes(data, event_type, lambda lists: read_lists(lists, log, key, before))


def write_book(book: RuleBook, log: StateLog, nonce: int, key: HashKey) -> None:
    """The rule book into the log, by the micro-batch with this nonce."""
    save_lists(book.named, log, nonce, key)
    log.put(_RULES, book.to_bytes())
