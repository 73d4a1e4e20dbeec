"""Payments that come from somewhere: the event type, as engine and oracle know it, and random histories of them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from importlib import resources
from random import Random
from typing import Any

import yaml

from tests.oracle.values.event_types import PAYMENTS
from tests.oracle.values.model import Json, MicroBatch
from tests.unit.engine.support.added_field import with_field
from tests.unit.engine.support.shard_harness import TRANSACTION
from tripline_contracts.event_type import EventType, Field

LOCATED: EventType = replace(
    TRANSACTION,
    fields=(
        *TRANSACTION.fields,
        Field("position", "attribute", "position", label="position", plural="positions"),
    ),
    columns=(*TRANSACTION.columns, "position"),
)
AS_THE_ORACLE_KNOWS = replace(
    PAYMENTS,
    fields=(*PAYMENTS.fields, "position"),
    nullable=PAYMENTS.nullable | {"position"},
    positions=frozenset({"position"}),
)
_POOL = ("52.52,13.4", "52.520008, 13.404954", "52.52,13.4000", "51.507351,-0.127758", "0,180", "0,-180", "90,5", "",
         "here", 5)  # fmt: skip


def declaration() -> str:
    """The file that declares this type for an installation: under a name of its own, as no other may have that one."""
    shipped = resources.files("tripline_contracts") / "event_types" / "transaction.yaml"
    declared = yaml.safe_load(shipped.read_text(encoding="utf-8"))
    declared["name"] = "payment-from-somewhere"
    declared["columns"].append("position")
    declared["fields"].append({"name": "position", "role": "attribute", "kind": "position"})
    # as they are written: the first side of a party is judged first
    text: str = yaml.safe_dump(declared, sort_keys=False)
    return text


def on_the_move(seed: int, history: list[MicroBatch], share: float = 0.8) -> list[MicroBatch]:
    """The history, its payments from some position, its rules measuring the speed between them now and then.

    :param share: of the changes, and times since the one before, that are speeds instead
    """
    measure = partial(_measure, share=share)
    return with_field(Random(f"positions {seed}"), history, "position", _somewhere, measure)


def _somewhere(rng: Random) -> Json:
    return rng.choices(_POOL, [20, 20, 10, 15, 5, 5, 5, 8, 1, 1])[0]


def _measure(rng: Random, part: Any, share: float) -> None:
    """Speeds in the place of changes and of times since the one before, with limits that they reach."""
    for inner in part if isinstance(part, list) else part.values() if isinstance(part, dict) else ():
        _measure(rng, inner, share)
    of_order = isinstance(part, dict) and part.get("aggregatorFunctionType") in (
        "CHANGED",
        "SECONDS_SINCE_PREVIOUS",
    )
    if of_order and rng.random() < share:
        part |= {"aggregatorFunctionType": "SPEED_KMH", "aggregateFieldName": "position"}
        if isinstance(part.get("limit"), str):
            part["limit"] = rng.choice(["0", "900", "0.5", "1000000"])
