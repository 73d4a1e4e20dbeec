"""API keys: given out once a name, rotated with an overlap, revoked for good; the trail tells it without secrets."""

from __future__ import annotations

import hashlib
import itertools
import json
from typing import Any

import pytest

from rules_registry.domain.actor import Actor
from rules_registry.domain.keys import api_key
from rules_registry.domain.keys.api_key import Key, Secret
from rules_registry.errors import KeyIsRevoked, KeyNameTaken, KeyNotFound, QuotaExceeded, UnfitEnd
from rules_registry.service.api_keys import ApiKeys
from tests.unit.rules_registry.support.fakes import FakeClock, FakeStore
from tests.unit.rules_registry.support.samples import NOW

ADMIN = Actor("root", "admin", "r-1", "a new colleague")


@pytest.fixture
def store() -> FakeStore:
    return FakeStore()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def keys(store: FakeStore, clock: FakeClock) -> ApiKeys:
    numbers = itertools.count(1)
    return ApiKeys(store, clock, lambda: f"tk_secret-number-{next(numbers)}", lambda: ["ops"])


def same_end(before: int | None) -> int | None:
    return before


def goods(key: Key, now_ms: int) -> list[bool]:
    """Of each secret whether it lets somebody in then."""
    return [secret.is_good(now_ms) for secret in key.secrets]


def test_a_key_is_kept_as_its_hash_and_told_once(keys: ApiKeys, store: FakeStore) -> None:
    given = keys.give_out(ADMIN, "ada", "analyst", NOW + 5_000)
    digest = hashlib.sha256(b"tk_secret-number-1").hexdigest()
    assert given.clear == "tk_secret-number-1"
    secret = Secret("tk_secre", digest, NOW, NOW + 5_000)
    assert given.key == Key("ada", "analyst", NOW, "root", (secret,))
    assert store.log.api_keys.get("ada") == given.key
    assert given.key.state(NOW + 5_000) == "ACTIVE"
    assert given.key.state(NOW + 5_001) == "EXPIRED"


@pytest.mark.parametrize("name", ["ada", "ADA", "ops", "Ops"])
def test_a_name_is_given_once(keys: ApiKeys, name: str) -> None:
    keys.give_out(ADMIN, "ada", "analyst", None)
    keys.revoke(ADMIN, "ada")
    with pytest.raises(KeyNameTaken):
        keys.give_out(ADMIN, name, "approver", None)


@pytest.mark.parametrize("end", [NOW, NOW - 1, 0])
def test_a_key_that_has_ended_is_not_given_out(keys: ApiKeys, store: FakeStore, end: int) -> None:
    with pytest.raises(UnfitEnd):
        keys.give_out(ADMIN, "ada", "analyst", end)
    assert store.log.audit == []


def test_after_a_rotation_the_secret_before_is_good_for_the_overlap(keys: ApiKeys, clock: FakeClock) -> None:
    keys.give_out(ADMIN, "ada", "analyst", None)
    clock.now += 1_000
    rotated = keys.rotate(ADMIN, "ada", 60, same_end).key
    last = clock.now + 60_000
    assert goods(rotated, clock.now) == [True, True]
    assert goods(rotated, last) == [True, True]
    assert goods(rotated, last + 1) == [False, True]
    # The one before the one before ends at once, whatever overlap it had.
    clock.now += 1_000
    again = keys.rotate(ADMIN, "ada", 60, same_end).key
    assert goods(again, clock.now) == [False, True, True]


def test_without_an_overlap_the_secret_before_ends_at_once(keys: ApiKeys, clock: FakeClock) -> None:
    keys.give_out(ADMIN, "ada", "analyst", None)
    rotated = keys.rotate(ADMIN, "ada", 0, same_end)
    assert rotated.clear == "tk_secret-number-2"
    assert goods(rotated.key, clock.now) == [False, True]


def test_an_overlap_moves_no_end_away(keys: ApiKeys, clock: FakeClock) -> None:
    keys.give_out(ADMIN, "ada", "analyst", NOW + 5_000)
    rotated = keys.rotate(ADMIN, "ada", 60, lambda _: None).key
    assert [secret.not_after for secret in rotated.secrets] == [NOW + 5_000, None]
    clock.now += 6_000
    with pytest.raises(UnfitEnd):
        keys.rotate(ADMIN, "ada", 0, lambda _: NOW + 5_000)


def test_a_revoked_key_stays_revoked(keys: ApiKeys, store: FakeStore, clock: FakeClock) -> None:
    keys.give_out(ADMIN, "ada", "analyst", None)
    clock.now += 5
    keys.revoke(ADMIN, "ada")
    key = store.log.api_keys.get("ada")
    assert key is not None
    assert (key.state(clock.now), key.revoked_at, key.revoked_by) == ("REVOKED", NOW + 5, "root")
    for again in (lambda: keys.revoke(ADMIN, "ada"), lambda: keys.rotate(ADMIN, "ada", 0, same_end)):
        with pytest.raises(KeyIsRevoked):
            again()


@pytest.mark.parametrize("name", ["bob", "", "a\x00", "ada\n", "x" * 65, "é"])
def test_what_was_not_given_out_is_not_found(keys: ApiKeys, name: str) -> None:
    with pytest.raises(KeyNotFound):
        keys.revoke(ADMIN, name)
    assert not (name and api_key.is_name(name)) or name == "bob"


def test_so_many_keys_and_no_more(keys: ApiKeys, monkeypatch: pytest.MonkeyPatch) -> None:
    assert api_key.MAX_LIVING == 1_000
    monkeypatch.setattr(api_key, "MAX_LIVING", 5)
    for number in range(5):
        keys.give_out(ADMIN, f"key-{number}", "viewer", None)
    with pytest.raises(QuotaExceeded, match="This would come to 6 API keys; 5 are allowed"):
        keys.give_out(ADMIN, "one-more", "viewer", None)
    keys.revoke(ADMIN, "key-0")
    keys.give_out(ADMIN, "one-more", "viewer", None)


def test_the_trail_tells_each_step_and_nothing_to_get_in_with(
    keys: ApiKeys, store: FakeStore, clock: FakeClock
) -> None:
    secrets = [keys.give_out(ADMIN, "ada", "analyst", None).clear]
    clock.now += 1
    secrets.append(keys.rotate(ADMIN, "ada", 60, same_end).clear)
    keys.revoke(ADMIN, "ada")
    told: list[dict[str, Any]] = [json.loads(entry.text) for entry in store.log.audit]
    assert [entry["type"] for entry in told] == ["KeyGivenOut", "KeyRotated", "KeyRevoked"]
    for entry in told:
        assert entry["subject"] == {"kind": "key", "id": "ada"}
        assert (entry["actor"], entry["role"], entry["requestId"], entry["reason"]) == (
            "root", "admin", "r-1", "a new colleague"
        )  # fmt: skip
        assert entry["position"] is None
    assert told[0]["before"] is None
    assert [entry["before"] for entry in told[1:]] == [entry["after"] for entry in told[:2]]
    assert told[2]["after"]["revokedAt"] == clock.now
    text = json.dumps(told)
    for clear in secrets:
        assert clear not in text
        assert hashlib.sha256(clear.encode()).hexdigest() not in text
