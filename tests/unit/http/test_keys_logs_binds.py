"""Key files, addresses and logs: one clear sentence for what is wrong, and never a secret."""

from __future__ import annotations

import hashlib
import json
import logging
import time
from pathlib import Path
from typing import Any

import pytest
import structlog

from tripline_http.bind_address import Bind, parse_bind
from tripline_http.errors import ConfigurationError
from tripline_http.keys.key_file import load_api_keys
from tripline_http.keys.roles import ROLES
from tripline_http.logs import configure_logs, mask_secrets

DIGEST = "ab" * 32
ENTRY = {"name": "ada", "sha256": DIGEST, "scopes": ["rules:read"]}


def write(folder: Path, value: Any) -> Path:
    path = folder / "keys.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    path.chmod(0o600)
    return path


def test_a_key_file_is_read(tmp_path: Path) -> None:
    (key,) = load_api_keys(write(tmp_path, [{**ENTRY, "sha256": DIGEST.upper()}]))
    assert (key.name, key.sha256, key.scopes) == ("ada", DIGEST, frozenset({"rules:read"}))
    assert key.role is None


@pytest.mark.parametrize("role", ROLES)
def test_a_role_is_its_scopes(tmp_path: Path, role: str) -> None:
    (key,) = load_api_keys(write(tmp_path, [{"name": "ada", "sha256": DIGEST, "role": role}]))
    assert (key.role, key.scopes) == (role, ROLES[role])


def test_scopes_beside_a_role_are_what_is_left_of_it(tmp_path: Path) -> None:
    (key,) = load_api_keys(write(tmp_path, [{**ENTRY, "role": "analyst"}]))
    assert (key.role, key.scopes) == ("analyst", frozenset({"rules:read"}))


WRONG_FILES: list[tuple[Any, str]] = [
    ("{", "cannot be read"),
    ({}, "must hold a JSON list"),
    (["ada"], "Entry 0"),
    ([{**ENTRY, "name": ""}], "name of 1 to 64"),
    ([{**ENTRY, "name": "a\n"}], "name of 1 to 64"),
    ([{**ENTRY, "sha256": "ab"}], "sha256 as 64 hex digits"),
    ([{**ENTRY, "scopes": "rules:read"}], "a role or a list of scopes"),
    ([{"name": "ada", "sha256": DIGEST}], "a role or a list of scopes"),
    ([{**ENTRY, "role": "root"}], "one of these as its role: viewer, analyst"),
    ([{**ENTRY, "role": ["viewer"]}], "one of these as its role"),
    ([{**ENTRY, "role": None}], "one of these as its role"),
    (
        [{**ENTRY, "role": "admin", "scopes": ["rules:write"]}],
        "scopes that the role admin has not: rules:write",
    ),
    ([{**ENTRY, "scopes": ["rules:all"]}], "unknown scopes: rules:all"),
    ([ENTRY, ENTRY], "names an actor twice"),
    ([ENTRY, {**ENTRY, "name": "bob"}], "equal keys for ada, bob"),
    ([{**ENTRY, "sha256": hashlib.sha256(b"").hexdigest()}], "(ada) has the hash of an empty key"),
    ([{**ENTRY, "notafter": "2027-01-31T00:00:00Z"}], "unknown members: notafter"),
    ('[{"name": "ada", "name": "bob"}]', "cannot be read"),
    *[
        ([{**ENTRY, "notAfter": end}], "notAfter as a time of RFC 3339")
        for end in (
            1,
            None,
            "",
            "2027-01-31",
            "2027-01-31T00:00:00",
            "2027-02-30T00:00:00Z",
            "20270131T000000Z",
        )
    ],
]


@pytest.mark.parametrize(("value", "said"), WRONG_FILES)
def test_a_wrong_key_file_is_named_and_no_hash_with_it(tmp_path: Path, value: Any, said: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        load_api_keys(write(tmp_path, value))
    assert said in str(refused.value)
    assert DIGEST not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970-01-02T00:00:00Z", 86_400.0),
        ("1970-01-02t01:00:00.5+01:00", 86_400.5),
        ("1969-12-31T23:59:59-00:01", 59.0),
    ],
)
def test_the_end_of_a_key_is_read(tmp_path: Path, text: str, seconds: float) -> None:
    (key,) = load_api_keys(write(tmp_path, [{**ENTRY, "notAfter": text}]))
    assert key.not_after == seconds


@pytest.mark.parametrize("mode", [0o400, 0o440, 0o600, 0o640])
def test_a_closed_key_file_is_read(tmp_path: Path, mode: int) -> None:
    path = write(tmp_path, [ENTRY])
    path.chmod(mode)
    assert load_api_keys(path)


@pytest.mark.parametrize("mode", [0o644, 0o604, 0o660, 0o620, 0o602, 0o666])
def test_a_key_file_that_others_can_read_or_write_is_refused(tmp_path: Path, mode: int) -> None:
    path = write(tmp_path, [ENTRY])
    path.chmod(mode)
    with pytest.raises(ConfigurationError, match=f"has mode {mode:04o}"):
        load_api_keys(path)


def test_a_missing_key_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be read"):
        load_api_keys(tmp_path / "none.json")


@pytest.mark.parametrize(
    ("text", "bind", "loopback"),
    [
        ("127.0.0.1:8081", Bind("127.0.0.1", 8081), True),
        ("[::1]:0", Bind("::1", 0), True),
        ("localhost:1", Bind("localhost", 1), True),
        ("0.0.0.0:80", Bind("0.0.0.0", 80), False),
        ("example.org:80", Bind("example.org", 80), False),
    ],
)
def test_an_address(text: str, bind: Bind, loopback: bool) -> None:
    assert parse_bind("X", text) == bind
    assert str(bind) == text
    assert bind.is_loopback is loopback


@pytest.mark.parametrize("text", ["", "8081", ":8081", "host:", "host:65536", "host:-1", "host:٣"])
def test_an_address_that_is_none(text: str) -> None:
    with pytest.raises(ConfigurationError, match="TRIPLINE_X"):
        parse_bind("TRIPLINE_X", text)


def test_secrets_are_masked_at_any_depth() -> None:
    event = {
        "Authorization": "Bearer abc",
        "text": "sent Bearer abc to postgresql://ada:hunter2@db/x password='x y'",
        "inner": [{"api_key": "abc", "user": "ada"}],
        "dsn": None,
    }
    masked = mask_secrets(None, "info", event)
    text = json.dumps(masked)
    assert not any(secret in text for secret in ("abc", "hunter2", "x y"))
    assert masked["inner"] == [{"api_key": "***", "user": "ada"}]
    assert masked["dsn"] is None


@pytest.mark.parametrize(
    "piece", ["a", "a://a:", "a://", "a:", "password='", "password ", "bearer ", "@", " ", "a://a:@"]
)
def test_masking_takes_linear_time_whatever_the_text(piece: str) -> None:
    # 1 MB: a quadratic pattern takes minutes to an hour, a linear one far less than a second for most pieces.
    text = piece * (1_000_000 // len(piece))
    began = time.process_time()
    mask_secrets(None, "info", {"event": text})
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("kafka+ssl://ada:" + "p" * 2048 + "@h/x", "kafka+ssl://ada:***@h/x"),
        ("POSTGRESQL://a:b:c/d@h and postgresql://e:f@g", "POSTGRESQL://a:***@h and postgresql://e:***@g"),
        ("GET http://127.0.0.1:8081/v1/rules by x@y", "GET http://127.0.0.1:8081/v1/rules by x@y"),
        ("password = 'x y' PASSWORD=z", "password = *** PASSWORD=***"),
        ("password='open z", "password=*** z"),
        ("Authorization: Bearer  tk_x, bearer tk_y", "Authorization: Bearer  *** bearer ***"),
        ("a" * 5000 + " postgresql://a:b@c", "a" * 5000 + " postgresql://a:***@c"),
    ],
)
def test_a_text_keeps_all_but_its_secrets(text: str, masked: str) -> None:
    assert mask_secrets(None, "info", {"event": text}) == {"event": masked}


def test_an_unknown_level_is_said() -> None:
    with pytest.raises(ConfigurationError, match="'loud'"):
        configure_logs("loud", "test")


def test_every_line_is_json_the_standard_library_s_too(capsys: pytest.CaptureFixture[str]) -> None:
    before = logging.getLogger().handlers[:], logging.getLogger().level
    try:
        configure_logs("info", "test")
        structlog.get_logger("ours").info("hello", token="abc")
        logging.getLogger("theirs").warning("to %s", "postgresql://a:b@c/d")
        logging.getLogger("theirs").debug("not shown")
    finally:
        logging.getLogger().handlers[:] = before[0]
        logging.getLogger().setLevel(before[1])
        structlog.reset_defaults()
    ours, theirs = (json.loads(line) for line in capsys.readouterr().err.splitlines())
    assert (ours["event"], ours["token"], ours["process"], ours["level"]) == ("hello", "***", "test", "info")
    assert theirs["event"] == "to postgresql://a:***@c/d"
