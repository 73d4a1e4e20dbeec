"""One look at all parts of the line at once, and what earlier looks saw."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from alert_api.domain.health.part_health import PARTS, PartHealth, away, not_told
from alert_api.domain.health.reading import Reading
from alert_api.domain.health.verdicts import judged, published_position
from alert_api.errors import UpstreamUnavailable

Probe = Callable[[], Reading]
"""Asks one part. Raises UpstreamUnavailable where it does not answer."""

KEPT_MS: Final = 2_000
"""As long as this a look is given to everybody who asks: many who watch cost the parts no more than one."""
_AT_ONCE: Final = 8


@dataclass(frozen=True, slots=True)
class LineHealth:
    """All parts as they were at `looked_at`, and the newest position of the log of rules, where it is known."""

    looked_at: int
    published: int | None
    parts: tuple[PartHealth, ...]


class HealthDesk:
    """Remembers when it last saw each part; until it has seen one, nobody can say that it was ever there."""

    def __init__(
        self,
        probes: Mapping[str, Probe],
        clock: Callable[[], int],
        closing: Sequence[Callable[[], None]] = (),
    ) -> None:
        """`probes` by the names of parts; a part without one is not seen. `clock` gives ms since the epoch."""
        self._probes, self._clock, self._closing = probes, clock, closing
        self._lock = threading.Lock()
        self._seen_at: dict[str, int] = {}
        self._last: LineHealth | None = None

    def look(self) -> LineHealth:
        """The line as it is now, KEPT_MS old at most."""
        with self._lock:
            if self._last is None or not 0 <= self._clock() - self._last.looked_at < KEPT_MS:
                self._last = self._look()
            return self._last

    def close(self) -> None:
        """Free what the probes hold."""
        for close in self._closing:
            close()

    def _look(self) -> LineHealth:
        with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="health") as pool:
            answers = dict(zip(self._probes, pool.map(_asked, self._probes.values()), strict=True))
        now = self._clock()
        self._seen_at |= {name: now for name, answer in answers.items() if isinstance(answer, Reading)}
        relay = answers.get("relay")
        published = published_position(relay if isinstance(relay, Reading) else None)
        return LineHealth(
            now, published, tuple(self._judged(name, answers.get(name), published) for name in PARTS)
        )

    def _judged(self, name: str, answer: Reading | str | None, published: int | None) -> PartHealth:
        if answer is None:
            return not_told(name)
        if isinstance(answer, str):
            return away(name, self._seen_at.get(name), answer)
        return judged(name, self._seen_at[name], answer, published)


def _asked(probe: Probe) -> Reading | str:
    """The reading, or why there is none."""
    try:
        return probe()
    except UpstreamUnavailable as error:
        return str(error)
