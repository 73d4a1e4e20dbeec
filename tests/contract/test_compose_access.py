"""Secrets, networks, ports and volumes in docker-compose.yml: no service has more than it needs."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.containers.compose import ROOT, Service
from tests.contract.support.compose_services import FILE, OURS, SERVICES, for_each, port_of
from tripline_contracts.kafka import access as kafka_access
from tripline_demo import kafka_passwords
from tripline_demo.deployment import passfiles, secret_files
from tripline_demo.embedded import postgres
from tripline_demo.stack.plan import DATABASE
from tripline_demo.stack.program import Program
from tripline_http.bind_address import HOSTS, METRICS_BIND, parse_bind, parse_hosts, parse_metrics_bind

pytestmark = pytest.mark.contract

GIB = 1024**3
CAPABILITIES = {"postgres": ["CHOWN", "DAC_OVERRIDE", "FOWNER", "SETGID", "SETUID"]}
"""What an entrypoint needs that begins as root: it reads the password, takes the data over, becomes another user."""
WRITTEN = {"postgres": ["/var/run/postgresql"], "kafka": ["/opt/kafka/config", "/opt/kafka/logs"]}
"""Folders of official images, in memory; besides /tmp."""


def size_of(text: str) -> int:
    """Bytes of a size with m or g."""
    return int(text[:-1]) * {"m": 1024**2, "g": GIB}[text[-1]]


class TestSecrets:
    def test_they_are_the_files_that_make_secrets_makes(self, tmp_path: Path) -> None:
        made = secret_files.make(tmp_path, secret_files.Owner(os.geteuid(), os.getegid()))
        assert set(FILE["secrets"]) == set(made) - {secret_files.CLEAR_KEYS}
        assert all(secret == {"file": f"secrets/{name}"} for name, secret in FILE["secrets"].items())
        assert "secrets/" in (ROOT / ".gitignore").read_text().splitlines()
        assert re.search(r"secret_files secrets \.env$", (ROOT / "Makefile").read_text(), re.MULTILINE)

    @for_each({**SERVICES})
    def test_a_service_has_those_that_it_names_and_no_others(self, service: Service) -> None:
        said = set(re.findall(r"/run/secrets/([\w.-]+)", " ".join(service.environment.values())))
        assert set(service.secrets) <= set(FILE["secrets"])
        if service.name == "topics":  # it is given their folder
            said |= {kafka_passwords.file_name(identity.name) for identity in kafka_access.identities()}
        if service.name != "logins":
            assert said == set(service.secrets)

    @for_each({**SERVICES})
    def test_who_reads_one_owns_it_or_is_in_its_group(self, service: Service) -> None:
        user = f"${{{secret_files.USER_VARIABLE}:?Run make secrets first}}"
        group = f"${{{secret_files.GROUP_VARIABLE}:?Run make secrets first}}"
        in_group = service.name in {"engine", "archiver", "prover", "kafka"}
        assert service.raw.get("group_add") == ([group] if in_group else None)
        if in_group:
            assert set(service.secrets) <= secret_files.FOR_THE_GROUP
        if service.name != "postgres":  # it begins as root
            assert service.raw.get("user") == (user if service.secrets and not in_group else None)

    @for_each({name: service for name, service in OURS.items() if "TRIPLINE_KAFKA" in service.settings})
    def test_kafka_knows_each_process_by_a_name_of_its_own(
        self, service: Service, programs: dict[str, Program]
    ) -> None:
        given = service.settings
        user = given["TRIPLINE_KAFKA_SECURITY_USER"]
        assert user == ("tripline-admin" if service.name == "topics" else f"tripline-{service.name}")
        assert user == programs[service.name].environment["TRIPLINE_KAFKA_SECURITY_USER"]
        file = f"/run/secrets/{kafka_passwords.file_name(user)}"
        assert given["TRIPLINE_KAFKA_SECURITY_PASSWORD_FILE"] == file
        assert given["TRIPLINE_KAFKA_SECURITY_PROTOCOL"] == "SASL_SSL"
        assert given["TRIPLINE_KAFKA_SECURITY_CA_FILE"] == f"/run/secrets/{secret_files.KAFKA_AUTHORITY}"

    @for_each({**SERVICES})
    def test_no_password_stands_in_the_environment(self, service: Service) -> None:
        for name, value in service.environment.items():
            assert urlsplit(value).password is None
            assert "PASSWORD" not in name or name.endswith("_FILE")

    @for_each({name: service for name, service in OURS.items() if "DSN" in "".join(service.settings)})
    def test_a_database_user_has_the_passfile_of_its_name(
        self, service: Service, programs: dict[str, Program]
    ) -> None:
        (variable,) = (name for name in service.settings if name.endswith("_DSN"))
        dsn = urlsplit(service.settings[variable])
        user = secret_files.ADMIN
        if service.name in programs and not service.is_job:
            user = str(urlsplit(programs[service.name].environment[variable]).username)
        assert (dsn.username, dsn.hostname, dsn.port, dsn.path) == (user, "postgres", 5432, f"/{DATABASE}")
        assert parse_qs(dsn.query) == {"passfile": [f"/run/secrets/{passfiles.name_of(user)}"]}

    def test_the_superuser_is_the_one_whose_password_is_given(self) -> None:
        given = SERVICES["postgres"].environment
        assert (given["POSTGRES_USER"], given["POSTGRES_DB"]) == (secret_files.ADMIN, DATABASE)
        assert given["POSTGRES_PASSWORD_FILE"] == f"/run/secrets/{secret_files.ADMIN_PASSWORD}"
        holders = {name for name, one in SERVICES.items() if f"{secret_files.ADMIN}.pgpass" in one.secrets}
        assert holders == {"migrations", "logins"}


class TestReach:
    @for_each({**SERVICES})
    def test_a_published_port_is_on_loopback(self, service: Service) -> None:
        published = service.raw.get("ports", [])
        serves_people = "TRIPLINE_HTTP_BIND" in service.settings
        assert published == ([f"127.0.0.1:{port_of(service)}:{port_of(service)}"] if serves_people else [])
        assert not {"network_mode", "privileged", "pid", "ipc", "devices", "userns_mode"} & set(service.raw)

    def test_postgres_tells_who_logs_in(self) -> None:
        command = SERVICES["postgres"].raw["command"]
        logins = ["-c", "log_connections=authorization", "-c", "log_disconnections=on"]
        assert command[:5] == ["postgres", *logins]

    def test_postgres_has_the_settings_of_the_demo_without_containers(self) -> None:
        command = SERVICES["postgres"].raw["command"]
        assert command[5:] == [word for setting in postgres.INSTALLED for word in ("-c", setting)]

    @for_each({name: service for name, service in OURS.items() if "TRIPLINE_HTTP_BIND" in service.settings})
    def test_metrics_of_an_api_are_not_on_its_published_port(self, service: Service) -> None:
        api = parse_bind("X", service.settings["TRIPLINE_HTTP_BIND"])
        metrics = parse_metrics_bind(api, service.settings.get(METRICS_BIND, ""), "127.0.0.1:1")
        assert metrics is not None
        assert metrics.port not in {port_of(other) for other in OURS.values() if not other.is_job}

    def test_nobody_makes_payments_up_unless_the_profile_is_chosen(self) -> None:
        optional = {
            name: service.raw["profiles"] for name, service in SERVICES.items() if "profiles" in service.raw
        }
        assert optional == {"generator": ["traffic"]}
        waited_for = {name for service in SERVICES.values() for name in service.waits_for}
        assert not waited_for & set(optional)

    @for_each({name: service for name, service in OURS.items() if "TRIPLINE_HTTP_BIND" in service.settings})
    def test_it_answers_to_its_own_name_and_to_those_of_the_environment(self, service: Service) -> None:
        hosts = parse_hosts(parse_bind("X", service.settings["TRIPLINE_HTTP_BIND"]), service.settings[HOSTS])
        assert hosts.names == {(service.name, None)}
        more = "" if service.name == "generator" else ",${TRIPLINE_HTTP_HOSTS:-}"
        assert service.raw["environment"][HOSTS] == f"{service.name}{more}"
        called = {
            urlsplit(value).netloc
            for value in SERVICES["alert-api"].settings.values()
            if urlsplit(value).hostname == service.name
        }
        assert all(hosts.include(host) for host in called)

    def test_a_process_is_on_the_networks_that_it_needs(self) -> None:
        for service in OURS.values():
            needs = {"database"} if any(name.endswith("_DSN") for name in service.settings) else set[str]()
            if not service.is_job or "TRIPLINE_KAFKA" in service.settings:
                needs |= {"line"}
            assert set(service.raw["networks"]) == needs
        assert SERVICES["postgres"].raw["networks"] == ["database"]
        assert FILE["networks"] == {"database": {"internal": True}, "line": {}}

    def test_what_is_kept_is_in_named_volumes(self) -> None:
        mounts = [mount for service in SERVICES.values() for mount in service.raw.get("volumes", [])]
        assert {mount.partition(":")[0] for mount in mounts} == set(FILE["volumes"])
        assert (
            mounts[0] == "postgres:/var/lib/postgresql"
        )  # since version 18; before, it was the folder data in it
        assert f"kafka:{SERVICES['kafka'].environment['KAFKA_LOG_DIRS']}" in mounts


class TestConfinement:
    @for_each({**SERVICES})
    def test_it_writes_to_volumes_and_to_what_its_image_wants_in_memory(self, service: Service) -> None:
        assert service.raw["read_only"] is True
        assert [mount.partition(":")[0] for mount in service.raw["tmpfs"]] == [
            "/tmp", *WRITTEN.get(service.name, [])
        ]  # fmt: skip

    @for_each({**SERVICES})
    def test_it_has_no_rights_but_those_that_its_entrypoint_needs(self, service: Service) -> None:
        assert service.raw["cap_drop"] == ["ALL"]
        assert service.raw.get("cap_add", []) == CAPABILITIES.get(service.name, [])
        assert service.raw["security_opt"] == ["no-new-privileges:true"]

    @for_each({**SERVICES})
    def test_memory_and_processes_have_a_limit(self, service: Service) -> None:
        assert 0 < service.raw["pids_limit"] <= 1024
        assert GIB // 2 <= size_of(service.raw["mem_limit"]) <= 5 * GIB

    def test_a_heap_fits_into_its_limit_with_as_much_beside_it(self) -> None:
        heap = SERVICES["kafka"].environment["KAFKA_HEAP_OPTS"].split()[0].removeprefix("-Xmx")
        assert size_of(SERVICES["kafka"].raw["mem_limit"]) >= 2 * size_of(heap)
        (usual,) = re.findall(r"TRIPLINE_DRIVER_MEMORY=(\w+)", (ROOT / ".env.example").read_text())
        assert "TRIPLINE_DRIVER_MEMORY" not in SERVICES["engine"].settings
        assert size_of(SERVICES["engine"].raw["mem_limit"]) >= 2 * size_of(usual)
