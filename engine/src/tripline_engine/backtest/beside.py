"""The option `--beside`: which live rule each tried one is compared with."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from tripline_engine.backtest.tried_rules import TriedRule
from tripline_engine.errors import BadSettings

_WRITTEN: Final = re.compile(r"(?:(\d{1,10})=)?(\d{1,10})", re.ASCII)


def beside_of(texts: Sequence[str], rules: Sequence[TriedRule]) -> dict[int, int]:
    """By tried rule the live one: `RULE` is for all of them, `TRIED=RULE` for one. Raises BadSettings."""
    tried = [rule.rule_id for rule in rules]
    beside: dict[int, int] = {}
    for text in texts:
        written = _WRITTEN.fullmatch(text)
        if written is None:
            raise BadSettings(f"--beside: expected a rule's id, or TRIED=RULE, not {text!r}")
        if written[1] is None:
            beside |= dict.fromkeys(tried, int(written[2]))
        elif int(written[1]) in tried:
            beside[int(written[1])] = int(written[2])
        else:
            raise BadSettings(
                f"--beside: no tried rule has the id {written[1]}; they have {', '.join(map(str, tried))}"
            )
    return beside
