"""Single entries of lists: what a change of them makes, what an import comes to, and when they end."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_registry.domain.actor import Actor
from rules_registry.domain.audit.audit_entry import Subject
from rules_registry.domain.commands import ChangeEntries, ChangeNamed
from rules_registry.domain.event_record import to_json
from rules_registry.domain.events import ListEntriesChanged
from rules_registry.domain.named.csv_entries import MAX_IMPORT_LINES, MOST_PROBLEMS, read_csv
from rules_registry.domain.named.list_entries import additions, decide_entries, removals
from rules_registry.domain.named_value import NamedEntry
from rules_registry.domain.quotas import Quotas
from rules_registry.domain.review.content import command_of, content_of, needs_second_person
from rules_registry.errors import NameNotFound, QuotaExceeded, StaleVersion
from rules_registry.service.list_expiry import ListExpiry
from rules_registry.service.named.list_entries import EntriesOutcome, ImportedEntries
from rules_registry.service.ports import Answer
from rules_registry.service.registry import Registry, Repeatable
from tests.unit.rules_registry.support.fakes import FakeStore, new_registry
from tests.unit.rules_registry.support.samples import NOW
from tripline_contracts import event_type_loader, schemas
from tripline_contracts.filters.list_entries import EntriesChange, ListEntry, read_change
from tripline_contracts.filters.named_values import MAX_LIST_BYTES, MAX_VALUES

ADA = Actor("ada", "analyst", "r1", None)
HEAD = NamedEntry("list", "watched", 3, None, 9, NOW, "ada", long=2)


def change(added: Sequence[str | tuple[str, int]] = (), removed: Sequence[str] = ()) -> EntriesChange:
    entries = [ListEntry(*entry) if isinstance(entry, tuple) else ListEntry(entry) for entry in added]
    return EntriesChange(tuple(entries), tuple(removed))


DECIDED: list[tuple[EntriesChange, dict[str, int | None], EntriesChange | None, str]] = [
    (change(["a"]), {}, change(["a"]), "new"),
    (change(["a"]), {"a": None}, None, "there already"),
    (change(["a", "b"]), {"a": None}, change(["b"]), "one is new"),
    (change(removed=["a", "b"]), {"a": None}, change(removed=["a"]), "only what is there"),
    (change(removed=["a"]), {}, None, "nothing is there"),
    (change([("a", NOW + 1)]), {"a": None}, change([("a", NOW + 1)]), "it ends now"),
    (change([("a", NOW + 1)]), {"a": NOW + 1}, None, "the same end"),
    (change(["a"]), {"a": NOW + 1}, change(["a"]), "it stays now"),
    (change([("a", NOW)]), {}, None, "it has ended, and was not there"),
    (change([("a", NOW)], ["b"]), {"a": None, "b": None}, change(removed=["a", "b"]), "it has ended"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("wanted", "standing", "decided", "reason"), DECIDED, ids=[case[-1] for case in DECIDED]
)
def test_decided(
    wanted: EntriesChange, standing: dict[str, int | None], decided: EntriesChange | None, reason: str
) -> None:
    event = decide_entries(HEAD, ChangeEntries("watched", {3}, wanted), standing, NOW)
    assert event == (None if decided is None else ListEntriesChanged("watched", 4, decided)), reason


def test_a_list_that_is_not_there_or_has_moved() -> None:
    with pytest.raises(NameNotFound):
        decide_entries(None, ChangeEntries("watched", None, change(["a"])), {}, NOW)
    with pytest.raises(StaleVersion):
        decide_entries(HEAD, ChangeEntries("watched", {2}, change(["a"])), {}, NOW)


@given(
    st.lists(
        st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=64),
        unique=True,
        max_size=50,
    )
)
def test_pieces_hold_everything_once_and_fit_an_event(values: list[str]) -> None:
    pieces = list(additions([ListEntry(value, 5) for value in values]))
    assert sorted(entry.value for piece in pieces for entry in piece.added) == sorted(values)
    for piece in [*pieces, *removals(values)]:
        document = piece.to_json()
        read_change(document["added"], document["removed"])


def test_pieces_are_as_long_as_an_event_may_be() -> None:
    short = list(removals(f"{i:07}" for i in range(25_000)))
    assert [len(piece.removed) for piece in short] == [MAX_VALUES, MAX_VALUES, 5_000]
    long = list(additions(ListEntry(f"{i:04}" + "\U0001f600" * 60) for i in range(5_000)))
    sizes = [len(json.dumps(piece.to_json(), ensure_ascii=False).encode()) for piece in long]
    assert len(long) == 3
    assert 0.9 * MAX_LIST_BYTES < sizes[0] < 1.01 * MAX_LIST_BYTES
    for piece in long:
        read_change(piece.to_json()["added"], [])


def outcome_of(outcome: EntriesOutcome) -> Answer:
    return Answer(200, {}, {"size": outcome.named.size, "added": outcome.added, "removed": outcome.removed})


def import_answer(imported: ImportedEntries) -> Answer:
    return Answer(200, {}, {"added": imported.added, "events": imported.events})


def with_list(store: FakeStore, *values: str, quotas: Quotas | None = None) -> Registry:
    registry = replace(new_registry(store), quotas=quotas or Quotas())
    registry.change_named(ADA, ChangeNamed("list", "watched", None, values), lambda _: Answer(201, {}, {}))
    return registry


def values_of(store: FakeStore) -> tuple[str, ...]:
    entry = store.log.named("list", "watched")
    assert entry is not None
    assert isinstance(entry.value, tuple)
    return entry.value


def test_events_keep_the_contract_and_the_trail_tells_them() -> None:
    store = FakeStore()
    registry = with_list(store, "a", "b")
    command = ChangeEntries("watched", {1}, change([("c", NOW + 9)], ["a"]))
    answer = registry.change_entries(ADA, command, outcome_of)
    assert answer.body == {"size": 2, "added": 1, "removed": 1}
    assert values_of(store) == ("b", "c")
    event = to_json(store.log.recorded[-1])
    schemas.validator("rules.v1")({**event, "eventId": "00000000-0000-4000-8000-000000000000"})
    assert (event["type"], event["version"], event["added"], event["removed"]) == (
        "ListEntriesChanged", 2, [{"value": "c", "until": NOW + 9}], ["a"],
    )  # fmt: skip
    entry = store.log.audit[-1].members()
    assert (entry["type"], entry["subject"]) == ("ListEntriesChanged", {"kind": "list", "id": "watched"})
    assert entry["before"] == {"version": 1, "entries": 2}
    after: dict[str, Any] = entry["after"]
    assert (after["version"], after["added"], after["removed"], len(after["sha256"])) == (2, 1, 1, 64)


def test_nothing_to_change_is_no_event() -> None:
    store = FakeStore()
    registry = with_list(store, "a")
    command = ChangeEntries("watched", None, change(["a"], ["b"]))
    answer = registry.change_entries(ADA, command, outcome_of)
    assert (answer.body["size"], store.types()) == (1, ["ListChanged"])


def test_a_whole_list_takes_the_ends_away() -> None:
    store = FakeStore()
    registry = with_list(store, "a")
    registry.change_entries(ADA, ChangeEntries("watched", None, change([("a", NOW + 9)])), outcome_of)
    same = ChangeNamed("list", "watched", None, ("a",))
    registry.change_named(ADA, same, lambda _: Answer(200, {}, {}))
    registry.change_named(ADA, same, lambda _: Answer(200, {}, {}))
    assert store.types() == ["ListChanged", "ListEntriesChanged", "ListChanged"]
    assert store.log.lists.standing("watched", ["a"]) == {"a": None}


def test_a_second_person_has_to_approve_it_and_it_comes_back_as_it_was() -> None:
    command = ChangeEntries("watched", frozenset({4}), change([("c", NOW + 9), "d"], ["a"]))
    content = content_of(command, 4)
    assert (content.kind, content.subject) == ("LIST_ENTRIES", Subject("list", "watched"))
    assert command_of(content, event_type_loader.load()) == command
    assert needs_second_person(command)


def test_an_import_is_several_events_and_once_per_key() -> None:
    store = FakeStore()
    registry = with_list(store, "a")
    pieces = [change(["a", "b"]), change(["c"]), change(["a"])]
    key = Repeatable("k", "hash")
    answer = registry.import_entries(ADA, "watched", {1}, pieces, import_answer, key)
    assert answer.body == {"added": 2, "events": 2}
    assert values_of(store) == ("a", "b", "c")
    assert registry.import_entries(ADA, "watched", {1}, pieces, import_answer, key) == answer
    assert len(store.log.recorded) == 3
    with pytest.raises(StaleVersion):
        registry.import_entries(ADA, "watched", {1}, pieces, import_answer)


def test_an_import_beyond_the_quota_takes_nothing() -> None:
    store = FakeStore()
    registry = with_list(store, "a", quotas=Quotas({"listBytes": 20}))
    pieces = [change(["b"]), change([f"long {i}" for i in range(3)])]
    with pytest.raises(QuotaExceeded):
        registry.import_entries(ADA, "watched", None, pieces, import_answer)
    assert values_of(store) == ("a",)
    # what is there already is no more than it was
    registry.import_entries(ADA, "watched", None, [change(["a"])] * 30, import_answer)


@dataclass
class Overdue:
    """Answers from the fake log."""

    store: FakeStore

    def has_overdue(self, now_ms: int) -> bool:
        return bool(self.store.log.lists.overdue(now_ms, 1))


def test_entries_end_by_an_event_when_their_time_has_come() -> None:
    store = FakeStore()
    registry = with_list(store, "stays")
    wanted = change([("soon", NOW + 10), ("later", NOW + 20)])
    registry.change_entries(ADA, ChangeEntries("watched", None, wanted), outcome_of)
    clock = [NOW + 9]
    expiry = ListExpiry(replace(registry, clock=lambda: clock[0]), Overdue(store), threading.Event())
    assert expiry.step() == 0
    clock[0] = NOW + 10
    assert expiry.step() == 1
    assert values_of(store) == ("later", "stays")
    event = to_json(store.log.recorded[-1])
    assert (event["actor"], event["removed"], event["added"]) == ("rules-registry", ["soon"], [])
    assert expiry.step() == 0
    clock[0] = NOW + 1_000
    assert (expiry.step(), values_of(store)) == (1, ("stays",))
    assert store.log.audit[-1].members()["reason"] == "the end of these entries has come"


READ: list[tuple[str, list[ListEntry]]] = [
    ("a\nb\n", [ListEntry("a"), ListEntry("b")]),
    ("a", [ListEntry("a")]),
    ("\r\na\r\n\r\nb,\r\n", [ListEntry("a"), ListEntry("b")]),
    ("value\na\n", [ListEntry("a")]),
    ("value,until\na,5\n", [ListEntry("a", 5)]),
    ("a\nvalue\n", [ListEntry("a"), ListEntry("value")]),
    ('"a,b"\n"x ""y"""\n"two\nlines"\n', [ListEntry("a,b"), ListEntry('x "y"'), ListEntry("two\nlines")]),
    (" a \n", [ListEntry(" a ")]),
    ("a,1970-01-01T00:00:01Z\n", [ListEntry("a", 1000)]),
    ("a,1970-01-01T01:00:00.5+01:00\n", [ListEntry("a", 500)]),
    ("a\na,5\nb\n", [ListEntry("a", 5), ListEntry("b")]),
    ("025\n25\n", [ListEntry("025"), ListEntry("25")]),
]


@pytest.mark.parametrize(("text", "entries"), READ)
def test_csv(text: str, entries: list[ListEntry]) -> None:
    read = read_csv(text.splitlines(keepends=True))
    assert (read.problems, list(read.entries)) == ((), entries)


WRONG: list[tuple[str, list[str], str]] = [
    ("", ["body"], "nothing"),
    ("\n\n", ["body"], "blank lines"),
    ("value,until\n", ["body"], "a heading alone"),
    ("a\n,5\n", ["line 2"], "no value"),
    ("a,b,c\n", ["line 1"], "too many fields"),
    (f"ok\n{'a' * 65}\nok\na,soon\n", ["line 2", "line 4"], "too long, and no time"),
    ("a,2026-12-31T00:00:00\n", ["line 1"], "a time without a zone"),
    ("a,-1\n", ["line 1"], "before 1970"),
    ("a,1969-12-31T00:00:00Z\n", ["line 1"], "before 1970 too"),
    ("a,99999999999999999999\n", ["line 1"], "a number too large"),
    ('"two\nlines"\n"open', ["line 3"], "a quote that is not closed"),
    ('a"b\n"a"b\n', ["line 2"], "a text after a quote"),
    ("a\0b\n", ["line 1"], "U+0000"),
]


@pytest.mark.parametrize(("text", "fields", "reason"), WRONG, ids=[case[-1] for case in WRONG])
def test_wrong_csv(text: str, fields: list[str], reason: str) -> None:
    read = read_csv(text.splitlines(keepends=True))
    assert [problem.field for problem in read.problems] == fields, reason
    assert read.entries == ()
    assert all("expected" in problem.message for problem in read.problems)


def test_not_all_that_is_wrong_is_told_and_not_more_is_read() -> None:
    assert len(read_csv([",\n"] * 1_000).problems) == MOST_PROBLEMS
    too_many = read_csv(f"{i}\n" for i in range(MAX_IMPORT_LINES + 10))
    assert [problem.field for problem in too_many.problems] == ["body"]
    assert len(read_csv(f"{i}\n" for i in range(MAX_IMPORT_LINES)).entries) == MAX_IMPORT_LINES
