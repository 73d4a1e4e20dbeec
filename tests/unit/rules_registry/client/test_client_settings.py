"""Whom the client talks to, and its key: never told in a message."""

from __future__ import annotations

from pathlib import Path

import pytest

from rules_registry.client.client_settings import ClientSettings, event_type_of, read_client_settings
from tripline_http.errors import ConfigurationError

URL = "http://127.0.0.1:8081"
KEY = {"TRIPLINE_REGISTRY_KEY": " a-key-for-tests \n"}


def key_file(folder: Path, text: str, mode: int = 0o600) -> Path:
    file = folder / "key"
    file.write_text(text, encoding="utf-8")
    file.chmod(mode)
    return file


def test_the_file_comes_before_the_variable(tmp_path: Path) -> None:
    file = key_file(tmp_path, "another-key-for-tests\n", 0o640)
    assert read_client_settings(KEY, f"{URL}/", file) == ClientSettings(URL, "another-key-for-tests")
    settings = read_client_settings(KEY, URL, None)
    assert settings == ClientSettings(URL, "a-key-for-tests")
    assert "key-for" not in repr(settings)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "registry:8081",
        "ftp://registry",
        "http://",
        "http://me@registry",
        "http://x/?a=1",
        "http://x:many",
        "http://[",
    ],
)
def test_addresses_that_are_none(url: str) -> None:
    with pytest.raises(ConfigurationError, match=r"TRIPLINE_REGISTRY_URL is .*; expected http://host:port"):
        read_client_settings(KEY, url, None)


@pytest.mark.parametrize(
    ("text", "mode", "sentence"),
    [
        ("a-key-for-tests", 0o644, "has mode 0644: group and others must not write it, others not read it"),
        ("a-key-for-tests", 0o660, "has mode 0660"),
        ("a-key for-tests", 0o600, "holds something else than one key"),
        ("", 0o600, "No API key: set TRIPLINE_REGISTRY_KEY_FILE"),
    ],
)
def test_key_files_that_cannot_be_used(tmp_path: Path, text: str, mode: int, sentence: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        read_client_settings({}, URL, key_file(tmp_path, text, mode))
    assert sentence in str(refused.value)
    assert "for-tests" not in str(refused.value).replace(str(tmp_path), "")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be read: No such file"):
        read_client_settings(KEY, URL, tmp_path / "none")


def test_the_event_type_is_the_one_of_every_process() -> None:
    assert event_type_of({}).name == "transaction"
    assert event_type_of({"TRIPLINE_EVENT_TYPE": "card-authorisation"}).name == "card-authorisation"
    with pytest.raises(ConfigurationError, match="TRIPLINE_EVENT_TYPE is nothing"):
        event_type_of({"TRIPLINE_EVENT_TYPE": "nothing"})
