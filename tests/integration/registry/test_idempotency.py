"""Idempotency keys: a repeated request gets the first answer, until its key expires."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import httpx
import psycopg
import pytest

from tests.integration.registry.support.rule_requests import publish
from tests.registry import DEFINITION, RegistryApi

pytestmark = pytest.mark.integration


def test_a_repeated_post_happens_once(api: RegistryApi, client: httpx.Client) -> None:
    headers = {"Idempotency-Key": "once-1"}
    body = {**DEFINITION, "name": "only once"}

    def post(_: int) -> tuple[int, int, str]:
        with api.client() as http:
            answer = http.post("/v1/rules", json=body, headers=headers)
            return answer.status_code, answer.json()["ruleId"], answer.headers["ETag"]

    with ThreadPoolExecutor(8) as pool:
        answers = set(pool.map(post, range(16)))
    assert len(answers) == 1
    assert next(iter(answers))[0] == 201
    assert len(client.get("/v1/rules", params={"name": "only once"}).json()["items"]) == 1
    other = client.post("/v1/rules", json={**body, "limit": "5"}, headers=headers)
    assert (other.status_code, other.json()["type"]) == (422, "urn:tripline:problem:idempotency-key-reused")
    # Keys are the caller's own: the same text from somebody else is another key.
    with api.client("second-key-for-tests") as second:
        theirs = second.post("/v1/rules", json={**body, "name": "once more"}, headers=headers).json()
        assert theirs["ruleId"] != next(iter(answers))[1]


def test_a_repeated_pause_gets_its_first_answer(client: httpx.Client) -> None:
    rule = publish(client)
    headers = {"If-Match": '"1"', "Idempotency-Key": f"pause-{rule['ruleId']}"}
    first = client.post(f"/v1/rules/{rule['ruleId']}/pause", headers=headers)
    again = client.post(f"/v1/rules/{rule['ruleId']}/pause", headers=headers)
    assert (first.status_code, first.json()) == (again.status_code, again.json())
    assert client.post(f"/v1/rules/{rule['ruleId']}/pause", headers={"If-Match": "*"}).status_code == 409


def test_a_refused_post_leaves_no_key_behind(client: httpx.Client) -> None:
    headers = {"Idempotency-Key": "refused-first"}
    assert client.post("/v1/rules", json={"name": "no rule"}, headers=headers).status_code == 422
    assert client.post("/v1/rules", json=dict(DEFINITION), headers=headers).status_code == 201


def test_expired_keys_are_forgotten(api: RegistryApi, client: httpx.Client) -> None:
    headers = {"Idempotency-Key": "old"}
    first = client.post("/v1/rules", json=dict(DEFINITION), headers=headers).json()
    with psycopg.connect(api.dsn) as connection:
        connection.execute("UPDATE registry.idempotency_keys SET expires_at = 1 WHERE key = 'old'")
    assert (
        client.post("/v1/rules", json=dict(DEFINITION), headers=headers).json()["ruleId"] != first["ruleId"]
    )


def test_one_key_is_not_for_two_queries(client: httpx.Client) -> None:
    rule = client.post("/v1/rules", json=DEFINITION).json()
    path = f"/v1/rules/{rule['ruleId']}/pause"
    headers = {"Idempotency-Key": "query-1", "If-Match": "*"}
    first = client.post(path, headers=headers, params={"reason": "one"})
    again = client.post(path, headers=headers, params={"reason": "one"})
    assert (first.status_code, again.json()) == (200, first.json())
    other = client.post(path, headers=headers, params={"reason": "one", "breakGlass": "true"})
    assert (other.status_code, other.json()["type"]) == (422, "urn:tripline:problem:idempotency-key-reused")
