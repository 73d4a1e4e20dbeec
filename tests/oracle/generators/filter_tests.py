"""Random tests of a filter that compare with no constant, normalised, over what a history is made of."""

from __future__ import annotations

from random import Random

from tests.oracle.generators.world import World
from tests.oracle.values.decimals import plain
from tests.oracle.values.model import Json
from tests.oracle.values.schema import AMOUNT, EVENT_TIME, INGESTION

_ORDERED = ("=", "!=", ">=", "<=", ">", "<")
_DAYS = ("MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN")
_ZONES = (
    "UTC",
    "Europe/Berlin",
    "America/St_Johns",
    "Australia/Lord_Howe",
    "Asia/Kolkata",
    "Pacific/Kiritimati",
)
_DAY_MINUTES = 24 * 60


def random_test(rng: Random, world: World) -> Json:
    """One of them; most pass some of the transactions and not others."""
    style = rng.random()
    if style < 0.25:
        return _of_two_fields(rng)
    if style < 0.5:
        return _of_a_part(rng, world)
    if style < 0.65:
        fields = ["payeeId", "beneficiaryId"] * 3 + [INGESTION, INGESTION, "paymentType", AMOUNT, EVENT_TIME]
        return {"field": rng.choice(fields), "isNull": True}
    return _of_round_amounts(rng, world) if style < 0.8 else {"localTime": _local_time(rng, world)}


def _of_two_fields(rng: Random) -> Json:
    if rng.random() < 0.5:
        one, other = rng.sample(["payeeId", "beneficiaryId"], 2)
        return {"field": one, "operator": rng.choice(["=", "!="]), "otherField": other}
    one, other = rng.sample([EVENT_TIME, INGESTION], 2)
    return {"field": one, "operator": rng.choice(_ORDERED), "otherField": other}


def _of_a_part(rng: Random, world: World) -> Json:
    field, ids = rng.choice([("payeeId", world.payees), ("beneficiaryId", world.beneficiaries)])
    text = rng.choice([*ids, *ids, "nobody"])
    begin = rng.randrange(len(text))
    end = rng.randint(begin + 1, len(text))
    word, part = rng.choice(
        [("startsWith", text[:end]), ("endsWith", text[begin:]), ("contains", text[begin:end])]
    )
    return {"field": field, word: part}


def _of_round_amounts(rng: Random, world: World) -> Json:
    units = (1, 2, 10, 10_000, 1_000_000, 50_000_000, 2**63 - 1, 2**63, 2**64, 10**20)
    near = [abs(amount) for amount in world.amounts if amount]
    return {"field": AMOUNT, "multipleOf": plain(rng.choice([rng.choice(units), rng.choice([*near, 1])]))}


def _local_time(rng: Random, world: World) -> Json:
    """Of any length; every other begins at the minute of some transaction, were it in UTC."""
    span = world.transactions * world.pace
    begin = rng.randrange(_DAY_MINUTES)
    if rng.random() < 0.5:
        begin = (world.start + rng.randint(0, span)) // 60_000 % _DAY_MINUTES
    end = (begin + rng.choice([0, 1, 30, 60, 300, 720, rng.randrange(_DAY_MINUTES)])) % _DAY_MINUTES
    said: dict[str, Json] = {"zone": rng.choice(_ZONES), "from": _clock(begin), "to": _clock(end)}
    if rng.random() < 0.5:
        chosen = rng.sample(_DAYS, rng.randint(1, 6))
        said["days"] = [day for day in _DAYS if day in chosen]
    return said


def _clock(minute: int) -> str:
    return f"{minute // 60:02}:{minute % 60:02}"
