"""Evidence: what a bundle holds, that it is checked without anything else, and that nothing can be changed in it."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from flask.testing import FlaskClient
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry

from alert_api.adapters.evidence.ed25519 import Ed25519Signer, read_signer, verifier
from alert_api.adapters.fernet_seal import FernetSeal
from alert_api.adapters.prover.http_prover import HttpProver
from alert_api.adapters.upstream import Upstream
from alert_api.api.application import Cases, Doors, Stores, Streaming, build
from alert_api.api.console_data import Line
from alert_api.cli import main
from alert_api.domain.evidence.bundle import BundleTooLarge, Subject, pack, to_bytes
from alert_api.domain.evidence.checking import NotAsSigned, check
from alert_api.service.sessions import SessionDesk
from tests.unit.alert_api.support.fake_cases import FakeCases
from tests.unit.alert_api.support.fake_performance import FakePerformance
from tests.unit.alert_api.support.fake_sessions import FakeSessions
from tests.unit.alert_api.support.fake_snoozes import FakeSnoozes
from tests.unit.alert_api.support.fake_views import FakeShadows, FakeViews
from tests.unit.alert_api.support.rejected_samples import FakeRejected
from tests.unit.alert_api.support.samples import (
    FakeAlerts,
    FakeOverview,
    alert,
    alert_id,
    key,
)
from tests.unit.alert_api.test_explanation import FakeRegistry, proof, relative_alert
from tripline_contracts import event_type_loader
from tripline_http.application import Access
from tripline_http.errors import ConfigurationError

VIEWER, AS_VIEWER = key("viewer", "alerts:read", "rules:read")
PRIVATE = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
SIGNER = Ed25519Signer(PRIVATE)
IS_SIGNED = verifier(SIGNER.public.pem.encode())
SUBJECT = Subject("alert", "a", "ada", 1_763_641_200_000, "transaction", "0.2.0")
CONTENTS: dict[str, Any] = {"alert.json": {"b": 1, "a": "ü"}, "contributors/0.json": [1, 2]}
Prove = Callable[[httpx.Request], httpx.Response]


def client(prove: Prove = proof, signer: Ed25519Signer | None = SIGNER, **contents: Any) -> FlaskClient:
    line = Line(
        Upstream("The rules registry", "http://registry", httpx.MockTransport(FakeRegistry())),
        prover=HttpProver("http://prover", "secret", httpx.MockTransport(prove)),
    )
    cases, alerts = FakeCases(), FakeAlerts(1)
    alerts.contents[alert_id(1)].update(contents)
    return build(
        stores=Stores(
            alerts,
            FakeOverview(),
            Cases(cases, cases, FakeSnoozes(), FakeSnoozes()),
            FakeRejected(),
            FakePerformance(),
            FakeViews(),
            FakeShadows(),
        ),
        line=line,
        doors=Doors(Access((VIEWER,)), SessionDesk(FakeSessions(), FernetSeal(), lambda: 0)),
        registry=CollectorRegistry(),
        event_type=event_type_loader.load(),
        clock=lambda: SUBJECT.made_at,
        streaming=Streaming(threading.Event()),
        signer=signer,
    ).app.test_client()


PATH = f"/v1/alerts/{alert_id(1)}/evidence"


def test_all_there_is_about_an_alert() -> None:
    answer = client().post(PATH, headers=AS_VIEWER)
    assert answer.status_code == 200
    assert answer.mimetype == "application/zip"
    assert answer.headers["Content-Disposition"] == f'attachment; filename="evidence-alert-{alert_id(1)}.zip"'
    checked = check(answer.data, IS_SIGNED)
    assert set(checked.files) == {
        "alert.json", "events.json", "rule.json", "verification.json", "verifications-before.json",
        "contributors/0.json",
    }  # fmt: skip
    assert checked.files["alert.json"]["value"] == alert(1)["value"]
    assert checked.files["rule.json"]["approvedBy"] == "eve"
    assert checked.files["verification.json"]["outcome"] == "match"
    contributors = checked.files["contributors/0.json"]
    assert (contributors["count"], contributors["listed"]) == (250, 250)
    assert [one["transactionId"] for one in contributors["transactions"][:2]] == ["t0", "t1"]
    manifest = checked.manifest
    assert (manifest["kind"], manifest["id"], manifest["madeBy"]) == ("alert", alert_id(1), "viewer")
    assert (manifest["madeAt"], manifest["keyId"]) == (SUBJECT.made_at, SIGNER.key_id)


def test_what_a_relative_limit_came_from_is_evidence() -> None:
    checked = check(client(**relative_alert()).post(PATH, headers=AS_VIEWER).data, IS_SIGNED)
    value, limit = (checked.files[f"contributors/{name}.json"] for name in ("0", "0-limit"))
    assert [(one["of"], one["listed"]) for one in (value, limit)] == [("value", 250), ("limit", 250)]
    assert limit["transactions"][0]["transactionId"] == "limit-0"


def test_the_same_content_gives_the_same_bytes() -> None:
    first, second = (client().post(PATH, headers=AS_VIEWER).data for _ in range(2))
    assert first == second


def test_that_there_is_no_proof_is_evidence_too() -> None:
    def refuses(_: httpx.Request) -> httpx.Response:
        return httpx.Response(409, json={"reason": "history-missing", "detail": "gone since May"})

    checked = check(client(refuses).post(PATH, headers=AS_VIEWER).data, IS_SIGNED)
    assert checked.files["verification.json"] == {
        "outcome": "refused", "reason": "history-missing", "detail": "gone since May",
    }  # fmt: skip
    assert "contributors/0.json" not in checked.files


def test_where_nothing_can_be_drawn() -> None:
    answer = client(signer=None).post(PATH, headers=AS_VIEWER)
    assert (answer.status_code, answer.get_json()["type"]) == (
        503,
        "urn:tripline:problem:evidence-not-signed",
    )
    assert "TRIPLINE_EVIDENCE_KEY_FILE is not set" in answer.get_json()["detail"]
    assert client().post(f"/v1/alerts/{alert_id(7)}/evidence", headers=AS_VIEWER).status_code == 404
    assert client().post("/v1/cases/7/evidence", headers=AS_VIEWER).status_code == 404
    assert client(signer=None).get("/v1/evidence-keys", headers=AS_VIEWER).get_json() == {"items": []}


def test_keys_of_before_stay_listed(tmp_path: Path) -> None:
    runner, file = CliRunner(), tmp_path / "key.pem"
    made = runner.invoke(main, ["evidence", "new-key", str(file)])
    assert made.exit_code == 0
    assert file.stat().st_mode & 0o777 == 0o600
    file.write_text(file.read_text() + SIGNER.public.pem)
    signer = read_signer("X", file)
    items = client(signer=signer).get("/v1/evidence-keys", headers=AS_VIEWER).get_json()["items"]
    assert [(one["keyId"], one["signs"]) for one in items] == [(signer.key_id, True), (SIGNER.key_id, False)]
    assert items[0]["publicKey"] in made.output
    assert runner.invoke(main, ["evidence", "new-key", str(file)]).exit_code == 2
    shown = runner.invoke(main, ["evidence", "public-key", str(file)])
    assert items[0]["publicKey"] in shown.output


@pytest.mark.parametrize("content", [b"", b"nonsense", SIGNER.public.pem.encode()])
def test_what_is_no_key_is_refused_at_the_start(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "key.pem"
    file.write_bytes(content)
    with pytest.raises(ConfigurationError, match=r"X: .*expected an Ed25519 private key in PEM"):
        read_signer("X", file)
    with pytest.raises(ConfigurationError, match=r"X: .*cannot be read"):
        read_signer("X", tmp_path / "none")


def packed() -> bytes:
    return pack(SUBJECT, CONTENTS, SIGNER)


def changed(change: Callable[[dict[str, bytes]], None]) -> bytes:
    """The bundle with files changed by name."""
    with zipfile.ZipFile(io.BytesIO(packed())) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    change(files)
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return whole.getvalue()


def of_another_key(files: dict[str, bytes]) -> None:
    other = Ed25519PrivateKey.generate()
    files["manifest.sig"] = base64.b64encode(other.sign(files["manifest.json"]))


def with_its_hash(files: dict[str, bytes]) -> None:
    """A file changed, and the manifest with it."""
    files["alert.json"] = b"{}"
    manifest = json.loads(files["manifest.json"])
    manifest["files"][0] |= {"bytes": 2, "sha256": hashlib.sha256(b"{}").hexdigest()}
    files["manifest.json"] = to_bytes(manifest)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda files: files.update({"alert.json": b'{"a": 2}'}), "alert.json is not what the manifest says"),
        (lambda files: files.update({"alert.json": b"0" * (200 << 20)}), "alert.json is not what the manifest"),
        (lambda files: files.update({"more.json": b"{}"}), "more.json is in the zip, and the manifest does not"),
        (lambda files: files.update({"../x": b"{}"}), "../x is in the zip, and the manifest does not"),
        (lambda files: files.pop("contributors/0.json"), "contributors/0.json is missing"),
        (lambda files: files.pop("manifest.sig"), "manifest.sig is missing"),
        (lambda files: files.pop("manifest.json"), "manifest.json is missing"),
        (lambda files: files.update({"manifest.sig": b"?"}), "manifest.sig is no Base64"),
        (with_its_hash, "the signature is not one of this manifest by this key"),
        (of_another_key, "the signature is not one of this manifest by this key"),
    ],
    ids=["altered", "a bomb", "added", "added outside", "removed", "no signature", "no manifest", "garbage", "swapped",
         "another key"],
)  # fmt: skip
def test_nothing_can_be_changed(change: Callable[[dict[str, bytes]], None], said: str) -> None:
    assert check(packed(), IS_SIGNED).files == CONTENTS
    with pytest.raises(NotAsSigned, match=said):
        check(changed(change), IS_SIGNED)


@pytest.mark.parametrize("data", [b"", b"PK", packed()[:-30], packed()[40:], b"0" * 1000])
def test_what_is_no_bundle(data: bytes) -> None:
    with pytest.raises(NotAsSigned):
        check(data, IS_SIGNED)


@given(where=st.integers(0, 10_000), put=st.binary(min_size=1, max_size=3))
def test_whatever_is_changed_in_the_file(where: int, put: bytes) -> None:
    """It is told, or it changes nothing that is signed: a time in the zip's own lists, say."""
    whole = bytearray(packed())
    where %= len(whole)
    whole[where : where + len(put)] = put
    try:
        checked = check(bytes(whole), IS_SIGNED)
    except NotAsSigned:
        return
    assert checked.files == CONTENTS


def test_a_zip_with_two_files_of_one_name() -> None:
    whole = io.BytesIO(packed())
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(whole, "a") as archive:
        archive.writestr("alert.json", "{}")
    with pytest.raises(NotAsSigned, match="two of one name"):
        check(whole.getvalue(), IS_SIGNED)


def test_a_bundle_has_a_bound() -> None:
    with pytest.raises(BundleTooLarge, match="1001 files"):
        pack(SUBJECT, {f"{number}.json": 0 for number in range(1001)}, SIGNER)


@pytest.mark.parametrize(
    ("data", "trusted", "status", "said"),
    [
        (packed(), SIGNER.public.pem, 0, "As it was signed by key"),
        (changed(of_another_key), SIGNER.public.pem, 1, "Not as it was signed: the signature is not"),
        (packed(), "no key", 2, "Nothing could be checked"),
    ],
)
def test_the_command(data: bytes, trusted: str, status: int, said: str, tmp_path: Path) -> None:
    bundle, public = tmp_path / "evidence.zip", tmp_path / "key.pem"
    bundle.write_bytes(data)
    public.write_text(trusted)
    words = ["evidence", "verify", str(bundle), "--public-key", str(public)]
    result = CliRunner().invoke(main, words)
    assert (result.exit_code, said in result.output) == (status, True), result.output


def test_the_command_says_what_was_proven(tmp_path: Path) -> None:
    bundle, public = tmp_path / "evidence.zip", tmp_path / "key.pem"
    bundle.write_bytes(client().post(PATH, headers=AS_VIEWER).data)
    public.write_bytes(
        PRIVATE.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
    )
    result = CliRunner().invoke(main, ["evidence", "verify", str(bundle), "--public-key", str(public)])
    assert (
        f"evidence of alert {alert_id(1)}, drawn by viewer at 2025-11-20T12:20:00+00:00; 6 files."
        in result.output
    )
    assert "1 alert is as its rule and the transactions say." in result.output
