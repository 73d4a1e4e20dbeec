"""The event types that this oracle knows, and which of them it judges by (decision 0040).

A type is told here anew, from the decision and semantics 1; the contracts' YAML is not read.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

SIDE = "side"


@dataclass(frozen=True, slots=True)
class EventType:
    """`fields` are all of them in the order in which an alert shows them, `keys` those with texts.

    `enums` are the keys that have no other values, `aliases` other names by the field's, `nullable` the keys that may
    be missing, `addresses` those that are IP addresses, `positions` those that are positions on the earth. `parties`
    have, by name and side in order, the sides' keys.
    """

    identity: str
    time: str
    amount: str
    ingestion: str
    fields: tuple[str, ...]
    anchors: tuple[str, ...]
    nullable: frozenset[str]
    enums: dict[str, tuple[str, ...]] = field(hash=False)
    aliases: dict[str, str] = field(default_factory=dict, hash=False)
    addresses: frozenset[str] = frozenset()
    positions: frozenset[str] = frozenset()
    parties: dict[str, dict[str, str]] = field(default_factory=dict, hash=False)

    @property
    def keys(self) -> tuple[str, ...]:
        """The fields that are texts, in name order."""
        others = {self.identity, self.time, self.amount, self.ingestion}
        return tuple(sorted(name for name in self.fields if name not in others))

    @property
    def groupable(self) -> tuple[str, ...]:
        """The fields that rules may group by, in name order."""
        return tuple(sorted((*self.keys, self.amount)))

    @property
    def numbers(self) -> tuple[str, ...]:
        """The fields that filters compare by size."""
        return (self.amount, self.time, self.ingestion)

    @property
    def usable(self) -> tuple[str, ...]:
        """The fields that rules may use of the history."""
        return (self.time, *self.groupable, self.ingestion, *self.parties, SIDE)


PAYMENTS = EventType(
    identity="transactionId",
    time="eventTime",
    amount="paymentAmount",
    ingestion="ingestionTimestamp",
    fields=(
        "transactionId",
        "eventTime",
        "payeeId",
        "beneficiaryId",
        "paymentAmount",
        "paymentType",
        "ingestionTimestamp",
    ),
    anchors=("payeeId", "beneficiaryId"),
    nullable=frozenset({"payeeId", "beneficiaryId"}),
    enums={"paymentType": ("CSH", "CRD")},
    aliases={"payerId": "payeeId"},
    parties={"account": {"payer": "payeeId", "payee": "beneficiaryId"}},
)
AUTHORISATIONS = EventType(
    identity="authorisationId",
    time="authorisedAt",
    amount="amount",
    ingestion="ingestionTimestamp",
    fields=(
        "authorisationId",
        "authorisedAt",
        "cardId",
        "merchantId",
        "deviceId",
        "merchantCategory",
        "entryMode",
        "amount",
        "ingestionTimestamp",
    ),
    anchors=("cardId", "merchantId"),
    nullable=frozenset({"deviceId"}),
    enums={"entryMode": ("CHIP", "CONTACTLESS", "ONLINE", "SWIPE")},
)
# Of the catalogue of rules.
TRANSFERS = EventType(
    identity="transferId",
    time="executedAt",
    amount="amount",
    ingestion="receivedAt",
    fields=(
        "transferId",
        "executedAt",
        "fromAccount",
        "toAccount",
        "fromCustomer",
        "toCustomer",
        "description",
        "ageBand",
        "fromPosition",
        "amount",
        "receivedAt",
    ),
    anchors=("fromAccount", "toAccount", "fromCustomer", "toCustomer"),
    nullable=frozenset({"fromCustomer", "toCustomer", "description", "fromPosition"}),
    enums={"ageBand": ("UNKNOWN", "UNDER_18", "FROM_18", "FROM_26", "FROM_65", "FROM_80")},
    positions=frozenset({"fromPosition"}),
)
ACTIVITIES = EventType(
    identity="activityId",
    time="happenedAt",
    amount="amount",
    ingestion="ingestionTimestamp",
    fields=(
        "activityId",
        "happenedAt",
        "accountId",
        "kind",
        "logInResult",
        "profilePart",
        "beneficiaryId",
        "deviceId",
        "ipAddress",
        "amount",
        "ingestionTimestamp",
    ),
    anchors=("accountId", "deviceId", "beneficiaryId"),
    nullable=frozenset({"logInResult", "profilePart", "beneficiaryId", "deviceId", "ipAddress"}),
    enums={
        "kind": ("LOG_IN", "PAYMENT", "PROFILE_CHANGE"),
        "logInResult": ("FAILED", "PASSED"),
        "profilePart": ("ADDRESS", "EMAIL", "PASSWORD", "PHONE"),
    },
    addresses=frozenset({"ipAddress"}),
)
SHIPPED = {"transaction": PAYMENTS, "card-authorisation": AUTHORISATIONS, "activity": ACTIVITIES}
"""By their names."""

_judged: ContextVar[EventType] = ContextVar("event_type", default=PAYMENTS)


def current_type() -> EventType:
    """The event type in use: payments, unless `judge_by` says otherwise."""
    return _judged.get()


@contextmanager
def judge_by(event_type: EventType) -> Iterator[None]:
    """Judges by this type inside the block."""
    token = _judged.set(event_type)
    try:
        yield
    finally:
        _judged.reset(token)
