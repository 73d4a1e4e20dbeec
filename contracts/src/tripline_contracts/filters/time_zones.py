"""Time zones by their IANA names, from the data of the pinned package and never from the machine's.

What was midnight in Berlin must not depend on which machine asks: `VERSION` names the data.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import version
from importlib.resources import files
from typing import Final
from zoneinfo import ZoneInfo

VERSION: Final = version("tzdata")
"""Of the package: 2026.6 has IANA's release 2026f."""

LONGEST_NAME: Final = 64


@cache
def names() -> frozenset[str]:
    """Every name that the data has, as IANA spells it."""
    return frozenset((files("tzdata") / "zones").read_text(encoding="utf-8").split())


@cache
def time_zone(name: str) -> ZoneInfo:
    """The zone of that name. Raises KeyError if there is none."""
    if name not in names():
        raise KeyError(name)
    with (files("tzdata") / "zoneinfo" / name).open("rb") as data:
        return ZoneInfo.from_file(data, key=name)
