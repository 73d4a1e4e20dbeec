"""Rule events from before names were checked: an engine takes them, and keeps the name as it is."""

from __future__ import annotations

import json

import pytest

from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import draft
from tripline_contracts import event_type_loader
from tripline_engine.domain.rules.rule_book import RuleBook

T = 1_700_000_000_000


@pytest.mark.parametrize("name", ["a\r\nb", "\u202egnp.exe", "adm\u200bin", "\x1b[2J", "\ufeff"])
def test_a_name_that_nobody_could_give_today_is_replayed(name: str) -> None:
    event = json.loads(Registry().publish(7, draft("COUNT", ">", "0"), T, T))
    book = RuleBook(event_type_loader.load())
    book.apply(json.dumps({**event, "name": name}).encode())
    again = RuleBook.of_bytes(book.to_bytes(), event_type_loader.load())
    assert (book.position, again.position) == (1, 1)
    assert book.rules[7].versions[-1].name == again.rules[7].versions[-1].name == name
