"""What becomes of TRIPLINE_EVENT_TYPE: a name, a path, or a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from tripline_contracts import event_type, event_type_loader
from tripline_contracts.errors import ContractError, InvalidEventType, UnknownEventType
from tripline_contracts.installed import installed, is_path

LOG_IN = """
name: log-in
version: 1
noun: log-in
anchors: [account, global]
fields:
  - {name: attempt, role: id, kind: string, required: true, maxLength: 36}
  - {name: at, role: time, kind: timestamp, required: true}
  - {name: account, role: key, kind: string, maxLength: 64}
"""


@pytest.mark.parametrize("name", event_type_loader.shipped())
def test_a_shipped_one_by_its_name(name: str) -> None:
    assert installed(name) is event_type_loader.load(name)
    assert installed(f" {name} ") is event_type_loader.load(name)


def test_nothing_is_the_default() -> None:
    assert installed("").name == event_type.DEFAULT == "transaction"


def test_a_declared_one_by_its_file(tmp_path: Path) -> None:
    file = tmp_path / "log-in.yaml"
    file.write_text(LOG_IN, encoding="utf-8")
    declared = installed(str(file))
    assert (declared.name, declared.measures, declared.plural) == ("log-in", (), "log-ins")


def test_a_copy_of_a_shipped_one_is_that(tmp_path: Path) -> None:
    shipped = Path(event_type.__file__).parent / "event_types" / "transaction.yaml"
    copy = tmp_path / "payments.yml"
    copy.write_bytes(shipped.read_bytes())
    assert installed(str(copy)) == event_type_loader.load()


def test_the_one_in_the_documentation_is_one(tmp_path: Path) -> None:
    text = (Path(__file__).parents[3] / "docs" / "event-types.md").read_text(encoding="utf-8")
    file = tmp_path / "documented.yaml"
    file.write_text(text.partition("```yaml\n")[2].partition("```")[0], encoding="utf-8")
    declared = installed(str(file))
    assert (declared.name, declared.field("address").plural) == ("log-in", "IP addresses")
    assert declared.ingestion_field is declared.field("seenAt")


def test_what_is_a_path() -> None:
    assert [is_path(value) for value in ("a/b", "a.yaml", "a.yml", "transaction", "yaml")] == [True] * 3 + [
        False
    ] * 2


def test_a_name_that_does_not_ship() -> None:
    with pytest.raises(UnknownEventType) as refused:
        installed("cards")
    assert str(refused.value) == (
        "TRIPLINE_EVENT_TYPE is cards: expected activity, card-authorisation, transaction, or the path of a YAML"
        " file (with a /, or .yaml at its end)."
    )


WRONG: list[tuple[bytes | None, str, str]] = [
    (None, "cannot be read (No such file or directory)", "no file"),
    (b"\xff", "not UTF-8", "bytes that are no text"),
    (b"a: [", "not YAML", "a list without an end"),
    (b"- 1", "expected a mapping", "a list"),
    (LOG_IN.replace("[account, global]", "[account]").encode(), "the last anchor is global", "a bad type"),
    (
        LOG_IN.replace("name: log-in", "name: transaction").encode(),
        "transaction is the name of one that ships with other fields",
        "another type's name, by which traffic and seeds are found",
    ),
]


@pytest.mark.parametrize(("content", "said", "reason"), WRONG, ids=[case[-1] for case in WRONG])
def test_a_file_that_is_none(tmp_path: Path, content: bytes | None, said: str, reason: str) -> None:
    file = tmp_path / "type.yaml"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ContractError) as refused:
        installed(str(file))
    assert isinstance(refused.value, InvalidEventType)
    assert said in str(refused.value), reason
    assert str(refused.value).startswith(f"TRIPLINE_EVENT_TYPE is {file}: ")
    assert "\n" not in str(refused.value)
