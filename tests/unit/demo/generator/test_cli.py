from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from environs import Env

from tripline_demo.generator import cli
from tripline_demo.generator.errors import InvalidSettings
from tripline_demo.generator.settings import read_settings
from tripline_http.bind_address import LOOPBACK


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in (
        "TRIPLINE_HTTP_BIND",
        "TRIPLINE_GENERATOR_RATE",
        "TRIPLINE_GENERATOR_ALLOW_REMOTE",
        "TRIPLINE_HTTP_HOSTS",
        "TRIPLINE_KAFKA",
        "TRIPLINE_EVENT_TYPE",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TRIPLINE_KAFKA", "127.0.0.1:1")
    monkeypatch.setenv("TRIPLINE_API_KEYS_FILE", "keys.json")
    return monkeypatch


def test_settings_have_defaults(environment: pytest.MonkeyPatch) -> None:
    settings = read_settings(Env())
    assert (str(settings.bind), settings.traffic.rate, settings.hosts) == ("127.0.0.1:8083", 0, LOOPBACK)


def test_names_that_it_answers_to_are_listed(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("TRIPLINE_HTTP_HOSTS", "generator, demo.example")
    assert read_settings(Env()).hosts.names == {("generator", None), ("demo.example", None)}


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("TRIPLINE_KAFKA", "", "TRIPLINE_KAFKA is not set"),
        ("TRIPLINE_HTTP_BIND", "0.0.0.0:8083", "TRIPLINE_GENERATOR_ALLOW_REMOTE"),
        ("TRIPLINE_HTTP_BIND", "8083", "TRIPLINE_HTTP_BIND"),
        ("TRIPLINE_GENERATOR_RATE", "20001", "TRIPLINE_GENERATOR_RATE"),
        ("TRIPLINE_GENERATOR_RATE", "fast", "TRIPLINE_GENERATOR_RATE"),
        (
            "TRIPLINE_EVENT_TYPE",
            "cards",
            "TRIPLINE_EVENT_TYPE is cards: expected activity, card-authorisation, transaction",
        ),
        ("TRIPLINE_GENERATOR_SEED", "-1", "TRIPLINE_GENERATOR_SEED"),
        ("TRIPLINE_API_KEYS_FILE", "", "TRIPLINE_API_KEYS_FILE is not set"),
        ("TRIPLINE_HTTP_HOSTS", "a,http://b", "TRIPLINE_HTTP_HOSTS has 'http://b'"),
    ],
)
def test_a_wrong_setting_is_named(environment: pytest.MonkeyPatch, name: str, value: str, said: str) -> None:
    environment.setenv(name, value)
    with pytest.raises(InvalidSettings, match=said):
        read_settings(Env())


def test_beyond_loopback_only_when_told_to(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("TRIPLINE_HTTP_BIND", "0.0.0.0:8083")
    environment.setenv("TRIPLINE_GENERATOR_ALLOW_REMOTE", "true")
    with pytest.raises(InvalidSettings, match="TRIPLINE_HTTP_HOSTS is not set, and others can reach"):
        read_settings(Env())
    environment.setenv("TRIPLINE_HTTP_HOSTS", "generator")
    assert read_settings(Env()).bind.host == "0.0.0.0"


def test_a_wrong_setting_ends_the_process_with_a_sentence(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("TRIPLINE_HTTP_BIND", "0.0.0.0:8083")
    result = CliRunner().invoke(cli.main)
    assert result.exit_code == 1
    assert "listens on loopback only" in result.output


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("x.csv", ["--mapping", "x.csv"], "does not exist"),
        ("x.csv", ["--speed", "fast"], "or max"),
        ("x.csv", ["--format", "xml"], "xml"),
    ],
)
def test_a_wrong_call_of_replay_is_explained(
    tmp_path: Path, name: str, options: list[str], said: str
) -> None:
    file = tmp_path / name
    file.write_text("")
    result = CliRunner().invoke(cli.main, ["replay", str(file), *options])
    assert result.exit_code == 2
    assert said in result.output


def test_a_mapping_that_cannot_be_used_and_a_file_that_cannot_be_read_are_explained(
    environment: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file, mapping = tmp_path / "x.csv", tmp_path / "mapping.yaml"
    file.write_text("transactionId,x\n1,2\n")
    mapping.write_text("fields: 5")
    refused = CliRunner().invoke(cli.main, ["replay", str(file), "--mapping", str(mapping)])
    assert (refused.exit_code, "fields: expected a mapping from fields" in refused.output) == (2, True)
    unread = CliRunner().invoke(cli.main, ["replay", str(file)])
    assert (unread.exit_code, "x.csv: the header has no column for eventTime" in unread.output) == (1, True)


def test_a_mapping_is_proposed_without_a_kafka(environment: pytest.MonkeyPatch, tmp_path: Path) -> None:
    environment.delenv("TRIPLINE_KAFKA")
    file = tmp_path / "x.json"
    file.write_text('{"ref":"a"}')
    proposed = CliRunner().invoke(cli.main, ["replay", "--propose", str(file)])
    assert (proposed.exit_code, 'transactionId: "ref"' in proposed.output) == (0, True)
    file.write_bytes(b"PK\x03\x04")
    assert (
        "x.json: the file is a zip archive"
        in CliRunner().invoke(cli.main, ["replay", "--propose", str(file)]).output
    )
