"""The settings of Kafka's clients: what they come to, and what is refused."""

from __future__ import annotations

import logging
import re
from dataclasses import replace
from pathlib import Path

import pytest

from tripline_contracts.errors import InvalidKafkaSettings
from tripline_contracts.kafka.cluster import KafkaCluster, Sasl, kafka_cluster

PASSWORD = "K7-secret_of.the{engine}"


@pytest.fixture
def password_file(tmp_path: Path) -> Path:
    file = tmp_path / "engine.password"
    file.write_text(PASSWORD)
    file.chmod(0o600)
    return file


@pytest.fixture
def variables(tmp_path: Path, password_file: Path) -> dict[str, str]:
    (tmp_path / "ca.pem").write_text("certificates")
    return {
        "TRIPLINE_KAFKA": "kafka:9092",
        "TRIPLINE_KAFKA_SECURITY_PROTOCOL": "SASL_SSL",
        "TRIPLINE_KAFKA_SECURITY_USER": "tripline-engine",
        "TRIPLINE_KAFKA_SECURITY_PASSWORD_FILE": str(password_file),
        "TRIPLINE_KAFKA_SECURITY_CA_FILE": str(tmp_path / "ca.pem"),
    }


def test_without_settings_nothing_is_asked() -> None:
    cluster = kafka_cluster({"TRIPLINE_KAFKA": " k:9092 "})
    assert cluster == KafkaCluster("k:9092")
    assert cluster.client_config() == cluster.java_config() == {"bootstrap.servers": "k:9092"}


def test_librdkafka_is_given_everything(variables: dict[str, str], tmp_path: Path) -> None:
    assert kafka_cluster(variables).client_config() == {
        "bootstrap.servers": "kafka:9092",
        "security.protocol": "SASL_SSL",
        "ssl.ca.location": str(tmp_path / "ca.pem"),
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": "tripline-engine",
        "sasl.password": PASSWORD,
    }


def test_java_reads_the_password_itself(variables: dict[str, str], tmp_path: Path) -> None:
    config = kafka_cluster(variables).java_config()
    assert PASSWORD not in repr(config)
    assert config["sasl.jaas.config"].endswith(
        f'ScramLoginModule required username="tripline-engine" password="${{file:{tmp_path}:engine.password}}";'
    )
    assert config["ssl.truststore.location"] == str(tmp_path / "ca.pem")


def test_the_password_is_in_no_repr_and_no_variable(variables: dict[str, str]) -> None:
    cluster = kafka_cluster(variables)
    assert PASSWORD not in f"{cluster!r} {cluster} {cluster.variables()}"


def test_its_variables_read_back(variables: dict[str, str]) -> None:
    cluster = kafka_cluster(variables)
    assert kafka_cluster(cluster.variables()) == cluster
    assert kafka_cluster(KafkaCluster("k:1").variables()) == KafkaCluster("k:1")


def test_tls_without_a_user_is_allowed(variables: dict[str, str]) -> None:
    tls = {name: variables[name] for name in ("TRIPLINE_KAFKA", "TRIPLINE_KAFKA_SECURITY_CA_FILE")}
    cluster = kafka_cluster(tls | {"TRIPLINE_KAFKA_SECURITY_PROTOCOL": "SSL"})
    assert cluster.sasl is None
    assert cluster.client_config()["security.protocol"] == "SSL"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"KAFKA": ""}, "TRIPLINE_KAFKA is not set: give the brokers' addresses, like 127.0.0.1:9092."),
        ({"KAFKA_SECURITY_PROTOCOL": "TLS"}, "is 'TLS'; expected PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL."),
        ({"KAFKA_SECURITY_MECHANISM": "GSSAPI"}, "is 'GSSAPI'; expected SCRAM-SHA-512, SCRAM-SHA-256, PLAIN."),
        ({"KAFKA_SECURITY_USER": ""}, "USER is ''; expected letters"),
        ({"KAFKA_SECURITY_USER": 'a" evil="'}, "USER is .*; expected letters"),
        ({"KAFKA_SECURITY_PASSWORD_FILE": ""}, "PASSWORD_FILE is not set, and .* is SASL_SSL"),
        ({"KAFKA_SECURITY_PASSWORD_FILE": "/nowhere/x"}, "PASSWORD_FILE is /nowhere/x: there is no such file"),
        ({"KAFKA_SECURITY_CA_FILE": "/nowhere/x"}, "CA_FILE is /nowhere/x: there is no such file"),
        ({"KAFKA_SECURITY_PROTOCOL": "SASL_PLAINTEXT"}, "CA_FILE is set, but .* is SASL_PLAINTEXT, without TLS"),
        ({"KAFKA_SECURITY_PROTOCOL": "SSL"}, "USER is set, but .* is SSL, which asks nobody who they are"),
        ({"KAFKA_SECURITY_PROTOCOL": "", "KAFKA_SECURITY_CA_FILE": ""}, "USER is set, but .* is PLAINTEXT"),
        (
            {"KAFKA_SECURITY_PROTOCOL": "SASL_PLAINTEXT", "KAFKA_SECURITY_CA_FILE": "",
             "KAFKA_SECURITY_MECHANISM": "PLAIN"},
            "MECHANISM PLAIN would send the password in clear",
        ),
    ],
)  # fmt: skip
def test_what_contradicts_itself_is_refused(
    variables: dict[str, str], changed: dict[str, str], message: str
) -> None:
    with pytest.raises(InvalidKafkaSettings, match=message):
        kafka_cluster(variables | {f"TRIPLINE_{name}": value for name, value in changed.items()})


@pytest.mark.parametrize(
    "content", ["", "with blank", "line\n", 'quo"te', "back\\slash", "ümlaut", "x" * 1001]
)
def test_a_file_with_something_else_is_refused_without_saying_what(
    variables: dict[str, str], password_file: Path, content: str
) -> None:
    password_file.write_text(content)
    with pytest.raises(InvalidKafkaSettings, match="holds something else than one password") as raised:
        kafka_cluster(variables)
    assert not content or content not in str(raised.value)


@pytest.mark.parametrize("mode", [0o602, 0o604, 0o620, 0o666])
def test_a_file_that_others_can_use_is_refused(
    variables: dict[str, str], password_file: Path, mode: int
) -> None:
    password_file.chmod(mode)
    with pytest.raises(InvalidKafkaSettings, match=re.escape(f"has mode {mode:04o}")):
        kafka_cluster(variables)


def test_a_new_password_counts_from_the_next_client_on(
    variables: dict[str, str], password_file: Path
) -> None:
    cluster = kafka_cluster(variables)
    password_file.write_text("another")
    assert cluster.client_config()["sasl.password"] == "another"


def test_plain_without_tls_is_for_loopback(password_file: Path) -> None:
    cluster = KafkaCluster("127.0.0.1:9092", "SASL_PLAINTEXT", Sasl("PLAIN", "tripline-admin", password_file))
    assert kafka_cluster(cluster.variables()) == cluster
    for servers in ("127.0.0.1:9092,kafka:9092", "127.0.0.1.example:9092"):
        with pytest.raises(InvalidKafkaSettings, match="in clear"):
            kafka_cluster(replace(cluster, servers=servers).variables())


def test_nothing_is_logged(variables: dict[str, str], caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        kafka_cluster(variables).client_config()
    assert PASSWORD not in caplog.text
