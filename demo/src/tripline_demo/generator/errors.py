"""Everything that the generator raises on purpose."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


class GeneratorError(Exception):
    """Base of the errors below."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with an input: the field, and what was expected of it."""

    field: str
    message: str


class InvalidInput(GeneratorError, ValueError):
    """An input that cannot be used, with everything that is wrong with it."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = tuple(problems)
        super().__init__("; ".join(f"{p.field}: {p.message}" for p in self.problems))


class Unsendable(GeneratorError):
    """Kafka did not take the record in time, or refused it. The message says which."""


class Unheard(GeneratorError):
    """What the engine made of a replay cannot be said; one sentence says why."""


class ReplayNotFound(GeneratorError):
    """No replay has this id."""

    def __init__(self, replay_id: str) -> None:
        super().__init__(f"there is no replay {replay_id}")


class TooManyReplays(GeneratorError):
    """As many replays as may run at a time are running."""


class FraudNotFound(GeneratorError):
    """No fraud has this name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"there is no scenario {name!r}")


class TooManyPlays(GeneratorError):
    """As many plays as may run at a time are running."""


class InvalidSettings(GeneratorError):
    """The environment or the command line contradicts itself; one sentence says how."""
