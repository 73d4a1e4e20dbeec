"""Rules as code where a second person has to approve: what is applied is submitted, once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.integration.registry.support.command_line import CommandLine, rules
from tests.registry import RegistryApi, running_api
from tests.servers import PostgresServer

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def api(
    postgres: PostgresServer, migrated_database: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RegistryApi]:
    """One of its own: all of its rules are exported, and nothing else may be open then."""
    folder = tmp_path_factory.mktemp("registry")
    with running_api(postgres, migrated_database, folder, {"TRIPLINE_FOUR_EYES": "true"}) as running:
        yield running


@pytest.fixture
def cli(api: RegistryApi) -> CommandLine:
    return CommandLine(api)


@pytest.fixture
def approver(api: RegistryApi) -> CommandLine:
    return CommandLine(api, "approver-of-role-for-tests")


def written(folder: Path, text: str) -> str:
    file = folder / "rules.yaml"
    file.write_text(text, encoding="utf-8")
    return str(file)


def submitted(output: str) -> list[str]:
    """Ids of the changes that were submitted."""
    return re.findall(r"submitted as change (\d+)", output)


def approved(cli: CommandLine, approver: CommandLine, *words: str) -> None:
    """What applying submits, approved."""
    for change in submitted(cli.done("apply", "--yes", *words)):
        approver.done("approve", change, "--yes")


def test_the_life_of_a_rule_file(
    cli: CommandLine, approver: CommandLine, client: httpx.Client, tmp_path: Path
) -> None:
    file = written(tmp_path, rules("Story"))
    first = cli.done("apply", "-f", file, "--yes", "--reason", "ticket 7")
    assert "Applied 0. Submitted 2: somebody else approves them" in first
    changes = submitted(first)
    (reason,) = {client.get(f"/v1/changes/{change}").json()["reason"] for change in changes}
    assert reason == "ticket 7"

    waiting = cli.done("apply", "-f", file, "--yes")
    assert "asks for this and waits for its approval" in waiting
    assert waiting.splitlines()[-1].startswith("Nothing to do; 2 waiting for approval")
    listed = cli.done("changes")
    assert listed.count("SUBMITTED second: Story ") == 2
    assert listed.count("estimate: none (Estimates are not connected: TRIPLINE_PROVER_URL is not set.)") == 2

    for change in changes:
        shown = approver.done("approve", change, says="y\n")
        assert f"change {change} by second: Story " in shown
        assert f"Change {change} is APPROVED.\n" in shown
    assert cli.done("apply", "-f", file, "--yes").startswith("Nothing to do; 2 unchanged")

    file = written(tmp_path, rules("Story").replace("1000.5", "1500"))
    approved(cli, approver, "-f", file)
    assert "version 1 → 2:\n  limit 1000.5 → 1500" in cli.done("diff", "Story much")
    reverted = cli.done("revert", "Story much", "--to", "1", "--yes", "--reason", "too few")
    (change,) = re.findall(r"Submitted as change (\d+), which waits", reverted)
    approver.done("approve", change, "--yes")
    assert "version 2 → 3:\n  limit 1500 → 1000.5" in cli.done("diff", "Story much")

    folder = tmp_path / "exported"
    cli.done("export", str(folder))
    assert cli.done("apply", "-f", str(folder), "--yes").startswith("Nothing to do; ")


def test_an_open_change_of_other_content_is_in_the_way_until_it_is_replaced(
    cli: CommandLine, approver: CommandLine, client: httpx.Client, tmp_path: Path
) -> None:
    file = written(tmp_path, rules("Way"))
    approved(cli, approver, "-f", file)
    (old,) = submitted(
        cli.done("apply", "-f", written(tmp_path, rules("Way").replace("1000.5", "2")), "--yes")
    )
    file = written(tmp_path, rules("Way").replace("1000.5", "3"))
    refused = cli.run("apply", "-f", file, "--yes")
    assert refused.exit_code == 1
    assert f"in its way: change {old} by second is open (limit 1000.5 → 2)" in refused.output
    assert "Nothing was applied: an open change is in the way of Way much." in refused.output
    assert cli.run("apply", "-f", file, "--dry-run", "--detailed-exitcode").exit_code == 3
    (new,) = submitted(cli.done("apply", "-f", file, "--yes", "--replace"))
    states = [client.get(f"/v1/changes/{change}").json()["state"] for change in (old, new)]
    assert states == ["WITHDRAWN", "SUBMITTED"]


def test_a_draft_of_the_same_is_submitted(cli: CommandLine, approver: CommandLine, tmp_path: Path) -> None:
    """As it is after a rejection: there is no second one beside it."""
    file = written(tmp_path, rules("Draft"))
    changes = submitted(cli.done("apply", "-f", file, "--yes"))
    with approver.api.client(approver.key) as http:
        http.post(f"/v1/changes/{changes[0]}/reject").raise_for_status()
    again = cli.done("apply", "-f", file, "--yes")
    assert f"change {changes[0]} by second is a draft of this: it will be submitted" in again
    assert submitted(again) == [changes[0]]


def test_what_was_withdrawn_is_asked_for_anew(cli: CommandLine, client: httpx.Client, tmp_path: Path) -> None:
    """The registry remembers its answer to the first request for a day: the second one is another."""
    file = written(tmp_path, rules("Anew"))
    first = submitted(cli.done("apply", "-f", file, "--yes"))
    with cli.api.client(cli.key) as http:
        for change in first:
            http.post(f"/v1/changes/{change}/withdraw").raise_for_status()
    second = submitted(cli.done("apply", "-f", file, "--yes"))
    assert len(second) == 2
    assert not set(second) & set(first)


def test_pruning_submits_a_deletion_once(cli: CommandLine, approver: CommandLine, tmp_path: Path) -> None:
    file = written(tmp_path, rules("Pruned"))
    approved(cli, approver, "-f", file)
    folder = tmp_path / "exported"
    cli.done("export", str(folder))
    (folder / "pruned-much.yaml").unlink()
    assert len(submitted(cli.done("apply", "-f", str(folder), "--prune", "--yes"))) == 1
    assert "waiting for approval" in cli.done("apply", "-f", str(folder), "--prune", "--yes").splitlines()[-1]


def test_an_author_does_not_approve(api: RegistryApi, tmp_path: Path) -> None:
    both = CommandLine(api, "author-approver-for-tests")
    (change, *_) = submitted(both.done("apply", "-f", written(tmp_path, rules("Author")), "--yes"))
    refused = both.run("approve", change, "--yes")
    assert (refused.exit_code, "(403 same-person)" in refused.output) == (1, True)


def test_what_is_not_shown_is_not_approved(
    api: RegistryApi, approver: CommandLine, client: httpx.Client, tmp_path: Path
) -> None:
    change = client.put("/v1/lists/watched", json={"values": ["a"]}).raise_for_status().json()
    refused = approver.run("approve", str(change["changeId"]), "--yes")
    assert (refused.exit_code, "is of no rule but of kind LIST" in refused.output) == (1, True)


def test_a_shadow_waits_for_a_second_person_at_each_step_but_its_end(
    cli: CommandLine, approver: CommandLine, tmp_path: Path
) -> None:
    approved(cli, approver, "-f", written(tmp_path, rules("Trial")))
    first, second = tmp_path / "first", tmp_path / "second"
    for folder, limit in ((first, "7"), (second, "8")):
        folder.mkdir()
        written(folder, rules("Trial").partition("---")[0].replace("1000.5", limit))
    steps = (
        (["start", "Trial much", f"{first}/rules.yaml"], "limit 1000.5 → 7"),
        (["rollout", "Trial much", "10"], "roll out shadow to 10 % of groups"),
        (["promote", "Trial much"], "promote shadow"),
        (["start", "Trial much", f"{second}/rules.yaml"], "limit 7 → 8"),
    )
    for words, expected in steps:
        (change,) = re.findall(r"Submitted as change (\d+), which waits", cli.done("shadow", *words, "--yes"))
        assert expected in approver.done("approve", change, "--yes")
    assert "without a shadow" in cli.done("shadow", "end", "Trial much", "--yes")
