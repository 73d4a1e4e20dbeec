"""Readers of what others write take time in proportion to its length: sizes at which the square of it is minutes."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from tripline_contracts import event_type_loader, exact_json, spelling
from tripline_contracts.errors import ContractError
from tripline_contracts.rules import legacy
from tripline_contracts.rules.rule_definition import parse
from tripline_engine.domain.transactions.strict_parser import read_record
from tripline_engine.errors import Unparseable
from tripline_http.errors import ProblemError
from tripline_http.json_bodies import parse_json

PATIENCE_S = 30.0
"""Of processor time, which a busy machine does not shorten: a linear reader needs a second or two for all texts, a
quadratic one minutes for some."""

MANY = 130_000
"""As many as fit into a request; a search that begins anew at each of them takes minutes."""
HUGE = 3_000_000
"""Where each step copies the rest only, the square shows later."""
RULE = {
    "groupingKeyNames": ["payeeId"], "aggregatorFunctionType": "COUNT", "limitOperatorType": ">", "limit": "1",
    "windowSeconds": 60,
}  # fmt: skip
TEXTS = {
    "opening brackets": "(" * MANY,
    "brackets in brackets": "(" * MANY + ")" * MANY,
    "brackets and spaces": "( " * MANY + ") " * MANY,
    "two kinds of brackets": "([" * MANY + "])" * MANY,
    "commas": "a," * MANY,
    "commas in brackets": "(" + "a," * MANY + ")",
    "spaces": "x" + " " * MANY + "x",
    "bucketed without a bracket": "bucketed" + " " * MANY + "(",
    "digits": "1" * MANY,
    "zeros after the point": "1." + "0" * MANY,
    "open quotes": '"' + '\\"' * MANY,
    "open quotes, and a backslash at the end": '"' + '\\"' * MANY + "\\",
    "open quotes, and an escaped end of line": '"' + '\\"' * MANY + "\\\n",
    "open quotes below many brackets": "[" * 200 + '"' + '\\"' * MANY,
    "closed texts below many brackets": "[" * 200 + '"",' * MANY,
    "escapes": '"' + "\\\\" * MANY + '"',
    "halves of surrogate pairs": '"' + "\\ud83d" * (MANY // 4) + '"',
}


def in_member(name: str) -> Callable[[str], Any]:
    return lambda text: parse({**RULE, name: text}, event_type_loader.load())


READERS: dict[str, Callable[[str], Any]] = {
    "bare": spelling.bare,
    "names": spelling.name_list,
    "rule file": legacy.read_line,
    "rule file, after a field": lambda text: legacy.read_line(f"(1),(active),{text}"),
    "exact JSON": exact_json.loads,
    "JSON body": lambda text: parse_json(text.encode()),
    "transaction": lambda text: read_record(event_type_loader.load(), text.encode()),
    **{
        f"definition: {name}": in_member(name)
        for name in (*RULE, "precision", "unique", "firing", "aggregateFieldName")
    },
}


@pytest.fixture(autouse=True)
def patience() -> Iterator[None]:
    def give_up(*_: object) -> None:
        pytest.fail(f"more than {PATIENCE_S:.0f} s of processor time")

    before = signal.signal(signal.SIGVTALRM, give_up)
    signal.setitimer(signal.ITIMER_VIRTUAL, PATIENCE_S)
    yield
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    signal.signal(signal.SIGVTALRM, before)


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_time_grows_with_the_length(reader: Callable[[str], Any]) -> None:
    for text in TEXTS.values():
        with suppress(ContractError, ProblemError, Unparseable):
            reader(text)


@pytest.mark.parametrize(
    ("reader", "text"),
    [
        (spelling.bare, "(" * HUGE + ")" * HUGE),
        (spelling.bare, "( " * HUGE + " )" * HUGE),
        (legacy.read_line, "(" * HUGE),
        (legacy.read_line, "(1),(" + "a" * HUGE),
    ],
    ids=["brackets", "brackets and spaces", "open brackets", "an open field"],
)
def test_nothing_copies_the_rest_at_each_step(reader: Callable[[str], Any], text: str) -> None:
    with suppress(ContractError):
        reader(text)
