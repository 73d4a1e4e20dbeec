"""Rule events that cannot be read, each wrong in one way."""

from __future__ import annotations

import json
from dataclasses import replace
from random import Random
from typing import Any

from tests.oracle.builders.registry import Registry
from tests.oracle.generators.definitions import random_draft
from tests.oracle.generators.profile import Profile
from tests.oracle.generators.world import World
from tests.oracle.malformed.chains import wrong_chain
from tests.oracle.malformed.named_values import wrong_changes, wrong_entries, wrong_references
from tests.oracle.malformed.operator_commands import wrong_commands
from tests.oracle.values.model import Json

FAR_AHEAD = 10**9
"""Positions from here on are no history's own."""

_NO_JSON = [b'{"position": 1', b"[]", b"", b"\xff\xfe", b"null"]
_NOT_WITH_REEVALUATE: tuple[dict[str, Json], ...] = (
    {"firing": "crossing"},
    {"resetOnAlert": True},
    {"cooldownSeconds": 60},
)
_NOT_WITH_BUCKETS: tuple[dict[str, Json], ...] = (
    {"precision": "bucketed(1)", "windowSeconds": 60, "resetOnAlert": True},
    {"precision": "bucketed(1)", "windowSeconds": 60, "lateEvents": "reevaluate", "firing": "every"},
    {
        "precision": "bucketed(1)",
        "windowSeconds": 60,
        "aggregatorFunctionType": "COUNT_DISTINCT",
        "aggregateFieldName": "payeeId",
    },
    {"precision": "bucketed(61)", "windowSeconds": 60},
    {"precision": "bucketed(1)", "windowSeconds": 10_100},
    {"precision": "bucketed(0)", "windowSeconds": 60},
)
_NOT_OF_ORDER: tuple[dict[str, Json], ...] = (
    {"aggregatorFunctionType": "CHANGED", "aggregateFieldName": "payeeId", "resetOnAlert": True},
    {"aggregatorFunctionType": "CHANGED", "aggregateFieldName": None},
    {"aggregatorFunctionType": "CHANGED", "aggregateFieldName": "transactionId"},
    {"aggregatorFunctionType": "SECONDS_SINCE_FIRST", "aggregateFieldName": "paymentAmount"},
    {
        "aggregatorFunctionType": "SECONDS_SINCE_FIRST",
        "aggregateFieldName": None,
        "lateEvents": "reevaluate",
        "firing": "every",
        "resetOnAlert": False,
    },
    {
        "aggregatorFunctionType": "SECONDS_SINCE_PREVIOUS",
        "aggregateFieldName": None,
        "precision": "bucketed(1)",
        "windowSeconds": 60,
    },
    {"aggregatorFunctionType": "STDDEV", "aggregateFieldName": "payeeId"},
    {"aggregatorFunctionType": "STDDEV", "resetOnAlert": True},
    {"aggregatorFunctionType": "STDDEV", "precision": "bucketed(1)", "windowSeconds": 60},
)
_MEMBERS: dict[str, Json] = {
    "function": {"aggregatorFunctionType": "MEDIAN"},
    "window": {"windowSeconds": 0},
    "filter": {"filter": {"any": []}},
}


def garbage_event(rng: Random, world: World, profile: Profile, position: int, now: int) -> bytes:
    """A value of rules.v1 at that position, if it has any."""
    kind = rng.choice(_kinds(profile))
    if kind == "no JSON":
        return rng.choice(_NO_JSON)
    if kind == "ahead":
        return json.dumps(_ahead(rng, now)).encode()
    if kind == "type":
        return json.dumps({"type": "RuleSung", "position": position}).encode()
    if kind == "change":
        return json.dumps({**rng.choice(wrong_changes(now)), "position": position}).encode()
    if kind == "command":
        return json.dumps({**rng.choice(wrong_commands(Registry(), now)), "position": position}).encode()
    if kind == "entries":
        return json.dumps({**rng.choice(wrong_entries(now)), "position": position}).encode()
    # What is wrong with a condition is put into a plain definition.
    plain = kind in {"chain", "reference", "precision", "order"}
    draft = random_draft(rng, world, replace(profile, chained=0) if plain else profile)
    event: dict[str, Any] = json.loads(Registry().publish(1000, draft, 0, now))
    event["position"] = position
    if kind == "chain":
        event["definition"] = wrong_chain(rng, event["definition"])
    elif kind == "reference":
        event["definition"].update(rng.choice(wrong_references()))
    elif kind == "reevaluate":
        event["definition"].update({"lateEvents": "reevaluate", **rng.choice(_NOT_WITH_REEVALUATE)})
    elif kind == "order":
        event["definition"].update(rng.choice(_NOT_OF_ORDER))
    elif kind == "precision":
        event["definition"].update(rng.choice(_NOT_WITH_BUCKETS))
    else:
        event["definition"].update(_MEMBERS[kind])
    return json.dumps(event).encode()


def _ahead(rng: Random, now: int) -> dict[str, Json]:
    """An event that would refuse nearly everything from now on, at a position that is not the next one."""
    zero = dict.fromkeys(("allowedLatenessSeconds", "maxFutureSkewSeconds", "maxDisorderSeconds"), 0)
    return {
        "eventId": "00000000-0000-4000-8000-000000000000",
        "type": "SettingsChanged",
        "position": rng.choice([FAR_AHEAD, FAR_AHEAD + 1, 2**53 - 1]),
        "occurredAt": now,
        "actor": "nobody",
        "settings": {**zero, "idlePartitionSeconds": 30},
        "widestWindows": [],
    }


def _kinds(profile: Profile) -> list[str]:
    """Kinds of garbage; those of an option come last, so that they are left out without it."""
    kinds = ["no JSON", "type", "function", "window", "ahead"]
    if profile.filtered > 0 or profile.reevaluated > 0:
        kinds.append("filter")
    if profile.reevaluated > 0:
        kinds.append("reevaluate")
    if profile.chained > 0:
        kinds.append("chain")
    if profile.named > 0:
        kinds += ["change", "reference"]
    if profile.bucketed > 0:
        kinds.append("precision")
    if profile.commands > 0:
        kinds.append("command")
    if profile.entries > 0:
        kinds.append("entries")
    return [*kinds, "order"] if profile.of_order > 0 else kinds
