"""The kinds of field whose texts have a normal form, and how each is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tripline_contracts.normal_forms.ip_addresses import EXPECTED_ADDRESS, LONGEST_ADDRESS, normal_address
from tripline_contracts.normal_forms.positions import EXPECTED_POSITION, LONGEST_POSITION, normal_position


@dataclass(frozen=True, slots=True)
class NormalText:
    """How texts of a kind are read.

    :ivar normal: the text in its normal form, None for what is none
    :ivar longest: characters of the longest text that is read
    :ivar expected: what an error says was expected
    """

    normal: Callable[[str], str | None]
    longest: int
    expected: str


NORMAL_TEXTS: Final = {
    "ip": NormalText(normal_address, LONGEST_ADDRESS, EXPECTED_ADDRESS),
    "position": NormalText(normal_position, LONGEST_POSITION, EXPECTED_POSITION),
}
"""By kind."""
