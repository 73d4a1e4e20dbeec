"""The traffic of one event type: the stream, its scenarios, its frauds, and its JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tripline_contracts.event_type import EventType
from tripline_demo.generator.frauds import Fraud
from tripline_demo.generator.shape import Shape


def _nothing(_shape: Shape, _start: int, _count: int) -> list[Any]:
    return []


@dataclass(frozen=True, slots=True)
class Trade:
    """Everything in the generator that knows an event type by name.

    Without `scenarios` there is no stream: recordings can be replayed and single transactions sent.

    :ivar populations: the usual sizes of the populations, by their names in the API
    :ivar make: transactions number start to start + count - 1 of a shape
    :ivar json_value: a transaction under an id; the last argument is its record time (ms), its age counts back from it
    :ivar key: the record key
    :ivar cast: the fields whose values a play tells
    """

    event_type: EventType
    populations: Mapping[str, int] = field(default_factory=dict)
    scenarios: tuple[str, ...] = ()
    make: Callable[[Shape, int, int], Sequence[Any]] = _nothing
    json_value: Callable[[Any, str, int], bytes] = lambda _made, _identity, _now: b""
    key: Callable[[Any], bytes] = lambda _made: b""
    cast: tuple[str, ...] = ()
    frauds: tuple[Fraud, ...] = ()

    @property
    def has_traffic(self) -> bool:
        """Whether there is a stream of such transactions."""
        return bool(self.scenarios)

    def fraud(self, name: str) -> Fraud | None:
        """The fraud of that name."""
        return next((fraud for fraud in self.frauds if fraud.name == name), None)
