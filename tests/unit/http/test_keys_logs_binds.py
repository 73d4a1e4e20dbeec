"""Key files, addresses and logs: one clear sentence for what is wrong, and never a secret."""

from __future__ import annotations

import json
import logging
import time
from pathlib import Path
from typing import Any

import pytest
import structlog

from tripline_http.auth import load_api_keys
from tripline_http.bind_address import Bind, parse_bind
from tripline_http.errors import ConfigurationError
from tripline_http.logs import configure_logs, mask_secrets

DIGEST = "ab" * 32
ENTRY = {"name": "ada", "sha256": DIGEST, "scopes": ["rules:read"]}


def write(folder: Path, value: Any) -> Path:
    path = folder / "keys.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def test_a_key_file_is_read(tmp_path: Path) -> None:
    (key,) = load_api_keys(write(tmp_path, [{**ENTRY, "sha256": DIGEST.upper()}]))
    assert (key.name, key.sha256, key.scopes) == ("ada", DIGEST, frozenset({"rules:read"}))


WRONG_FILES: list[tuple[Any, str]] = [
    ("{", "cannot be read"),
    ({}, "must hold a JSON list"),
    (["ada"], "Entry 0"),
    ([{**ENTRY, "name": ""}], "name of 1 to 64"),
    ([{**ENTRY, "name": "a\n"}], "name of 1 to 64"),
    ([{**ENTRY, "sha256": "ab"}], "sha256 as 64 hex digits"),
    ([{**ENTRY, "scopes": "rules:read"}], "a list of scopes"),
    ([{**ENTRY, "scopes": ["rules:all"]}], "unknown scopes: rules:all"),
    ([ENTRY, ENTRY], "names an actor twice"),
]


@pytest.mark.parametrize(("value", "said"), WRONG_FILES)
def test_a_wrong_key_file_is_named_and_no_hash_with_it(tmp_path: Path, value: Any, said: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        load_api_keys(write(tmp_path, value))
    assert said in str(refused.value)
    assert DIGEST not in str(refused.value)


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
