"""Regular expressions for whole numbers that are sent as text, with the bounds that the numbers have."""

from __future__ import annotations


def digits_up_to(maximum: int) -> str:
    """Alternatives for 1 to the maximum, without zeros in front; for a group inside of `^(…)$`.

    >>> digits_up_to(345)
    '[1-9][0-9]{0,1}|[1-2][0-9]{2}|3[0-3][0-9]{1}|34[0-4]|345'
    """
    digits = str(maximum)
    shorter = [f"[1-9][0-9]{{0,{len(digits) - 2}}}"] if len(digits) > 1 else []
    return "|".join([*shorter, *_below(digits), digits])


def _below(digits: str) -> list[str]:
    """As many digits, the same up to one that is smaller."""
    least = ["1", *"0" * (len(digits) - 1)]
    return [
        f"{digits[:index]}[{least[index]}-{int(digit) - 1}]" + _any(len(digits) - index - 1)
        for index, digit in enumerate(digits)
        if digit > least[index]
    ]


def _any(count: int) -> str:
    return f"[0-9]{{{count}}}" if count else ""
