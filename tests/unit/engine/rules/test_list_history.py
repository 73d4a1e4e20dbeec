"""Named lists in the engine: what each transaction's list had, whatever came, went, was settled, stored or lost."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.engine.support.shard_harness import DictLog
from tripline_engine.domain.rules.list_history import Change, ListHistory, Operation
from tripline_engine.domain.rules.list_memberships import ListMemberships
from tripline_engine.domain.rules.named_values import NamedValues
from tripline_engine.domain.state_log.list_log import read_lists, save_lists
from tripline_engine.domain.transactions.hash_key import HashKey

KEY = HashKey(11, 22)
TEXTS = "abcdef"
ANCHORS = ("left", "right")


@st.composite
def a_change(draw: st.DrawFn) -> Change:
    operations: list[Operation] = ["add", "add", "remove", "replace"]
    return draw(st.sampled_from(operations)), draw(st.lists(st.sampled_from(TEXTS), unique=True, max_size=4))


CHANGES = st.lists(a_change(), max_size=3)
STEPS = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 4), CHANGES, st.sampled_from("     csscfro")), max_size=25
)


def applied(values: frozenset[str], change: Change) -> frozenset[str]:
    """The set after the change."""
    operation, texts = change
    if operation == "add":
        return values.union(texts)
    return values.difference(texts) if operation == "remove" else frozenset(texts)


@dataclass
class Model:
    """The list as sets of texts, by the transactions accepted before; and a list that is to say the same."""

    log: DictLog = field(default_factory=DictLog)
    named: NamedValues = field(default_factory=NamedValues)
    history: list[tuple[dict[str, int], frozenset[str]]] = field(
        default_factory=lambda: [({"left": 0, "right": 0}, frozenset())]
    )
    accepted: dict[str, int] = field(default_factory=lambda: {"left": 0, "right": 0})
    retained: dict[str, int] = field(default_factory=lambda: {"left": 0, "right": 0})
    saves: int = 0

    def change(self, changes: list[Change]) -> None:
        self.named.change_list("watched", changes, self.accepted)
        for change in changes:
            self.history.append((dict(self.accepted), applied(self.history[-1][1], change)))

    def compact(self) -> None:
        """What was accepted until now is not retained any more, but for the last few."""
        self.retained = {name: max(self.retained[name], number - 3) for name, number in self.accepted.items()}
        self.named.compact(self.retained)

    def save(self) -> None:
        self.saves += 1
        save_lists(self.named, self.log, self.saves, KEY)
        self.log.put("rules", json.dumps(self.named.to_json()).encode())
        self.log.commit()

    def read(self, before: NamedValues | None) -> None:
        stored = json.loads(self.log.get("rules") or b"{}")
        self.named = NamedValues.of_json(stored, read_lists(stored.get("lists", {}), self.log, KEY, before))

    def verify(self) -> None:
        for anchor in ANCHORS:
            first, until = self.retained[anchor], self.accepted[anchor] + 3
            listed = self.named.list("watched")
            for number in range(first, until):
                expected = [values for since, values in self.history if since[anchor] <= number][-1]
                moments = listed.moment_of(anchor, number, number + 1)
                held = listed.hold(*KEY.of_all(TEXTS), moments, KEY).tolist()
                assert {text for text, is_in in zip(TEXTS, held, strict=True) if is_in} == expected
            numbers = listed.moment_of(anchor, first, until)
            together = listed.hold(*KEY.of_all(["a"] * (until - first)), numbers, KEY).tolist()
            assert together == [
                "a" in [values for since, values in self.history if since[anchor] <= number][-1]
                for number in range(first, until)
            ]


@settings(max_examples=100)
@given(STEPS)
def test_each_transaction_has_the_list_at_its_acceptance(
    steps: list[tuple[int, int, list[Change], str]],
) -> None:
    model = Model()
    other = NamedValues()
    for left, right, changes, step in steps:
        model.accepted["left"] += left
        model.accepted["right"] += right
        if changes:
            model.change(changes)
        if step == "c":
            model.compact()
        if step in "csfro":
            model.save()
        if step == "f":
            # an attempt that was saved and never committed
            before, kept = dict(model.log.committed), model.log.get("rules")
            model.named.change_list("watched", [("replace", ["f"])], model.accepted)
            model.named.compact(model.accepted)
            save_lists(model.named, model.log, 10_000 + model.saves, KEY)
            model.log.abort()
            assert (model.log.committed, model.log.get("rules")) == (before, kept)
            model.read(model.named)
        if step == "r":
            model.read(None)
        if step == "o":
            # another worker process, which has seen only some of the micro-batches
            mine = model.named
            model.read(other)
            model.verify()
            other = model.named
            model.named = mine
        model.verify()


def test_few_chunks_however_many_changes() -> None:
    model = Model()
    model.change([("add", [f"{i:06}" for i in range(20_000)])])
    model.save()
    written = 0
    for i in range(300):
        before = dict(model.log.committed)
        model.change([("add", [f"new {i}"])])
        model.save()
        new = {key: data for key, data in model.log.committed.items() if before.get(key) != data}
        written += sum(len(data) for key, data in new.items() if key.startswith("lists/"))
    assert len(model.named.list("watched").chunks) <= 12
    # each change is written again as often as it doubles, and the list itself not once
    assert written < 300 * 100 * 10


def test_of_a_settled_list_only_the_values_are_kept() -> None:
    model = Model()
    for i in range(50):
        model.accepted = {"left": i, "right": i}
        model.change([("replace", ["a", str(i)])])
        model.retained = dict(model.accepted)
        model.named.compact(model.retained)
        model.save()
    assert sum(len(data) for key, data in model.log.committed.items() if key.startswith("lists/")) < 400


def test_what_has_ended_is_dropped_from_memory() -> None:
    listed = ListHistory()
    for i in range(100):
        listed.change(("replace", [str(i)]), {"left": i})
        listed.read(KEY)
        listed.compact({"left": i})
    assert listed.bytes <= 3 * 24
    assert listed.newest == 100


def test_a_list_of_a_book_from_before_there_were_chunks() -> None:
    stored = {"lists": {"watched": [["a", "b"], [[{"left": 5, "right": 2}, [["c"], ["a"]]]]]}}
    log = DictLog()
    named = NamedValues.of_json(stored, read_lists(stored["lists"], log, KEY))
    model = Model(log=log, named=named, accepted={"left": 7, "right": 7})
    model.history = [
        ({"left": 0, "right": 0}, frozenset("ab")),
        ({"left": 5, "right": 2}, frozenset("bc")),
    ]
    model.verify()
    model.compact()
    model.save()
    model.read(None)
    model.verify()
    model.change([("add", ["d"])])
    model.save()
    model.read(None)
    model.verify()


def test_an_empty_list_of_such_a_book() -> None:
    stored: dict[str, Any] = {"lists": {"watched": [[], []]}}
    model = Model(named=NamedValues.of_json(stored, read_lists(stored["lists"], DictLog(), KEY)))
    model.save()
    model.read(None)
    model.verify()


def test_identities_that_share_their_low_word_are_told_apart() -> None:
    low, high = KEY.of_all(["a", "b"])
    members = ListMemberships()
    low[1] = low[0]
    members.add(low[:1], high[:1], 1)
    assert members.hold(low, high, 1).tolist() == [True, False]
    members.add(low[1:], high[1:], 2)
    assert members.hold(low, high, 2).tolist() == [True, True]
    assert members.hold(low, high, 1).tolist() == [True, False]
    members.remove(low[:1], high[:1], 3)
    assert members.hold(low, high, 3).tolist() == [False, True]
