"""Deliveries to one webhook: order, tries, dead letters, replays in between; and what is sent."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from dataclasses import replace

import pytest

from alert_api.domain.cases.severity import Severity
from alert_api.domain.notifications.case_notice import NOTICE_TYPES, CaseNotice
from alert_api.domain.webhooks.message import Message, message_of, ping_of, sentence
from alert_api.domain.webhooks.signature import Secrets
from alert_api.domain.webhooks.webhook import WebhookContent
from alert_api.service.webhooks.deliverer import Answer, Deliverer, Target, Tries
from tests.unit.alert_api.notifications.test_notices import EPOCH, JOINED, OPENED, RESOLVED

CONTENT = WebhookContent("desk", "https://hooks.example/", "cloudevents", NOTICE_TYPES)
SECRETS = Secrets("whsec_")
OK, BUSY, AWAY = Answer(204), Answer(503), Answer(None, "timed out")


class World:
    """A webhook, a log, and a receiver that answers what it is told to, and OK after that."""

    def __init__(self, *answers: Answer, notices: Sequence[CaseNotice] = (OPENED, JOINED, RESOLVED)) -> None:
        self.answers, self.log = list(answers), notices
        self.position, self.content = 0, CONTENT
        self.ping_at: int | None = None
        self.version, self.replays = 1, 0
        self.removed_by_then = self.changed_by_then = False
        self.posted: list[str] = []
        self.records: list[tuple[str, str, int, int | None]] = []
        self.counted: list[str] = []
        self.stop = threading.Event()
        self.replay_to: int | None = None

    def target(self, webhook_id: int) -> Target | None:
        if self.removed_by_then and self.posted:
            return None
        return Target(
            webhook_id, self.content, SECRETS, self.version, self.replays, self.position, self.ping_at
        )

    def notices(self, after: int, limit: int) -> Sequence[CaseNotice]:
        return [notice for notice in self.log if notice.position > after][:limit]

    def record(self, target: Target, message: Message, state: str, attempts: int, answer: Answer) -> None:
        assert target.webhook_id == 7
        self.records.append((message.id, state, attempts, answer.status))

    def advance(self, target: Target, position: int) -> bool:
        if (self.version, self.replays) != (target.version, target.replays):
            return False
        self.position = position
        return True

    def pinged(self, target: Target) -> None:
        assert target.ping_at is not None
        self.ping_at = None

    def post(self, url: str, secrets: Secrets, message: Message) -> Answer:
        assert (url, secrets) == (self.content.url, SECRETS)
        self.posted.append(message.id)
        if self.replay_to is not None:
            self.position, self.replay_to = self.replay_to, None
            self.replays += 1
        if self.changed_by_then:
            self.version = 2
        return self.answers.pop(0) if self.answers else OK

    def delivery(self, outcome: str) -> None:
        self.counted.append(outcome)

    def deliverer(self, most: int = 3) -> Deliverer:
        return Deliverer(self, self, self, self.stop, Tries(most, 0.0001, 0.001), None)


IDS = [notice.id for notice in (OPENED, JOINED, RESOLVED)]


def test_all_goes_out_in_order_and_once() -> None:
    world = World()
    assert world.deliverer().step(7)
    assert (world.posted, world.position) == (IDS, RESOLVED.position)
    assert not world.deliverer().step(7)
    assert [record[1:] for record in world.records] == [("delivered", 1, 204)] * 3


def test_what_is_not_taken_is_tried_again_before_what_follows() -> None:
    world = World(BUSY, AWAY, OK)
    world.deliverer().step(7)
    assert world.posted == [IDS[0], IDS[0], *IDS]
    assert world.records[:3] == [
        (IDS[0], "retrying", 1, 503), (IDS[0], "retrying", 2, None), (IDS[0], "delivered", 3, 204),
    ]  # fmt: skip
    assert world.counted[:3] == ["retried", "retried", "delivered"]


@pytest.mark.parametrize("status", [301, 302, 400, 404, 410, 500])
def test_after_the_last_try_it_is_dead_and_the_next_goes_out(status: int) -> None:
    world = World(*[Answer(status)] * 3)
    world.deliverer().step(7)
    assert world.records[2:4] == [(IDS[0], "dead", 3, status), (IDS[1], "delivered", 1, 204)]
    assert world.position == RESOLVED.position


@pytest.mark.parametrize(
    ("least", "rule_ids", "severity", "wanted"),
    [
        (None, (), None, True),
        ("high", (), "critical", True),
        ("high", (), "high", True),
        ("high", (), "medium", False),
        ("info", (), None, False),  # nobody said how bad it is
        (None, (7,), None, True),
        (None, (8, 9), "critical", False),
        ("low", (9, 7), "medium", True),
        ("critical", (7,), "high", False),
    ],
)
def test_only_cases_that_are_severe_enough_and_of_the_rules(
    least: Severity | None, rule_ids: tuple[int, ...], severity: Severity | None, wanted: bool
) -> None:
    opened = replace(OPENED, case=replace(OPENED.case, severity=severity))
    content = replace(CONTENT, min_severity=least, rule_ids=rule_ids)
    assert content.wants(opened) is wanted
    world = World(notices=[opened])
    world.content = content
    world.deliverer().step(7)
    assert (world.posted, world.position) == ([opened.id] if wanted else [], OPENED.position)


def test_what_an_approver_has_seen_is_all_of_it() -> None:
    others: list[WebhookContent] = [
        replace(CONTENT, name="other"), replace(CONTENT, url="https://hooks.example/b"),
        replace(CONTENT, template="slack"), replace(CONTENT, types=NOTICE_TYPES[:1]),
        replace(CONTENT, min_severity="low"), replace(CONTENT, rule_ids=(7,)),
    ]  # fmt: skip
    assert len({CONTENT.hash, *(content.hash for content in others)}) == 1 + len(others)
    assert replace(CONTENT, types=NOTICE_TYPES[::-1]).hash == CONTENT.hash


def test_a_replay_meanwhile_keeps_its_position() -> None:
    world = World()
    world.position, world.replay_to = JOINED.position, 0
    deliverer = world.deliverer()
    assert deliverer.step(7)
    assert world.position == 0
    deliverer.step(7)
    assert world.posted == [RESOLVED.id, *IDS]


def test_a_replay_to_where_it_is_comes_through_too() -> None:
    world = World(BUSY, BUSY, BUSY)
    world.position, world.replay_to = JOINED.position, JOINED.position
    deliverer = world.deliverer(most=1)
    assert deliverer.step(7)
    assert (world.records[-1][:2], world.position) == ((RESOLVED.id, "dead"), JOINED.position)
    deliverer.step(7)
    assert (world.posted, world.position) == ([RESOLVED.id] * 2, RESOLVED.position)


@pytest.mark.parametrize("why", ["stopped", "removed", "replayed", "changed"])
def test_tries_end_when_there_is_nothing_to_try_for(why: str) -> None:
    world = World(BUSY)
    if why == "stopped":
        world.stop.set()
    elif why == "replayed":
        world.position, world.replay_to = 1, 0
    elif why == "changed":
        world.changed_by_then = True
    else:
        world.removed_by_then = True
    assert not world.deliverer().step(7)
    assert world.posted == [world.posted[0]]
    assert {state for _, state, _, _ in world.records} <= {"retrying"}


def test_two_of_one_position_are_both_told_before_it_moves() -> None:
    other = replace(JOINED, case_id=44)
    world = World(OK, OK, *[BUSY] * 3, notices=[OPENED, JOINED, other])
    world.answers = [OK, OK, BUSY]
    world.stop.clear()
    deliverer = world.deliverer(most=2)
    world.position = 0
    deliverer.step(7)
    assert world.posted == [OPENED.id, JOINED.id, other.id, other.id]
    assert world.position == JOINED.position


def test_a_ping_is_sent_once_and_first() -> None:
    world = World(BUSY)
    world.ping_at = EPOCH
    world.deliverer().step(7)
    assert world.posted == [f"ping-7-{EPOCH}", *IDS]
    assert world.records[0] == (f"ping-7-{EPOCH}", "dead", 1, 503)
    assert world.ping_at is None


def test_a_ping_does_not_wait_for_the_last_try_of_a_notice() -> None:
    asked = iter([None, EPOCH])  # of the webhook as it was, and as it is before the next try

    class Asked(World):
        def target(self, webhook_id: int) -> Target | None:
            self.ping_at = next(asked, None)
            return super().target(webhook_id)

    world = Asked(BUSY, BUSY, OK)
    world.deliverer().step(7)
    assert world.posted[:3] == [IDS[0], f"ping-7-{EPOCH}", IDS[0]]
    assert world.records[1] == (f"ping-7-{EPOCH}", "dead", 1, 503)


def test_a_change_meanwhile_is_read_before_the_next_notice() -> None:
    world = World()
    world.changed_by_then = True
    assert world.deliverer().step(7)
    assert (world.posted, world.position) == ([IDS[0]], 0)  # it comes again, with its id
    world.deliverer().step(7)
    assert world.posted == [IDS[0], *IDS]


def test_a_cloud_event_is_the_record_of_the_topic() -> None:
    message = message_of(RESOLVED, "cloudevents", "https://console")
    event = json.loads(message.body)
    assert message.media_type == "application/cloudevents+json"
    assert (event["id"], event["type"], event["specversion"]) == (
        RESOLVED.id,
        "tripline.CaseResolved.v1",
        "1.0",
    )
    assert event["data"]["outcome"] == "false_positive"


def test_slack_gets_a_sentence_without_markup_of_others() -> None:
    nasty = replace(
        OPENED,
        subject={"field": "payerId", "value": "<!channel> & co"},
        case=replace(OPENED.case, severity="high"),
    )
    text = json.loads(message_of(nasty, "slack", "https://console").body)["text"]
    assert text == (
        "<https://console/cases/31|Case 31> (high) about payerId &lt;!channel&gt; &amp; co was opened: 3 alerts."
    )
    group = replace(RESOLVED, subject={"field": None, "ruleId": 7, "group": {"a": "b"}})
    assert sentence(group, None) == (
        'Case 31 about rule 7, {"a": "b"} was resolved as false positive by ada: 3 alerts.'
    )
    assert json.loads(ping_of(7, "desk", EPOCH, 0, "slack").body) == {
        "text": "Tripline tests the webhook desk."
    }
