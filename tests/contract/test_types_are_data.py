"""Nothing but an event type's own files knows its fields; nothing but the payments' generator speaks of payments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.containers.compose import ROOT
from tripline_contracts import event_type_loader

pytestmark = pytest.mark.contract

PAYMENTS = re.compile(r"payment|payee|payer|beneficiar", re.IGNORECASE)
# Members of alerts, traces and OpenAPI, whatever the type calls its own, and words of everyday language.
SHARED = {"transactionId", "eventTime", "ingestionTimestamp", "amount", "kind"}
OWN = {
    name
    for shipped in event_type_loader.shipped()
    for field in event_type_loader.load(shipped).fields
    for name in field.names
} - SHARED
FIELDS = re.compile(rf"\b({'|'.join(sorted(OWN))})\b")

PARTS = {
    "contracts": ("contracts/src", (".py",)),
    "engine": ("engine/src", (".py",)),
    "services": ("services", (".py",)),
    "console": ("services/alert-api/src/alert_api/console", (".js", ".css", ".html")),
    "stack and generator": ("demo", (".py",)),
    "migrations": ("migrations", (".py",)),
}
# Where the thing is the traffic of one type, and where that is found by the type's name.
GENERATOR = Path("demo/src/tripline_demo/generator")
TRADES = {GENERATOR / "payments", GENERATOR / "authorisations", GENERATOR / "activities"}
NAMES_THEM = {GENERATOR / "trades.py", GENERATOR / "__init__.py"}


def files(part: str) -> Iterator[Path]:
    folder, endings = PARTS[part]
    for path in sorted((ROOT / folder).rglob("*")):
        relative = path.relative_to(ROOT)
        if path.suffix in endings and relative not in NAMES_THEM and not TRADES & set(relative.parents):
            yield relative


def lines(part: str, pattern: re.Pattern[str]) -> list[str]:
    mentions = []
    for path in files(part):
        for number, line in enumerate((ROOT / path).read_text(encoding="utf-8").splitlines(), start=1):
            if pattern.search(line):
                mentions.append(f"{path}:{number}: {line.strip()[:100]}")
    return mentions


@pytest.mark.parametrize("part", PARTS)
def test_no_code_names_the_fields_of_a_type(part: str) -> None:
    assert len(list(files(part))) > 3
    assert lines(part, FIELDS) == []


@pytest.mark.parametrize("part", PARTS)
def test_only_the_payments_generator_speaks_of_payments(part: str) -> None:
    assert lines(part, PAYMENTS) == []


def test_the_patterns_find_what_they_are_for() -> None:
    assert {"payeeId", "payerId", "paymentAmount", "cardId", "merchantCategory", "profilePart"} <= OWN
    assert FIELDS.search('"payeeId"')
    assert not FIELDS.search("amount of a transactionId")
    # nobody may think that there is nothing to find: the generator's own folders are full of it
    for folder in TRADES:
        text = "".join(path.read_text(encoding="utf-8") for path in (ROOT / folder).glob("*.py"))
        assert FIELDS.search(text)
