"""A page of the transactions that a value of a derived alert came from, or a limit, each with all of its fields."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import pyarrow as pa

from tripline_contracts.event_type import EventType
from tripline_engine.domain.proof.differences import as_told
from tripline_engine.domain.transactions.parser import Parser
from tripline_engine.domain.transactions.transaction_json import transaction_json
from tripline_engine.prover.derivation import Derivation
from tripline_engine.prover.errors import NothingThere
from tripline_engine.prover.selection import Selected

Of = Literal["value", "limit"]


@dataclass(frozen=True, slots=True)
class PageAsked:
    """`limit` contributors of the condition with that number, without the first `after` of them.

    :ivar of: whether of its value or of the measure that its limit was made of
    """

    condition: int
    of: Of
    after: int
    limit: int


def page_of(derivation: Derivation, asked: PageAsked, event_type: EventType) -> dict[str, Any]:
    """The page as the prover answers it. Raises NothingThere."""
    if derivation.alert is None:
        raise NothingThere("the recorded order brings about no such alert: verify it to learn why")
    conditions = derivation.alert.get("conditions") or [derivation.alert]
    if asked.condition >= len(conditions):
        raise NothingThere(f"the rule has {len(conditions)} conditions, numbered from 0")
    measured = conditions[asked.condition]
    if asked.of == "limit":
        measured = measured.get("limitMeasure")
        if measured is None:
            raise NothingThere(
                f"the limit of condition {asked.condition} is a number: nothing contributes to it"
            )
    contributors = measured["contributors"]
    listed = contributors["transactions"]
    page = listed[asked.after : asked.after + asked.limit]
    end = asked.after + len(page)
    return {
        "derived": as_told(derivation.alert),
        "engine": derivation.engine,
        "count": contributors["count"],
        "listed": len(listed),
        "next": end if end < len(listed) else None,
        "items": _with_transactions(page, derivation.selected, event_type),
    }


def _with_transactions(
    page: list[Mapping[str, Any]], selected: Iterable[Selected], event_type: EventType
) -> list[dict[str, Any]]:
    """Each with its record's place, and the transaction as it was read: the first of equal ids and times counts."""
    wanted = {(one["transactionId"], one["eventTime"]) for one in page}
    records: dict[tuple[str, int], Selected] = {}
    for one in selected:
        key = (one.transaction_id, one.event_time)
        if key in wanted:
            records.setdefault(key, one)
    parser = Parser(event_type)
    return [
        {**one, **_evidence(records.get((one["transactionId"], one["eventTime"])), parser, event_type)}
        for one in page
    ]


def _evidence(one: Selected | None, parser: Parser, event_type: EventType) -> dict[str, Any]:
    if one is None:
        return {"transaction": None, "partition": None, "offset": None}
    parsed = parser.parse(pa.array([one.record.value], pa.binary()))
    row = {name: column[0].as_py() for name, column in parsed.columns.items()}
    return {
        "transaction": transaction_json(row, event_type),
        "partition": one.record.partition,
        "offset": one.record.offset,
    }
