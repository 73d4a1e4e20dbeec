"""Changes of single entries of a list: what an event may hold, and what is refused with the place of the mistake."""

from __future__ import annotations

from typing import Any

import pytest

from tripline_contracts.errors import InvalidNamedValue
from tripline_contracts.filters.list_entries import MAX_TIME, EntriesChange, ListEntry, read_change
from tripline_contracts.filters.named_values import MAX_VALUES

READ: list[tuple[Any, Any, EntriesChange, str]] = [
    ([], [], EntriesChange(), "nothing"),
    ([{"value": "a"}], [], EntriesChange((ListEntry("a"),)), "an entry that stays"),
    ([{"value": "a", "until": 5}], [], EntriesChange((ListEntry("a", 5),)), "an entry that ends"),
    ([{"value": "a", "until": None}], [], EntriesChange((ListEntry("a"),)), "no end"),
    ([{"value": "a", "until": MAX_TIME}], [], EntriesChange((ListEntry("a", MAX_TIME),)), "the last end"),
    ([{"value": 25}], ["b", "a", "b"], EntriesChange((ListEntry("25"),), ("a", "b")), "sorted, each once"),
    ([{"value": "a", "until": 5}, {"value": "a"}], [], EntriesChange((ListEntry("a"),)), "the last counts"),
    ([{"value": "é" * 64}], [], EntriesChange((ListEntry("é" * 64),)), "64 code points"),
]  # fmt: skip


@pytest.mark.parametrize(("added", "removed", "change", "reason"), READ, ids=[case[-1] for case in READ])
def test_a_change(added: Any, removed: Any, change: EntriesChange, reason: str) -> None:
    assert read_change(added, removed) == change, reason
    document = change.to_json()
    assert read_change(document["added"], document["removed"]) == change


WRONG: list[tuple[Any, Any, list[str], str]] = [
    (None, [], ["added"], "no list"),
    ([], "a", ["removed"], "a text"),
    (["a"], [], ["added[0]"], "a text for an entry"),
    ([{"value": "a"}, {}], [], ["added[1].value"], "no value"),
    ([{"value": ""}], [""], ["added[0].value", "removed[0]"], "everything at once"),
    ([{"value": "a" * 65}], [], ["added[0].value"], "too long"),
    ([{"value": "a", "until": -1}], [], ["added[0].until"], "before 1970"),
    ([{"value": "a", "until": MAX_TIME + 1}], [], ["added[0].until"], "after the year 9999"),
    ([{"value": "a", "until": 1.5}], [], ["added[0].until"], "a fraction"),
    ([{"value": "a", "until": True}], [], ["added[0].until"], "no number"),
    ([{"value": "a"}], ["b", "a"], ["removed"], "it comes and goes"),
    ([{"value": "\ud800"}], [], ["added[0].value"], "what nothing can encode"),
    ([{"value": f"{i}"} for i in range(MAX_VALUES)], ["x"], ["added"], "one too many"),
    ([{"value": f"{i:04}" + "\U0001f600" * 60} for i in range(2_200)], [], ["added"], "too many bytes"),
]  # fmt: skip


@pytest.mark.parametrize(("added", "removed", "fields", "reason"), WRONG, ids=[case[-1] for case in WRONG])
def test_no_change(added: Any, removed: Any, fields: list[str], reason: str) -> None:
    with pytest.raises(InvalidNamedValue) as error:
        read_change(added, removed)
    assert [problem.field for problem in error.value.problems] == fields, reason
    assert all("expected" in problem.message for problem in error.value.problems)
