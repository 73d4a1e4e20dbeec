"""/v1/webhooks over webhooks in memory: versions, people, secrets, and what is said of what cannot be."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from flask.testing import FlaskClient
from prometheus_client import CollectorRegistry

from alert_api.adapters.fernet_seal import FernetSeal
from alert_api.api.application import Doors, Stores, Streaming, build
from alert_api.api.console_data import Line
from alert_api.domain.notifications.case_notice import NOTICE_TYPES
from alert_api.domain.webhooks.reach import Reach
from alert_api.domain.webhooks.webhook import DeliveryState, Webhook, WebhookContent, WebhookStep
from alert_api.service.sessions import SessionDesk
from alert_api.service.webhooks.webhook_desk import DeliveryPage, StepPage, WebhookDesk, WebhookPolicy
from tests.unit.alert_api.support import samples
from tests.unit.alert_api.support.fake_cases import no_cases
from tests.unit.alert_api.support.fake_performance import FakePerformance
from tests.unit.alert_api.support.fake_sessions import FakeSessions
from tests.unit.alert_api.support.fake_views import FakeShadows, FakeViews
from tests.unit.alert_api.support.rejected_samples import FakeRejected
from tripline_contracts import event_type_loader
from tripline_http.application import Access

ADA, AS_ADA = samples.key("ada", "alerts:read", "controls:write", "rules:approve")
BOB, AS_BOB = samples.key("bob", "alerts:read", "controls:write", "rules:approve")
EVE, AS_EVE = samples.key("eve", "alerts:read")
BODY: dict[str, Any] = {"name": "desk", "url": "https://hooks.example/in"}
PROBLEM = "urn:tripline:problem:"


class Webhooks:
    """``WebhookStore`` without a database."""

    def __init__(self) -> None:
        self.kept: dict[int, Webhook] = {}
        self.sealed: list[bytes] = []

    def all(self) -> Sequence[Webhook]:
        return list(self.kept.values())

    def get(self, webhook_id: int) -> Webhook | None:
        return self.kept.get(webhook_id)

    def add(
        self, content: WebhookContent, sealed: bytes, actor: str, now: int, *, four_eyes: bool
    ) -> int | None:
        if any(webhook.content.name == content.name for webhook in self.kept.values()):
            return None
        self.sealed.append(sealed)
        self.kept[1] = Webhook(1, content, 1, four_eyes, actor, now, None, None, None, None, 0)
        return 1

    def change(
        self, before: Webhook, content: WebhookContent, sealed: bytes | None, actor: str, now: int
    ) -> bool:
        self.sealed += [] if sealed is None else [sealed]
        self.kept[1] = replace(
            before,
            content=content,
            version=before.version + 1,
            requested_by=actor,
            requested_at=now,
            approved_by=None,
        )
        return True

    def rotate(self, before: Webhook, sealed: bytes, until: int, actor: str, now: int) -> bool:
        assert (actor, now) == ("ada", 5)
        self.sealed.append(sealed)
        return self._put(before.webhook_id, version=before.version + 1, former_until=until)

    def approve(self, webhook_id: int, content_hash: str, actor: str, now: int) -> bool:
        assert self.kept[webhook_id].content.hash == content_hash
        return self._put(webhook_id, approved_by=actor, approved_at=now)

    def pause(self, webhook_id: int, actor: str, now: int) -> bool:
        return self._put(webhook_id, paused_by=actor, paused_at=now)

    def resume(self, webhook_id: int, actor: str, now: int) -> bool:
        assert actor
        return self._put(webhook_id, paused_by=None, paused_at=now and None)

    def remove(self, webhook_id: int, actor: str, now: int) -> bool:
        assert (actor, now) == ("ada", 5)
        return self.kept.pop(webhook_id, None) is not None

    def ask_for_ping(self, webhook_id: int, actor: str, now: int) -> bool:
        assert (actor, now) == ("ada", 5)
        return webhook_id in self.kept and self.kept[webhook_id].state == "active"

    def replay(
        self, webhook_id: int, position: int | None, instant: int | None, actor: str, now: int
    ) -> bool:
        assert (instant, actor, now) == (None, "ada", 5)
        return self._put(webhook_id, position=position)

    def deliveries(
        self, webhook_id: int, state: DeliveryState | None, before: tuple[int, str] | None, limit: int
    ) -> DeliveryPage:
        assert (webhook_id, state, limit) == (1, "dead", 25)
        return DeliveryPage([], (7, "case-1-7") if before is None else None)

    def steps(self, webhook_id: int | None, before: int | None, limit: int) -> StepPage:
        assert limit == 25
        step = WebhookStep(9, webhook_id or 1, "WebhookRequested", "ada", 5, 1, dict(BODY))
        return StepPage([step], 9 if before is None else None)

    def _put(self, webhook_id: int, **changed: Any) -> bool:
        if webhook_id not in self.kept:
            return False
        self.kept[webhook_id] = replace(self.kept[webhook_id], **changed)
        return True


def client_of(webhooks: Webhooks | None) -> FlaskClient:
    policy = WebhookPolicy(Reach(frozenset({"hooks.example"})))
    desk = None if webhooks is None else WebhookDesk(webhooks, policy, lambda data: b"sealed " + data)
    stores = Stores(
        samples.FakeAlerts(), samples.FakeOverview(), no_cases(), FakeRejected(),
        FakePerformance(), FakeViews(), FakeShadows(), desk,
    )  # fmt: skip
    return build(
        stores=stores,
        line=Line(samples.NOWHERE),
        doors=Doors(Access((ADA, BOB, EVE)), SessionDesk(FakeSessions(), FernetSeal(), lambda: 5)),
        registry=CollectorRegistry(),
        event_type=event_type_loader.load(),
        clock=lambda: 5,
        streaming=Streaming(threading.Event()),
    ).app.test_client()


def test_from_asking_to_removing() -> None:
    webhooks = Webhooks()
    client = client_of(webhooks)
    made = client.post("/v1/webhooks", json={**BODY, "ruleIds": [7, 7, 3]}, headers=AS_ADA)
    assert (made.status_code, made.headers["ETag"], made.headers["Cache-Control"]) == (201, '"1"', "no-store")
    webhook = made.get_json()
    assert webhooks.sealed == [f"sealed {webhook['secret']}".encode()]
    assert (webhook["state"], webhook["ruleIds"], webhook["minSeverity"]) == ("requested", [7, 3], None)
    assert "secret" not in client.get("/v1/webhooks/1", headers=AS_ADA).get_json()
    seen = {"contentHash": webhook["contentHash"]}
    refused = client.post("/v1/webhooks/1/approve", json=seen, headers=AS_ADA)
    assert (refused.status_code, refused.get_json()["type"]) == (403, f"{PROBLEM}second-person-needed")
    early = client.post("/v1/webhooks/1/test", headers=AS_ADA)
    assert (early.status_code, early.get_json()["type"]) == (409, f"{PROBLEM}webhook-not-active")
    approved = client.post("/v1/webhooks/1/approve", json=seen, headers=AS_BOB)
    assert (approved.status_code, approved.get_json()["state"]) == (200, "active")
    assert client.post("/v1/webhooks/1/test", headers=AS_ADA).status_code == 202
    for path, state in (("pause", "paused"), ("resume", "active")):
        assert client.post(f"/v1/webhooks/1/{path}", headers=AS_ADA).get_json()["state"] == state
    replayed = client.post("/v1/webhooks/1/replay", json={"afterPosition": 40}, headers=AS_ADA)
    assert (replayed.status_code, replayed.get_json()["position"]) == (202, 40)
    (listed,) = client.get("/v1/webhooks", headers=AS_ADA).get_json()["items"]
    assert (listed["deadCount"], listed["lastDelivery"], listed["approvedBy"]) == (0, None, "bob")
    assert client.delete("/v1/webhooks/1", headers=AS_ADA).status_code == 204
    assert client.delete("/v1/webhooks/1", headers=AS_ADA).status_code == 404


def test_a_change_names_the_version_and_waits_for_somebody_else() -> None:
    webhooks = Webhooks()
    client = client_of(webhooks)
    client.post("/v1/webhooks", json=BODY, headers=AS_ADA)
    webhooks.approve(1, webhooks.kept[1].content.hash, "bob", 1)
    changed = {**BODY, "minSeverity": "high", "template": "slack"}
    for match, status in ((None, 428), ('"2"', 412), ("2", 400)):
        headers = AS_ADA if match is None else {**AS_ADA, "If-Match": match}
        assert client.put("/v1/webhooks/1", json=changed, headers=headers).status_code == status
    answer = client.put("/v1/webhooks/1", json=changed, headers={**AS_ADA, "If-Match": '"1"'})
    assert (answer.status_code, answer.headers["ETag"]) == (200, '"2"')
    webhook = answer.get_json()
    assert (webhook["state"], webhook["minSeverity"], webhook["template"]) == ("requested", "high", "slack")
    assert "secret" not in webhook
    assert len(webhooks.sealed) == 1
    old = client.put("/v1/webhooks/1", json=BODY, headers={**AS_ADA, "If-Match": '"1"'})
    assert (old.status_code, old.headers["ETag"]) == (412, '"2"')
    same = client.put("/v1/webhooks/1", json=changed, headers={**AS_ADA, "If-Match": "*"})
    assert (same.status_code, same.headers["ETag"]) == (200, '"2"')


def test_another_secret_is_shown_once_and_ends_no_approval() -> None:
    webhooks = Webhooks()
    client = client_of(webhooks)
    first = client.post("/v1/webhooks", json=BODY, headers=AS_ADA).get_json()["secret"]
    webhooks.approve(1, webhooks.kept[1].content.hash, "bob", 1)
    path = "/v1/webhooks/1/rotate"
    for match, status in ((None, 428), ('"2"', 412)):
        headers = AS_ADA if match is None else {**AS_ADA, "If-Match": match}
        assert client.post(path, json={}, headers=headers).status_code == status
    answer = client.post(path, json={}, headers={**AS_ADA, "If-Match": '"1"'})
    assert (answer.status_code, answer.headers["ETag"], answer.headers["Cache-Control"]) == (
        200,
        '"2"',
        "no-store",
    )
    rotated = answer.get_json()
    assert (rotated["state"], rotated["approvedBy"]) == ("active", "bob")
    assert rotated["formerSecretUntil"] == 5 + 86_400_000
    assert rotated["secret"] != first
    assert webhooks.sealed == [f"sealed {secret}".encode() for secret in (first, rotated["secret"])]
    shown = client.get("/v1/webhooks/1", headers=AS_ADA).get_json()
    assert "secret" not in shown
    for seconds in (-1, 31 * 86_400, "3600"):
        body, headers = {"formerSeconds": seconds}, {**AS_ADA, "If-Match": "*"}
        refused = client.post(path, json=body, headers=headers)
        assert refused.status_code == 422
        assert "formerSeconds" in str(refused.get_json()["errors"])


def test_subjects_are_named_as_filters_name_them_and_are_part_of_what_is_approved() -> None:
    client = client_of(Webhooks())
    asked = {**BODY, "subjects": ["payerId:25", "payeeId:25", "beneficiaryId:a:b"]}
    made = client.post("/v1/webhooks", json=asked, headers=AS_ADA).get_json()
    assert made["subjects"] == ["payeeId:25", "beneficiaryId:a:b"]
    plain = WebhookContent("desk", BODY["url"], "cloudevents", NOTICE_TYPES)
    assert made["contentHash"] == replace(plain, subjects=tuple(made["subjects"])).hash != plain.hash
    # what was approved before there were subjects has the hash that it had
    assert "subjects" not in plain.as_json()


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({**BODY, "subjects": ["payeeId"]}, "subjects"),
        ({**BODY, "subjects": ["colour:red"]}, "subjects"),
        ({**BODY, "url": "https://evil.example/"}, "url"),
        ({**BODY, "url": "http://hooks.example/"}, "url"),
        ({**BODY, "eventTypes": []}, "eventTypes"),
        ({**BODY, "eventTypes": ["CaseForgotten"]}, "eventTypes"),
        ({**BODY, "minSeverity": "terrible"}, "minSeverity"),
        ({**BODY, "ruleIds": ["7"]}, "ruleIds"),
        ({**BODY, "secret": "whsec_c2hvcnQ="}, "secret"),
        ({**BODY, "headers": {}}, "headers"),
        ({"name": "desk"}, "url"),
    ],
)
def test_what_is_refused_is_named(body: dict[str, Any], field: str) -> None:
    answer = client_of(Webhooks()).post("/v1/webhooks", json=body, headers=AS_ADA)
    assert answer.status_code == 422
    assert field in str(answer.get_json()["errors"])


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "body"),
        ({"afterPosition": 1, "from": 1}, "body"),
        ({"afterPosition": "1"}, "afterPosition"),
        ({"from": -1}, "from"),
        ({"to": 1}, "to"),
    ],
)
def test_a_replay_is_from_one_place(body: dict[str, Any], field: str) -> None:
    answer = client_of(Webhooks()).post("/v1/webhooks/1/replay", json=body, headers=AS_ADA)
    assert (answer.status_code, [error["field"] for error in answer.get_json()["errors"]]) == (422, [field])


def test_who_only_reads_sees_where_it_leads_to_and_not_what_lets_in() -> None:
    client = client_of(Webhooks())
    client.post("/v1/webhooks", json=BODY, headers=AS_ADA)
    shown = client.get("/v1/webhooks/1", headers=AS_EVE).get_json()["url"]
    assert shown == "https://hooks.example/\N{HORIZONTAL ELLIPSIS}"
    assert client.get("/v1/webhooks/1", headers=AS_BOB).get_json()["url"] == BODY["url"]
    (step,) = client.get("/v1/webhooks/history", headers=AS_EVE).get_json()["items"]
    assert step["detail"] == {"name": "desk", "url": shown}


def test_pages_lead_on() -> None:
    client = client_of(Webhooks())
    client.post("/v1/webhooks", json=BODY, headers=AS_ADA)
    for path in ("/v1/webhooks/1/deliveries?state=dead", "/v1/webhooks/history?webhookId=1"):
        page = client.get(path, headers=AS_ADA)
        following = page.headers["Link"].partition("<")[2].partition(">")[0]
        assert page.status_code == 200
        last = client.get(following, headers=AS_ADA)
        assert (last.status_code, "Link" in last.headers) == (200, False)
    (step,) = client.get("/v1/webhooks/history", headers=AS_ADA).get_json()["items"]
    assert (step["type"], step["actor"], step["detail"]) == ("WebhookRequested", "ada", BODY)


def test_where_no_host_is_named_there_are_none() -> None:
    client = client_of(None)
    for answer in (
        client.get("/v1/webhooks", headers=AS_ADA),
        client.post("/v1/webhooks", json=BODY, headers=AS_ADA),
    ):
        assert (answer.status_code, answer.get_json()["type"]) == (404, f"{PROBLEM}not-connected")
        assert "TRIPLINE_WEBHOOK_HOSTS" in answer.get_json()["detail"]
