"""What the engine made of a replay: taken, refused by reason, known already, or not judged yet.

The engine says up to which offset it has judged (`engine-order.v1`) and what it refused (`rejected-transactions.v1`).
What it knew already it counts, and does not list; so that is told from the log by its own rule: an id comes again, with
the same value of the first anchor that it has, within the reach of deduplication.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from tripline_contracts import exact_json
from tripline_contracts.errors import InvalidJson
from tripline_contracts.event_type import GLOBAL_ANCHOR, EventType
from tripline_demo.generator.errors import Unheard
from tripline_demo.generator.recordings.recording import BadLine, Line
from tripline_demo.generator.recordings.replay import Reception, Replay

DEFAULT_REACH_MS: Final = 900_000
"""The engine's defaults: ten minutes late, five minutes early."""

Spot = tuple[int, int]
"""A partition and an offset of transactions.v1."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What the engine said.

    :ivar until: by partition the offset behind the last one that was judged
    :ivar refused: reasons, by where the records are
    :ivar reach_ms: of deduplication
    """

    until: Mapping[int, int]
    refused: Mapping[Spot, str]
    reach_ms: int = DEFAULT_REACH_MS


@dataclass(frozen=True, slots=True)
class Stored:
    """A record of transactions.v1; `time` in ms."""

    partition: int
    offset: int
    time: int
    value: bytes
    source: bytes


class Receptionist:
    """Looks at all records since before the replay, partition by partition, each in its order."""

    def __init__(self, source: str, judged: Judged, event_type: EventType) -> None:
        self._source, self._judged, self._event_type = source.encode(), judged, event_type
        self._accepted: dict[bytes, int] = {}
        self._taken = self._known = self._waiting = 0
        self._refused: Counter[str] = Counter()

    def see(self, record: Stored) -> None:
        """Counts it if it is of the replay."""
        ours = record.source == self._source
        reason = self._judged.refused.get((record.partition, record.offset))
        if reason is not None:
            self._refused[reason] += ours
            return
        if record.offset >= self._judged.until.get(record.partition, 0):
            self._waiting += ours
            return
        if self._comes_again(record):
            self._known += ours
        else:
            self._taken += ours

    def reception(self) -> Reception:
        """As far as records were seen."""
        refused = {reason: count for reason, count in sorted(self._refused.items()) if count}
        return Reception(self._taken, self._known, refused, self._waiting)

    def _comes_again(self, record: Stored) -> bool:
        identity = identity_of(record.value, self._event_type)
        if identity is None:
            return False
        before = self._accepted.get(identity)
        if before is not None and abs(record.time - before) <= self._judged.reach_ms:
            return True
        self._accepted[identity] = record.time
        return False


def identity_of(value: bytes, event_type: EventType) -> bytes | None:
    """16 bytes for the id and the value of the first anchor that is there; None for what is no transaction."""
    try:
        data = exact_json.loads(value)
    except InvalidJson:
        return None
    if not isinstance(data, dict):
        return None
    parts = [str(data.get(event_type.id_field.name))]
    for anchor in event_type.anchors:
        names = () if anchor == GLOBAL_ANCHOR else event_type.field(anchor).names
        given = next((data[name] for name in names if data.get(name) not in (None, "")), None)
        if given is not None:
            parts += [anchor, str(given)]
            break
    return hashlib.blake2b("\0".join(parts).encode(errors="replace"), digest_size=16).digest()


def play(replay: Replay, lines: Iterable[Line | BadLine], source: str, engine: Engine) -> None:
    """Runs the replay, then asks what the engine made of it; why that cannot be said stops no replay."""
    progress = replay.progress
    try:
        engine.begin()
    except Unheard as error:
        progress.engine = str(error)
    replay.run(lines)
    if progress.engine is not None:
        return
    if progress.earliest is None:
        progress.engine = Reception(0, 0, {}, 0)
        return
    try:
        progress.engine = engine.reception(source, progress.earliest)
    except Unheard as error:
        progress.engine = str(error)


class Engine(Protocol):
    """Tells what the engine made of a replay; raises Unheard where that cannot be said."""

    def begin(self) -> None:
        """Before the first record is sent."""
        ...

    def reception(self, source: str, since: int) -> Reception:
        """Once all are in Kafka; waits for the engine. `since`: the earliest record time of the replay, in ms."""
        ...
