"""`rules-registry shadow`: a version beside a rule is started, rolled out, promoted and ended."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from tests.integration.registry.support.command_line import CommandLine
from tests.integration.registry.support.rule_requests import publish
from tests.registry import DEFINITION, RegistryApi

pytestmark = pytest.mark.integration

FILE = """\
groupingKeyNames: [payeeId, beneficiaryId]
aggregatorFunctionType: SUM
aggregateFieldName: paymentAmount
limitOperatorType: ">"
limit: 7
windowSeconds: 1200
name: {name}
"""


@pytest.fixture
def command_line(api: RegistryApi) -> CommandLine:
    return CommandLine(api)


@pytest.fixture
def rule(client: httpx.Client) -> str:
    return str(publish(client)["ruleId"])


@pytest.fixture
def file(rule: str, client: httpx.Client, tmp_path: Path) -> str:
    path = tmp_path / "lower.yaml"
    path.write_text(FILE.format(name=client.get(f"/v1/rules/{rule}").json()["name"]), encoding="utf-8")
    return str(path)


def shown(client: httpx.Client, rule: str) -> tuple[object, object]:
    """The rule's limit, and the shadow's limit with its percent."""
    standing = client.get(f"/v1/rules/{rule}").json()
    shadow = standing["shadow"]
    beside = shadow and (shadow["definition"]["limit"], shadow["percent"])
    return standing["definition"]["limit"], beside


def test_a_shadow_goes_its_way(command_line: CommandLine, client: httpx.Client, rule: str, file: str) -> None:
    limit = DEFINITION["limit"]
    started = command_line.done("shadow", "start", rule, file, says="y\n")
    assert f"limit {limit} → 7" in started
    assert shown(client, rule) == (limit, ("7", 0))
    rolled_out = command_line.done("shadow", "rollout", rule, "10", "--yes", "--reason", "few first")
    assert "0 % → 10 % of groups by version 2" in rolled_out
    assert "counts for 10 % of groups" in rolled_out
    command_line.done("shadow", "rollout", rule, "40", "--yes")
    assert shown(client, rule) == (limit, ("7", 40))
    refused = command_line.run("shadow", "rollout", rule, "40", "--yes")
    assert (refused.exit_code, "percent" in refused.output) == (1, True)
    assert "without a shadow" in command_line.done("shadow", "promote", rule, "--yes")
    assert shown(client, rule) == ("7", None)
    command_line.done("shadow", "start", rule, file, "--yes")
    command_line.done("shadow", "end", rule, "--yes")
    assert shown(client, rule) == ("7", None)


def test_nothing_happens_without_a_yes(
    command_line: CommandLine, client: httpx.Client, rule: str, file: str
) -> None:
    assert command_line.run("shadow", "start", rule, file, says="n\n").exit_code == 1
    assert shown(client, rule)[1] is None
    command_line.done("shadow", "start", rule, file, "--yes")
    for words in (["rollout", rule, "10"], ["promote", rule], ["end", rule]):
        assert command_line.run("shadow", *words, says="n\n").exit_code == 1
    assert shown(client, rule)[1] == ("7", 0)


def test_what_cannot_be_is_said(command_line: CommandLine, rule: str, file: str, tmp_path: Path) -> None:
    for words in (["rollout", rule, "10"], ["promote", rule], ["end", rule]):
        refused = command_line.run("shadow", *words, "--yes")
        assert (refused.exit_code, f"Rule {rule} has no shadow." in refused.output) == (1, True)
    assert command_line.run("shadow", "rollout", rule, "100", "--yes").exit_code == 2
    both = tmp_path / "two.yaml"
    one = Path(file).read_text(encoding="utf-8")
    both.write_text(one + "---\n" + one.replace("name: ", "name: another "), encoding="utf-8")
    refused = command_line.run("shadow", "start", rule, str(both), "--yes")
    assert (refused.exit_code, "has 2 rules" in refused.output) == (1, True)
