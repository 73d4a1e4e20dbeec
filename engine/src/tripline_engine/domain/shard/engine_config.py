"""The configuration that an engine's checkpoint pins for its whole life, and the clock that it reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tripline_contracts.event_type import EventType

Clock = Literal["wall", "data"]


@dataclass(frozen=True, slots=True)
class EngineConfig:
    """One engine's identity.

    `anchors` come in the event type's order. `hash_key` is the SipHash key, two unsigned 64-bit numbers, drawn once
    per checkpoint. `clock` is "wall" for live traffic, "data" for old data: the record clock then moves with data only.
    Without `anchors_on_demand` all anchors are kept, needed or not, as engines of before did: to replay their order.
    """

    engine_id: str
    event_type: EventType
    anchors: tuple[str, ...]
    shards: int
    hash_key: tuple[int, int]
    clock: Clock
    anchors_on_demand: bool = True
