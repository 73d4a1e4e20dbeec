"""Rules as code on a real Postgres, where one person is enough: files in, a plan, and the registry as they say."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from tests.integration.registry.support.command_line import CommandLine, rules
from tests.registry import DEFINITION, RegistryApi

pytestmark = pytest.mark.integration


@pytest.fixture
def cli(api: RegistryApi) -> CommandLine:
    return CommandLine(api)


def written(folder: Path, text: str) -> str:
    """A file of rules, as an argument."""
    folder.mkdir(exist_ok=True)
    file = folder / "rules.yaml"
    file.write_text(text, encoding="utf-8")
    return str(file)


def test_the_life_of_a_rule_file(cli: CommandLine, tmp_path: Path) -> None:
    file = written(tmp_path, rules("Story"))
    shown = cli.done("apply", "-f", file, "--dry-run")
    assert (
        "  + Story much\n      SUM of paymentAmount over 20 min per beneficiaryId and payeeId > 1000.5\n"
        in shown
    )
    assert "Plan: 2 to create" in shown
    assert cli.run("apply", "-f", file, "--dry-run", "--detailed-exitcode").exit_code == 3

    applied = cli.done("apply", "-f", file, says="y\n")
    assert "Story often: rule " in applied
    assert "Applied 2." in applied
    again = cli.done("apply", "-f", file, "--yes")
    assert again.startswith("Nothing to do; 2 unchanged")
    assert cli.run("apply", "-f", file, "--dry-run", "--detailed-exitcode").exit_code == 0

    changed = rules("Story").replace("limit: 1000.5", "limit: 1500").replace("Minutes: 20", "Minutes: 30")
    file = written(tmp_path, changed)
    assert "      limit 1000.5 → 1500; window 20 → 30 min\n" in cli.done("apply", "-f", file, "--yes")
    assert "version 1 → 2:\n  limit 1000.5 → 1500; window 20 → 30 min" in cli.done("diff", "Story much")

    reverted = cli.done("revert", "Story much", "--to", "1", "--yes")
    assert "limit 1500 → 1000.5; window 30 → 20 min" in reverted
    assert "has version 3" in reverted
    assert "no difference" in cli.done("revert", "Story much", "--to", "1", "--yes")

    folder = tmp_path / "exported"
    cli.done("export", str(folder))
    assert cli.done("apply", "-f", str(folder), "--yes").startswith("Nothing to do; ")
    exported = (folder / "story-much.yaml").read_text(encoding="utf-8")
    assert exported.startswith("# yaml-language-server: $schema=rule-file.schema.json\nname: Story much\n")
    assert (folder / "rule-file.schema.json").is_file()
    refused = cli.run("export", str(folder))
    assert (refused.exit_code, "is there already" in refused.output) == (1, True)
    cli.done("export", str(folder), "--overwrite")


def test_what_it_shows(cli: CommandLine, tmp_path: Path) -> None:
    cli.done("apply", "-f", written(tmp_path, rules("Shown")), "--yes")
    assert "    1 ACTIVE   Shown much\n" in cli.done("list")
    shown = cli.done("show", "Shown often")
    assert "# COUNT over 1 day per payeeId >= 30, where paymentType = CRD\nname: Shown often\n" in shown
    file = written(tmp_path / "shown", shown)
    assert cli.done("apply", "-f", file, "--dry-run").startswith("Nothing to do; 1 unchanged")
    missing = cli.run("show", "Nobody")
    assert (missing.exit_code, missing.output) == (1, "There is no rule of this name: 'Nobody'.\n")


def test_nothing_is_applied_where_a_file_is_wrong(cli: CommandLine, tmp_path: Path) -> None:
    before = cli.done("list")
    file = written(tmp_path, rules("Wrong") + "---\nname: Third\nlimit: much\n")
    result = cli.run("apply", "-f", file, "--yes")
    assert result.exit_code == 1
    assert f"{file}:19: document 3: limit: expected a decimal number" in result.output
    assert "not 'much'" in result.output
    assert cli.done("list") == before


def test_somebody_else_was_faster(cli: CommandLine, client: httpx.Client, tmp_path: Path) -> None:
    """The plan was confirmed for another version: the registry refuses, and applying again starts from there."""
    cli.done("apply", "-f", written(tmp_path, rules("Race")), "--yes")
    (rule,) = (item for item in client.get("/v1/rules", params={"name": "Race much"}).json()["items"])
    file = written(tmp_path, rules("Race").replace("1000.5", "7").replace("limit: 30", "limit: 31"))

    def faster(question: str) -> bool:
        body = {**DEFINITION, "name": "Race much"}
        path = f"/v1/rules/{rule['ruleId']}"
        return client.put(path, json=body, headers={"If-Match": "*"}).is_success

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("click.confirm", faster)
        refused = cli.run("apply", "-f", file)
    assert refused.exit_code == 1
    assert "If-Match does not name the current version, which is 2" in refused.output
    assert "0 of 2 steps were taken" in refused.output
    assert "Applied 2." in cli.done("apply", "-f", file, "--yes")


def test_pruning_deletes_what_is_in_no_file(cli: CommandLine, client: httpx.Client, tmp_path: Path) -> None:
    folder = tmp_path / "all"
    cli.done("apply", "-f", written(tmp_path, rules("Pruned")), "--yes")
    cli.done("export", str(folder))
    (folder / "pruned-much.yaml").unlink()
    kept = cli.done("apply", "-f", str(folder), "--yes")
    assert "1 in no file (--prune deletes them)" in kept
    pruned = cli.done("apply", "-f", str(folder), "--yes", "--prune")
    assert "  - Pruned much (rule " in pruned
    assert client.get("/v1/rules", params={"name": "Pruned much"}).json()["items"] == []
    again = cli.done("apply", "-f", written(tmp_path, rules("Pruned")), "--yes")
    assert "Applied 1." in again, "a new rule, not the remembered answer of the one that was deleted"


def test_a_paused_rule_stays_paused_and_a_rule_gets_another_name(
    cli: CommandLine, client: httpx.Client, tmp_path: Path
) -> None:
    cli.done("apply", "-f", written(tmp_path, rules("Name")), "--yes")
    (rule,) = client.get("/v1/rules", params={"name": "Name much"}).json()["items"]
    client.post(f"/v1/rules/{rule['ruleId']}/pause", headers={"If-Match": "*"}).raise_for_status()
    text = rules("Name").replace("name: Name much", f"ruleId: {rule['ruleId']}\nname: Other")
    told = cli.done("apply", "-f", written(tmp_path, text), "--yes")
    assert 'version 2, paused)\n      name "Name much" → "Other"\n' in told
    after = client.get(f"/v1/rules/{rule['ruleId']}").json()
    assert (after["name"], after["state"], after["version"]) == ("Other", "PAUSED", 3)


def test_a_time_that_was_chosen_is_kept_and_one_that_was_not_is_nobodys(
    cli: CommandLine, tmp_path: Path
) -> None:
    chosen = rules("Time").replace("name: Time much", "name: Time much\neffectiveFrom: 1790000000000")
    file = written(tmp_path, chosen)
    assert "effective from 2026-09-21T14:13:20Z" in cli.done("apply", "-f", file, "--yes")
    assert cli.done("apply", "-f", file, "--yes").startswith("Nothing to do; 2 unchanged")
    later = written(tmp_path, chosen.replace("1790000000000", "1790000000001"))
    assert "      effective from 2026-09-21T14:13:20.001Z\n" in cli.done("apply", "-f", later, "--yes")
    unsaid = written(tmp_path, rules("Time"))
    assert cli.done("apply", "-f", unsaid, "--yes").startswith("Nothing to do; 2 unchanged")


def test_two_jobs_with_one_key_make_one_rule(api: RegistryApi, cli: CommandLine, tmp_path: Path) -> None:
    """Both have seen a registry without the rule: the second one is answered with the first one's."""
    file = written(tmp_path, rules("Twice"))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("click.confirm", lambda _: cli.done("apply", "-f", file, "--yes") is not None)
        assert cli.run("apply", "-f", file).exit_code == 0
    assert cli.done("list").count("Twice ") == 2


@pytest.mark.parametrize(
    ("variables", "code", "sentence"),
    [
        ({"TRIPLINE_REGISTRY_KEY": ""}, 2, "No API key"),
        ({"TRIPLINE_REGISTRY_KEY": "viewer-key-for-tests"}, 1, "(403 insufficient-scope)"),
        ({"TRIPLINE_REGISTRY_KEY": "a-key-that-is-not-known"}, 1, "(401 unauthenticated)"),
        ({"TRIPLINE_REGISTRY_URL": "ftp://x"}, 2, "expected http://host:port"),
        ({"TRIPLINE_REGISTRY_URL": "http://127.0.0.1:9"}, 1, "gave no answer"),
        ({"TRIPLINE_REGISTRY_KEY_FILE": "/nowhere"}, 2, "cannot be read: No such file"),
    ],
)
def test_who_cannot(
    cli: CommandLine, tmp_path: Path, variables: dict[str, str], code: int, sentence: str
) -> None:
    result = cli.run("apply", "-f", written(tmp_path, rules("Nobody")), "--yes", environment=variables)
    assert result.exit_code == code, result.output
    assert sentence in result.output
    assert "key-that" not in result.output
