"""An import of too many records is refused before any of them is read."""

from __future__ import annotations

import pytest

from rules_registry.api.rules import rule_imports
from tests.contract.support.http_apps import EVERYTHING, app_named, bearer

pytestmark = pytest.mark.contract


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("text/plain", b"x\n" * 131_000),
        ("application/x-ndjson", b"{}\n\n" * 1001),
        ("application/json", b"[" + b",".join([b"{}"] * 1001) + b"]"),
        ("text/plain", b" \n\n"),
        ("application/json", b"[]"),
    ],
)
def test_too_many_and_none(monkeypatch: pytest.MonkeyPatch, content_type: str, body: bytes) -> None:
    def never(*_: object) -> None:
        raise AssertionError("read")

    for reader in ("read_text", "read_records"):
        monkeypatch.setattr(rule_imports, reader, never)
    answer = (
        app_named("registry")
        .test_client()
        .post("/v1/rules/import", data=body, content_type=content_type, headers=bearer(EVERYTHING))
    )
    assert answer.status_code == 422
    assert answer.get_json()["errors"][0]["message"].startswith("expected 1 to 1000 records, not ")
