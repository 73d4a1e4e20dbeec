"""What a change is estimated to say and cost, in lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

_DAY_MS: Final = 86_400_000
_HOUR_MS: Final = 3_600_000
_SIZES: Final = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))
Json = Mapping[str, Any]


def estimate_lines(estimate: Json | None) -> Iterator[str]:
    """The figures with their ranges, or how far the estimate is; nothing where none is made for such a change."""
    if estimate is None:
        return
    state, note = estimate["state"], estimate["note"]
    if state == "done":
        yield _figures(estimate["figures"])
        yield _basis(estimate["sample"])
        if estimate["actual"] is not None:
            yield _actual(estimate["actual"])
        return
    head = {
        "waiting": "estimate: not yet",
        "running": "estimate: it is being made",
        "failed": f"estimate: failed, because {estimate['failure']}",
        "unavailable": "estimate: none",
    }[state]
    yield head if note is None else f"{head} ({note})"


def _figures(figures: Json) -> str:
    held = figures["bytes"]
    return (
        f"estimate: {_told(figures['alertsPerDay'])} alerts a day, of {_told(figures['groupsPerDay'])} groups;"
        f" {_size(held['value'])}{_range({**held, 'low': _size(held['low']), 'high': _size(held['high'])})} held;"
        f" {_told(figures['evaluationsPerSecond'])} evaluations a second"
    )


def _basis(sample: Json) -> str:
    share = "the one group" if not sample["grouped"] else f"1/{sample['parts']} of the groups"
    days = (sample["to"] - sample["from"]) / _DAY_MS
    return f"from {share} over {days:.3g} days; in 95 of 100 cases a day lies within the range in brackets"


def _actual(actual: Json) -> str:
    hours = (actual["to"] - actual["from"]) / _HOUR_MS
    return f"first day: {actual['alerts']} alerts of {actual['groups']} groups in {hours:.3g} hours"


def _told(figure: Json) -> str:
    return f"{figure['value']}{_range(figure)}"


def _range(figure: Json) -> str:
    return "" if figure["low"] is None else f" ({figure['low']} to {figure['high']})"


def _size(text: str | None) -> str | None:
    if text is None:
        return None
    number = float(text)
    for size, unit in _SIZES:
        if number >= size:
            return f"{number / size:.1f} {unit}"
    return f"{number:.0f} B"
