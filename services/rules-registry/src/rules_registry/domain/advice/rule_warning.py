"""A warning: a definition is legal, and likely not what its author meant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, get_args

Code = Literal[
    "limit-never-reached",
    "limit-always-reached",
    "filter-excludes-everything",
    "equality-on-average",
    "takes-much-history",
    "same-as-another",
    "shadowed-by-another",
    "name-taken",
]
CODES: Final[tuple[Code, ...]] = get_args(Code)


@dataclass(frozen=True, slots=True)
class RuleWarning:
    """What is likely wrong, and where.

    :ivar field: the member that it is about, like `conditions.all[1].limit`
    :ivar rule_id: the other rule, where there is one
    """

    code: Code
    field: str
    message: str
    rule_id: int | None = None


def name_taken(name: str, rule_id: int) -> RuleWarning:
    """Another living rule has the name."""
    return RuleWarning("name-taken", "name", f"rule {rule_id} is called {name!r} already", rule_id)
