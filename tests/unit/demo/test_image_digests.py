"""Digests of images: every reference to somebody else's gets one, or none does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tripline_demo import paths
from tripline_demo.deployment import image_digests
from tripline_demo.errors import DemoError

ROOT = paths.project_root()
OLD, NEW = f"sha256:{'a' * 64}", f"sha256:{'b' * 64}"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The files of this one that name images, by tags alone."""
    for form in image_digests.FILES:
        for path in ROOT.glob(form):
            copied = tmp_path / path.relative_to(ROOT)
            copied.parent.mkdir(parents=True, exist_ok=True)
            copied.write_text(
                re.sub(r"@sha256:[0-9a-f]{64}", "", path.read_text(encoding="utf-8")), encoding="utf-8"
            )
    return tmp_path


def lines(root: Path) -> list[str]:
    return [
        line for form in image_digests.FILES for path in sorted(root.glob(form))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]  # fmt: skip


def test_each_image_of_others_is_pinned_and_nothing_else_changes(checkout: Path) -> None:
    before = lines(checkout)
    digests = image_digests.pin(checkout, lambda _: NEW)
    assert {tag.partition(":")[0] for tag in digests} == {"python", "postgres", "apache/kafka"}
    after = lines(checkout)
    changed = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
    assert len(changed) == 6  # four Dockerfiles, Postgres, Kafka
    assert all(new == f"{old}@{NEW}" for old, new in changed)
    named = [reference for line in after for reference in image_digests.references(line)]
    assert all(reference.endswith(f"@{NEW}") for reference in named)


def test_a_digest_of_before_is_replaced_by_the_tag_s(checkout: Path) -> None:
    image_digests.pin(checkout, lambda _: OLD)
    image_digests.pin(checkout, lambda tag: NEW if "@" not in tag else OLD)
    assert f"@{OLD}" not in "\n".join(lines(checkout))
    assert "\n".join(lines(checkout)).count(f"@{NEW}") == 6


def test_where_one_is_not_known_none_is_written(checkout: Path) -> None:
    def unknown(tag: str) -> str:
        if tag.startswith("python"):
            raise DemoError("no")
        return NEW

    before = lines(checkout)
    with pytest.raises(DemoError):
        image_digests.pin(checkout, unknown)
    assert lines(checkout) == before


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (None, "docker buildx does not tell the digest of x:1: "),
        ("echo 'no such image' >&2; exit 1", "docker buildx does not tell the digest of x:1: no such image"),
        ("echo nothing", "docker buildx does not tell the digest of x:1: "),
        ("echo '[]'", "docker buildx does not tell the digest of x:1: "),
        ('echo \'{"digest": "sha256:short"}\'', "says that x:1 is 'sha256:short', which is no digest"),
    ],
)
def test_what_docker_does_not_know_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str | None, said: str
) -> None:
    be_docker(tmp_path, monkeypatch, script)
    with pytest.raises(DemoError) as failure:
        image_digests.digest_in_registry("x:1")
    assert said in str(failure.value)


def test_docker_is_asked_for_the_manifest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = "test \"$*\" = 'buildx imagetools inspect --format {{json .Manifest}} x:1'"
    be_docker(tmp_path, monkeypatch, f'{asked} && echo \'{{"size": 1, "digest": "{NEW}"}}\'')
    assert image_digests.digest_in_registry("x:1") == NEW


def be_docker(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str | None) -> None:
    """Makes this script the only docker there is; None: there is none."""
    monkeypatch.setenv("PATH", str(folder))
    if script is not None:
        (folder / "docker").write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        (folder / "docker").chmod(0o755)
