"""The bill of materials lists every locked package and every pinned jar, with version and hash, in valid CycloneDX."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from tripline_demo import paths
from tripline_demo.embedded.jars import Jars
from tripline_demo.errors import DemoError
from tripline_demo.supply_chain import jar_files, python_packages, vulnerabilities
from tripline_demo.supply_chain.bill import bill_of, main

pytestmark = pytest.mark.integration

ROOT = paths.project_root()


@pytest.fixture(scope="module")
def bill(jars: Jars) -> Mapping[str, Any]:
    written: Mapping[str, Any] = json.loads(JsonV1Dot6(bill_of(ROOT, jars.folder.parent)).output_as_string())
    return written


def of_kind(bill: Mapping[str, Any], kind: str) -> list[Mapping[str, Any]]:
    return [component for component in bill["components"] if component["purl"].startswith(f"pkg:{kind}/")]


def digests(component: Mapping[str, Any]) -> set[str]:
    assert {one["alg"] for one in component["hashes"]} == {"SHA-256"}
    return {one["content"] for one in component["hashes"]}


def test_it_is_valid(bill: Mapping[str, Any]) -> None:
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(json.dumps(bill)) is None


def test_every_locked_package_is_there_with_its_version_and_hashes(bill: Mapping[str, Any]) -> None:
    """The lock is read here by its lines, not by the parser that made the bill."""
    locked: dict[tuple[str, str], set[str]] = {}
    for line in (ROOT / "requirements.lock").read_text().splitlines():
        if start := re.match(r"([a-z0-9-]+)==(\S+)", line):
            hashes = locked.setdefault((start[1], start[2]), set())
        elif match := re.search(r"--hash=sha256:([0-9a-f]{64})", line):
            hashes.add(match[1])
    listed = {(one["name"], one["version"]): digests(one) for one in of_kind(bill, "pypi")}
    assert len(locked) > 100
    assert listed == locked


def test_every_pinned_jar_is_there_with_its_version_and_hash(bill: Mapping[str, Any]) -> None:
    pinned = {
        name: digest
        for digest, name in (line.split() for line in (ROOT / "jars.sha256").read_text().splitlines())
    }
    listed = {}
    for one in of_kind(bill, "maven"):
        (file,) = (p["value"] for p in one["properties"] if p["name"] == "tripline:file")
        assert Path(file).name == f"{one['name']}-{one['version']}.jar"
        assert one["group"]
        (listed[file],) = digests(one)
    assert len(pinned) > 40
    assert listed == pinned


def test_most_components_say_their_licence(bill: Mapping[str, Any]) -> None:
    """Those that do not: packages for other platforms, and jars that leave it to a parent."""
    licensed = [one for one in bill["components"] if one.get("licenses")]
    assert len(licensed) > 0.9 * len(bill["components"])
    texts = json.dumps([one["licenses"] for one in licensed])
    assert "Apache" in texts
    assert "MIT" in texts


def test_the_command_writes_it(jars: Jars, tmp_path: Path) -> None:
    target = tmp_path / "folder" / "sbom.json"
    assert main([str(target)], {"TRIPLINE_VAR": str(jars.folder.parent)}) == 0
    assert json.loads(target.read_text())["bomFormat"] == "CycloneDX"
    assert main([], {}) == 2


def test_what_is_not_pinned_is_no_component(tmp_path: Path) -> None:
    lock = tmp_path / "requirements.lock"
    for text in ("flask==3.1.0\n", "flask --hash=sha256:" + "a" * 64 + "\n"):
        lock.write_text(text)
        with pytest.raises(DemoError, match="has flask without a pinned version or without SHA-256"):
            python_packages.components(lock)


def test_a_jar_that_nobody_fetched_is_named(tmp_path: Path) -> None:
    with pytest.raises(DemoError, match=r"does not know .*jar: .*make jars"):
        jar_files.components(ROOT / "jars.sha256", tmp_path)


class TestAudit:
    def asked(self, jars: Jars, answer: httpx.Response) -> int:
        transport = httpx.MockTransport(lambda _: answer)
        client = httpx.Client(base_url="http://osv", transport=transport)
        return vulnerabilities.main({"TRIPLINE_VAR": str(jars.folder.parent)}, client)

    def test_what_is_known_is_listed(self, jars: Jars, capsys: pytest.CaptureFixture[str]) -> None:
        pinned = jar_files.components(ROOT / "jars.sha256", jars.folder.parent / "ivy")
        number = len({str(jar.purl) for jar in pinned})
        results: list[dict[str, Any]] = [{} for _ in range(number)]
        assert self.asked(jars, httpx.Response(200, json={"results": results})) == 0
        results[3] = {"vulns": [{"id": "GHSA-2"}, {"id": "CVE-1"}]}
        assert self.asked(jars, httpx.Response(200, json={"results": results})) == vulnerabilities.FOUND
        assert ": CVE-1, GHSA-2\n" in capsys.readouterr().out

    @pytest.mark.parametrize(
        "answer",
        [httpx.Response(503), httpx.Response(200, text="<html>"), httpx.Response(200, json={"results": []}),
         httpx.Response(200, json=[]), httpx.Response(200, json={"results": None})],
    )  # fmt: skip
    def test_no_answer_is_no_clean_bill(
        self, jars: Jars, answer: httpx.Response, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert self.asked(jars, answer) == vulnerabilities.NOT_ASKED
        assert "gave no answer" in capsys.readouterr().err
