"""Rejected records as people see them, and the one decision about each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from alert_api.domain.rejected_records import Decision, Delivery, RecordPlace, State, state_of
from alert_api.errors import AlreadyDecided, CorrectionNotReadable, RejectedRecordNotFound
from tripline_contracts import exact_json
from tripline_contracts.errors import InvalidJson, SchemaViolation

MAX_VALUE_BYTES = 512 * 1024
"""Of what is sent again; the engine hands on no more of a record either."""


@dataclass(frozen=True, slots=True)
class RejectedRecord:
    """What the engine said about a record, and what people did.

    :ivar cause: the engine's reason, a word
    :ivar length: bytes of the value as it was sent
    :ivar value: at most its first 512 KiB; None where there was none, or where it was not asked for
    :ivar rejected_at: ms since the epoch
    :ivar corrects: the record that this one was sent to correct
    """

    place: RecordPlace
    cause: str
    detail: str
    length: int
    sha256: str
    rejected_at: int
    value: bytes | None = None
    decision: Decision | None = None
    delivery: Delivery | None = None
    corrects: RecordPlace | None = None

    @property
    def state(self) -> State:
        return state_of(self.decision, self.delivery)

    @property
    def whole_value(self) -> bytes | None:
        """The value, if all of it is here and it is not empty."""
        return self.value if self.value and len(self.value) == self.length else None


@dataclass(frozen=True, slots=True)
class RejectedFilter:
    """Every condition given must hold. Times are ms since the epoch, both ends included, of the rejection."""

    cause: str | None = None
    state: State | None = None
    earliest: int | None = None
    latest: int | None = None


@dataclass(frozen=True, slots=True)
class AfterRecord:
    """The last record of a page: the next one starts right after it in (rejected_at down, place up)."""

    rejected_at: int
    place: RecordPlace


@dataclass(frozen=True, slots=True)
class RejectedPage:
    """Some records, newest first; ``following`` is None on the last page."""

    records: tuple[RejectedRecord, ...]
    following: AfterRecord | None


@dataclass(frozen=True, slots=True)
class RejectedCount:
    """How many there are of one cause in one state, and when the first and the last came."""

    cause: str
    state: State
    count: int
    first: int
    last: int


class RejectedRecords(Protocol):
    """The stored records. All raise StoreUnavailable when the database is away."""

    def page(self, record_filter: RejectedFilter, after: AfterRecord | None, limit: int) -> RejectedPage:
        """At most ``limit`` records after ``after``, without their values."""

    def get(self, record_place: RecordPlace) -> RejectedRecord | None:
        """One record with its value."""

    def counts(self) -> Sequence[RejectedCount]:
        """By cause and state."""

    def decide(self, record_place: RecordPlace, decision: Decision) -> bool:
        """Stores the decision; False where the record has one."""


class RejectedDesk:
    """Where people decide; `check` raises SchemaViolation for a decoded value that is no event of the type."""

    def __init__(
        self, records: RejectedRecords, check: Callable[[object], None], clock: Callable[[], int]
    ) -> None:
        self.records = records
        self._check, self._clock = check, clock

    def get(self, record_place: RecordPlace) -> RejectedRecord:
        """Raises RejectedRecordNotFound."""
        record = self.records.get(record_place)
        if record is None:
            raise RejectedRecordNotFound(str(record_place))
        return record

    def send_again(
        self, record_place: RecordPlace, actor: str, reason: str, text: str | None, backfill: str | None
    ) -> RejectedRecord:
        """Sends `text` in the record's stead, or the record as it came where there is none.

        Raises RejectedRecordNotFound, AlreadyDecided, CorrectionNotReadable.
        """
        record = self.get(record_place)
        value = record.whole_value if text is None else text.encode("utf-8")
        if value is None:
            raise CorrectionNotReadable(
                "of this record only the beginning is here; expected the value to send"
            )
        self._check_readable(value)
        return self._decide(record, Decision("sendAgain", actor, reason, self._clock(), value, backfill))

    def discard(self, record_place: RecordPlace, actor: str, reason: str) -> RejectedRecord:
        """It stays as it is. Raises RejectedRecordNotFound, AlreadyDecided."""
        return self._decide(self.get(record_place), Decision("discard", actor, reason, self._clock()))

    def _check_readable(self, value: bytes) -> None:
        """What the engine would refuse as unparseable is refused here, before it is a second rejected record."""
        if len(value) > MAX_VALUE_BYTES:
            raise CorrectionNotReadable(f"expected at most {MAX_VALUE_BYTES} bytes; these are {len(value)}")
        try:
            self._check(exact_json.loads(value))
        except (InvalidJson, SchemaViolation) as error:
            raise CorrectionNotReadable(str(error)) from error

    def _decide(self, record: RejectedRecord, decision: Decision) -> RejectedRecord:
        if record.decision is None and self.records.decide(record.place, decision):
            return self.get(record.place)
        record = self.get(record.place)
        first = record.decision
        assert first is not None, "a decision is never taken back"
        if not decision.repeats(first):
            raise AlreadyDecided(str(record.place), first.kind, first.actor, first.decided_at)
        return record
