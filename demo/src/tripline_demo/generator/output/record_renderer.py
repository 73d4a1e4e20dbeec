"""Transactions of the stream as Kafka records, at 20,000 a second beside everything else: plain formatting."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Final

from tripline_contracts import backfill, cloudevents
from tripline_demo.generator.breakage import Breakage
from tripline_demo.generator.output.outlet import Headers, Record
from tripline_demo.generator.shape import Kind, Made
from tripline_demo.generator.trade import Trade

SOURCE: Final = "/generator"
EVENT_TYPE: Final = cloudevents.type_of("TransactionMade")

_RECENT: Final = 64


class Renderer:
    """Turns transactions into records; keeps the last few to send them again where the stream asks for it.

    `run` begins every transaction id and is new for every start of the process and every new stream: ids that
    came again within minutes would be taken for duplicates by the engine.
    """

    def __init__(self, run: str, trade: Trade) -> None:
        self._run, self._trade = run, trade
        self._breakage = Breakage(trade.event_type)
        self._recent: deque[Record] = deque(maxlen=_RECENT)

    def records(self, stream: Iterable[Made], now: int) -> Iterator[Record]:
        """One record per transaction, all with the record time `now`."""
        attributes = headers_without_id(now)
        for made in stream:
            kind = made.kind
            if kind == Kind.BROKEN:
                good = self._good(made, now, attributes).value
                yield Record(None, self._breakage.broken(made.number, good), now)
            elif kind == Kind.DUPLICATE and self._recent:
                again = self._recent[made.number % len(self._recent)]
                yield Record(again.key, again.value, now, again.headers)
            else:
                good_record = self._good(made, now, attributes)
                self._recent.append(good_record)
                yield good_record

    def _good(self, made: Made, now: int, attributes: Headers) -> Record:
        identity = f"{self._run}-{made.number}"
        return Record(
            self._trade.key(made),
            self._trade.json_value(made, identity, now),
            now,
            [("ce_id", identity.encode()), *attributes],
        )


def backfill_headers(backfill_id: str | None) -> Headers:
    """The header of a record that belongs to this backfill; none where there is none."""
    return [] if backfill_id is None else [(backfill.HEADER, backfill_id.encode())]


def headers_without_id(now: int) -> Headers:
    """The CloudEvents attributes that all records of one moment (ms) share."""
    shared = cloudevents.headers("-", EVENT_TYPE, SOURCE, now)
    return [header for header in shared if header[0] != "ce_id"]
