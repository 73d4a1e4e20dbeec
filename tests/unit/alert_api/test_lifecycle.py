"""The lifecycle of an alert: who may do what to it, and what it is afterwards."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alert_api.domain.events import AlertAcknowledged, AlertEvent, AlertRaised, AlertVoided
from alert_api.domain.lifecycle import Acknowledge, decide, evolve, fold
from alert_api.errors import AlreadyAcknowledged, LifecycleBroken
from tests.unit.alert_api.support.samples import alert_id, voiding

ID = alert_id(1)
RAISED = AlertRaised(ID, 1000)
VOIDED = AlertVoided(ID, 1500, "ops", voiding())
BY_ADA = AlertAcknowledged(ID, 2000, "ada", "a known customer")


def test_a_raised_alert_is_open() -> None:
    alert = fold([RAISED])
    assert alert is not None
    assert (alert.state, alert.version, alert.acknowledgement) == ("open", 1, None)


def test_no_events_are_no_alert() -> None:
    assert fold([]) is None


def test_acknowledging_an_open_alert_names_actor_time_and_comment() -> None:
    alert = evolve(None, RAISED)
    assert decide(alert, Acknowledge("ada", 2000, "a known customer")) == (BY_ADA,)
    assert evolve(alert, BY_ADA).state == "acknowledged"


def test_the_same_actor_again_changes_nothing_whatever_the_comment() -> None:
    alert = evolve(evolve(None, RAISED), BY_ADA)
    assert decide(alert, Acknowledge("ada", 3000, "another comment")) == ()


def test_another_actor_learns_who_was_first_and_when() -> None:
    alert = evolve(evolve(None, RAISED), BY_ADA)
    with pytest.raises(AlreadyAcknowledged) as refusal:
        decide(alert, Acknowledge("bob", 3000, None))
    assert (refusal.value.first_by, refusal.value.first_at) == ("ada", 2000)


@pytest.mark.parametrize(
    ("events", "reason"),
    [
        ([RAISED, RAISED], "an id is raised once"),
        ([BY_ADA], "nothing can be acknowledged before it was raised"),
        ([VOIDED], "nothing rests on anything before it was raised"),
        ([RAISED, BY_ADA, BY_ADA], "an acknowledgement is not repeated in the log"),
    ],
)
def test_an_impossible_log_is_a_defect(events: list[AlertEvent], reason: str) -> None:
    with pytest.raises(LifecycleBroken):
        fold(events)


@pytest.mark.parametrize("events", [[RAISED, VOIDED, BY_ADA, VOIDED], [RAISED, BY_ADA, VOIDED, VOIDED]])
def test_what_was_voided_leaves_the_state_as_it_is(events: list[AlertEvent]) -> None:
    states = []
    alert = None
    for event in events:
        alert = evolve(alert, event)
        states.append((alert.version, alert.state))
    taken = events.index(BY_ADA)
    assert states == [(n + 1, "open" if n < taken else "acknowledged") for n in range(4)]
    assert alert is not None
    assert decide(alert, Acknowledge("ada", 3000, None)) == ()


@given(st.lists(st.sampled_from(["ada", "bob", "eve"]), min_size=1, max_size=8))
def test_whoever_comes_first_stays_first(actors: list[str]) -> None:
    log: list[AlertEvent] = [RAISED]
    refused: list[tuple[str, str]] = []
    for now, actor in enumerate(actors, start=2000):
        alert = fold(log)
        assert alert is not None
        try:
            log.extend(decide(alert, Acknowledge(actor, now, None)))
        except AlreadyAcknowledged as refusal:
            refused.append((actor, refusal.first_by))
    assert log == [RAISED, AlertAcknowledged(ID, 2000, actors[0], None)]
    assert refused == [(actor, actors[0]) for actor in actors if actor != actors[0]]
