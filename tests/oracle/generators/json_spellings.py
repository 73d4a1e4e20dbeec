"""Values as JSON text in the many spellings that must all mean the same."""

from __future__ import annotations

import json
from random import Random

from tests.oracle.values.decimals import PLACES, plain


def amount_text(rng: Random, millionths: int) -> str:
    """A decimal as a JSON number or string, in any spelling."""
    number = _spelled(rng, millionths)
    if rng.random() < 0.5:
        return number
    if rng.random() < 0.2:
        sign, digits = ("-", number[1:]) if number.startswith("-") else ("", number)
        number = f"{sign}00{digits}"
    return f'"{number}"'


def _spelled(rng: Random, millionths: int) -> str:
    style = rng.random()
    text = plain(millionths)
    if style < 0.6:
        return text
    if style < 0.75:
        return f"{text}0000000" if "." in text else f"{text}.{'0' * rng.randint(1, 8)}"
    if millionths == 0:
        return rng.choice(["-0", "0e99", "0.0e-99", "-0.0"])
    mantissa, exponent = millionths, -PLACES
    while mantissa % 10 == 0:
        mantissa, exponent = mantissa // 10, exponent + 1
    if style < 0.85:
        mantissa, exponent = mantissa * 1000, exponent - 3
    letter = rng.choice("eE")
    sign = rng.choice(["", "+"]) if exponent >= 0 else ""
    return f"{mantissa}{letter}{sign}{exponent}"


def identifier_text(rng: Random, identifier: str) -> str:
    """An id as a JSON string, or as an integer where its text is one."""
    digits = identifier.removeprefix("-")
    is_integer = digits.isascii() and digits.isdigit() and str(int(digits)) == digits and identifier != "-0"
    if is_integer and rng.random() < 0.5:
        return "-0" if identifier == "0" and rng.random() < 0.3 else identifier
    return json.dumps(identifier, ensure_ascii=rng.random() < 0.5)


def object_text(rng: Random, members: list[tuple[str, str]]) -> bytes:
    """A JSON object of (name, JSON text) members in any order, with any white space."""
    shuffled = list(members)
    rng.shuffle(shuffled)
    if rng.random() < 0.05:
        # The last of a repeated key counts, so a wrong one may stand before it.
        shuffled.insert(0, (rng.choice(shuffled)[0], '"shadowed"'))
    if rng.random() < 0.1:
        shuffled.insert(
            0, ("note", rng.choice(['"a\\u0000b"', '{"x": [1.5e400, null, "\\ud83d\\ude00"]}', "1"]))
        )
    gap = rng.choice(["", "", " ", "\n\t"])
    body = f",{gap}".join(f'"{name}":{gap}{text}' for name, text in shuffled)
    return f"{gap}{{{body}}}{gap}".encode()
