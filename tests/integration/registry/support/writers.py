"""A hundred people with a key each, all at work at once; and an edit of a rule that shows who made it.

Each adds its name to the filter of the rule as it has read it. A definition that was made of an old one would lack the
names that were added since: so the last one has all names only where no edit was lost.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Barrier
from typing import Any, Final, TypeVar

import httpx

from rules_registry.adapters.audit.trail_reader import open_trail
from rules_registry.service.audit_verification import verify
from tests.registry import DEFINITION, RegistryApi

T = TypeVar("T")
WRITERS: Final = 100
TOGETHER_SECONDS: Final = 60.0
"""The longest that the first at work waits for the last."""
BEFORE_ALL: Final = "nobody"
"""The name in the filter before anybody has added one."""


@dataclass(frozen=True, slots=True)
class Writer:
    """A person of the role analyst."""

    name: str
    key: str


def engaged(api: RegistryApi) -> list[Writer]:
    """As many writers, with keys that an admin gives out."""
    with api.client("admin-of-role-for-tests") as admin:
        return [
            Writer(name, admin.post("/v1/keys", json=asked).raise_for_status().json()["key"])
            for name in (f"writer-{number:03}" for number in range(WRITERS))
            for asked in [{"name": name, "role": "analyst"}]
        ]


def at_once(
    api: RegistryApi, writers: Sequence[Writer], work: Callable[[httpx.Client, Writer], T]
) -> list[T]:
    """What came of each one's work, in the order of `writers`; nobody begins before all are there."""
    gate = Barrier(len(writers))

    def one(writer: Writer) -> T:
        with api.client(writer.key) as http:
            gate.wait(TOGETHER_SECONDS)
            return work(http, writer)

    with ThreadPoolExecutor(len(writers)) as pool:
        return list(pool.map(one, writers))


def definition_of(names: Sequence[str]) -> dict[str, Any]:
    """A body of a rule whose filter has these names."""
    return {**DEFINITION, "filter": {"field": "beneficiaryId", "in": [*names]}}


def names_in(definition: Mapping[str, Any]) -> set[str]:
    """The names in the filter of a definition."""
    return set(definition["filter"]["in"])


def with_name(definition: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The same with one name more."""
    return {**definition, "filter": {"field": "beneficiaryId", "in": [*definition["filter"]["in"], name]}}


def added_by_each(definitions: Sequence[Mapping[str, Any]]) -> list[set[str]]:
    """What each definition has that the one before it has not, from the second on; none of them lacks anything."""
    names = [names_in(definition) for definition in definitions]
    pairs = list(itertools.pairwise(names))
    for earlier, later in pairs:
        assert earlier < later, sorted(earlier - later)
    return [later - earlier for earlier, later in pairs]


def require_that_all_holds(dsn: str) -> None:
    """The hash chain of the trail, the log by the trail, and each rule by its events."""
    with open_trail(dsn) as trail:
        assert verify(trail, None).problems == ()
