"""Data that was made under one event type is not used under another."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tripline_contracts import event_type_loader
from tripline_contracts.event_type import EventType
from tripline_demo.errors import StackFailed
from tripline_demo.stack import event_type_pin, shutdown
from tripline_demo.stack.places import Places
from tripline_demo.stack.seeder import seeded_rules

TRANSACTION = event_type_loader.load()
CARD = event_type_loader.load("card-authorisation")


@pytest.fixture
def places(tmp_path: Path) -> Places:
    made = Places(tmp_path / "var")
    made.make()
    return made


def refused(places: Places, event_type: EventType) -> bool:
    """Whether a stack of that type may not start on what is there."""
    try:
        event_type_pin.check(places, event_type)
    except StackFailed:
        return True
    return False


def test_without_data_every_type_may_start(places: Places) -> None:
    assert [refused(places, event_type) for event_type in (TRANSACTION, CARD)] == [False, False]
    event_type_pin.hold(places, "card-authorisation", CARD)
    assert [refused(places, event_type) for event_type in (TRANSACTION, CARD)] == [True, False]


def test_data_is_of_the_type_that_it_was_made_under(places: Places) -> None:
    event_type_pin.hold(places, "card-authorisation", CARD)
    event_type_pin.check(places, CARD)
    with pytest.raises(StackFailed) as failed:
        event_type_pin.check(places, TRANSACTION)
    assert str(failed.value) == (
        f"The data in {places.var} is of the event type card-authorisation, and cannot be used under transaction"
        " version 1: start with EVENT_TYPE=card-authorisation as it was, or begin anew with FRESH=1."
    )


def test_what_people_call_things_may_change_and_fields_may_not(places: Places) -> None:
    event_type_pin.hold(places, "/types/card.yaml", CARD)
    event_type_pin.check(places, replace(CARD, noun="swipe"))
    with pytest.raises(StackFailed, match="as it was declared when it was made"):
        event_type_pin.check(places, replace(CARD, fields=CARD.fields[:-1]))


def test_data_from_before_types_were_held_is_of_the_default(places: Places) -> None:
    places.kafka.mkdir()
    event_type_pin.check(places, TRANSACTION)
    with pytest.raises(StackFailed, match="is of the event type transaction, and cannot be used under card"):
        event_type_pin.check(places, CARD)


def test_to_begin_anew_forgets_it(places: Places) -> None:
    event_type_pin.hold(places, "card-authorisation", CARD)
    assert refused(places, TRANSACTION)
    shutdown.forget(places)
    assert not refused(places, TRANSACTION)


def test_a_path_holds_wherever_a_process_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert event_type_pin.setting_of("types/log-in.yaml") == str(tmp_path / "types" / "log-in.yaml")
    assert event_type_pin.setting_of(" card-authorisation ") == "card-authorisation"
    assert event_type_pin.setting_of("") == "transaction"


def test_a_wrong_setting_is_a_sentence() -> None:
    with pytest.raises(
        StackFailed, match="TRIPLINE_EVENT_TYPE is cards: expected activity, card-authorisation"
    ):
        event_type_pin.declared_by("cards")


def test_each_type_that_ships_has_seeds_and_others_none() -> None:
    assert len(seeded_rules(TRANSACTION)) == 5
    assert len(seeded_rules(CARD)) == 4
    assert seeded_rules(replace(CARD, name="log-in")) == []
