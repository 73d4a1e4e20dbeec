"""A rebuild beside an engine that still judges is refused, whichever engine is meant."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

import pytest

from tripline_engine.errors import EngineRunning
from tripline_engine.kafka_log.record import Record
from tripline_engine.rebuild.running_engine import refuse_running

if TYPE_CHECKING:
    from tripline_engine.archive.journal import Journal


class Order:
    """The recorded order, to which something comes while somebody waits."""

    def __init__(self, *later: bytes | None) -> None:
        self._values: list[bytes | None] = [recorded("old")]
        self._later = later

    def end(self, partition: int) -> int:
        assert partition == 0
        return len(self._values)

    def runs(self, partition: int, start: int) -> list[list[Record]]:
        assert partition == 0
        return [
            [Record(0, offset, 0, None, value, ())]
            for offset, value in enumerate(self._values)
            if offset >= start
        ]

    def wait(self, seconds: float) -> None:
        assert seconds > 1, "longer than from one tick to the next"
        self._values += self._later


def recorded(engine: str) -> bytes:
    return json.dumps({"engine": engine, "sequence": 1}).encode()


def refuse(order: Order, engine: str | None) -> None:
    refuse_running(cast("Journal", order), engine, order.wait)


@pytest.mark.parametrize("engine", [None, "live"])
def test_one_that_records_is_running(engine: str | None) -> None:
    with pytest.raises(EngineRunning, match="engine live still runs"):
        refuse(Order(recorded("live")), engine)


@pytest.mark.parametrize("later", [(), (b"", None, b"{", b"[]", b'{"engine":7}'), (recorded("another"),)])
def test_silence_garbage_and_others_are_none(later: tuple[bytes | None, ...]) -> None:
    refuse(Order(*later), "live")
