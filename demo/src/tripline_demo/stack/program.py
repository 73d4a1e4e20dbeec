"""One process of the stack, as a value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Literal

Check = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Program:
    """A program that the supervisor runs, and the check that it is up.

    A one-shot program is up when it has ended with 0; any other when `ready` says so. Times in seconds.
    """

    name: str
    title: str
    command: tuple[str, ...]
    directory: Path
    ready: Check | None
    environment: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    user: str | None = None
    stop_signal: Literal["TERM", "INT"] = "TERM"
    stop_seconds: int = 20
    start_seconds: int = 60
    needs: tuple[str, ...] = ()
    """Names of the programs that have to be up before this one may start."""
    awaited_last: bool = False
    """Slow, and nothing else needs it: the stack is filled meanwhile."""

    @property
    def one_shot(self) -> bool:
        """Whether it does its work and ends."""
        return self.ready is None
