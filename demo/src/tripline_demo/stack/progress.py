"""Shows what is being done: one line per finished step, and a moving line for what is waited for."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.status import Status


class Progress:
    """Steps on a console. On a terminal the moving line counts seconds; in a pipe there are the finished lines only."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.begun = time.monotonic()
        self._status: Status | None = None

    def seconds(self) -> float:
        """Since the beginning."""
        return time.monotonic() - self.begun

    @contextmanager
    def waiting(self, for_what: str) -> Iterator[None]:
        """Shows the moving line meanwhile."""
        with self.console.status(for_what, spinner="dots") as status:
            self._status = status
            try:
                yield
            finally:
                self._status = None

    def now(self, for_what: str) -> None:
        """Changes the moving line."""
        if self._status is not None:
            self._status.update(for_what)

    def done(self, what: str, seconds: float) -> None:
        """A step is finished."""
        self.console.print(
            f"  [green]✓[/] {escape(what)} [dim]{seconds:.1f} s[/]", highlight=False, soft_wrap=True
        )

    def note(self, sentence: str) -> None:
        """Something worth knowing."""
        self.console.print(f"  [yellow]·[/] {escape(sentence)}", highlight=False, soft_wrap=True)

    @contextmanager
    def step(self, what: str) -> Iterator[None]:
        """A step from begin to end."""
        begun = time.monotonic()
        with self.waiting(f"{what} …"):
            yield
        self.done(what, time.monotonic() - begun)
