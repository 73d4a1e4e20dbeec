"""How far engines have judged transactions.v1, as their order records say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class OrderProgress:
    """Of several engines on one topic the first that has judged all that is wanted counts."""

    def __init__(self, wanted: Mapping[int, int]) -> None:
        """`wanted`: by partition the offset that has to be reached."""
        self._wanted = wanted
        self._until: dict[str, dict[int, int]] = {}
        self._complete: str | None = None
        self.is_over = False
        """A later micro-batch is there, so that all that the one before has to say is written."""

    def see(self, record: Mapping[str, Any]) -> None:
        """Takes an order record. Raises KeyError or TypeError for what is none."""
        engine = record["engine"]
        if engine == self._complete:
            self.is_over = True
        until = self._until.setdefault(engine, {})
        for part in record["transactions"]:
            until[part["partition"]] = max(until.get(part["partition"], 0), part["until"])
        if self._complete is None and all(
            until.get(number, 0) >= least for number, least in self._wanted.items()
        ):
            self._complete = engine

    @property
    def is_complete(self) -> bool:
        """An engine has judged all that is wanted."""
        return self._complete is not None

    @property
    def until(self) -> dict[int, int]:
        """By partition how far that engine came, or the one that came furthest."""
        if self._complete is not None:
            return self._until[self._complete]
        return max(self._until.values(), key=lambda until: sum(until.values()), default={})
