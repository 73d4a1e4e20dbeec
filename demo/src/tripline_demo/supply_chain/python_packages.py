"""Python packages as requirements.lock pins them."""

from __future__ import annotations

from collections.abc import Iterator
from email.message import Message
from importlib import metadata
from pathlib import Path
from typing import cast

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType, Property
from cyclonedx.model.component import Component
from packageurl import PackageURL
from pip_requirements_parser import InstallRequirement, RequirementsFile

from tripline_demo.errors import DemoError

_LONGEST_NAME = 100


def components(lock: Path) -> list[Component]:
    """One per pinned package, with the SHA-256 of every archive of it that the lock accepts.

    Licences are those that the installed packages declare; a package for another platform has none here. Raises
    DemoError for a line without version or hash.
    """
    read = RequirementsFile.from_file(str(lock))
    if read.invalid_lines:
        raise DemoError(f"{lock}, line {read.invalid_lines[0].line_number}, is no requirement.")
    return [_component(lock, requirement) for requirement in read.requirements]


def _component(lock: Path, requirement: InstallRequirement) -> Component:
    name, version = requirement.name, requirement.get_pinned_version
    digests = [option.partition(":") for option in requirement.hash_options]
    if not name or not version or not digests or any(algorithm != "sha256" for algorithm, _, _ in digests):
        raise DemoError(f"{lock} has {name} without a pinned version or without SHA-256.")
    properties = [Property(name="tripline:hashes", value="of the archives that the lock accepts")]
    if requirement.marker is not None:
        properties.append(Property(name="tripline:marker", value=str(requirement.marker)))
    return Component(
        name=name,
        version=str(version),
        bom_ref=f"pkg:pypi/{name}@{version}",
        purl=PackageURL("pypi", None, name, str(version)),
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=digest) for _, _, digest in digests],
        licenses=[LicenseFactory().make_from_string(text) for text in _licence(name)],
        properties=properties,
    )


def _licence(name: str) -> list[str]:
    """The licence expression, or else the last words of the trove classifiers, or else a short text of the field."""
    try:
        said = cast("Message", metadata.metadata(name))
    except metadata.PackageNotFoundError:
        return []
    expression = said.get("License-Expression")
    if expression:
        return [expression]
    classified = sorted(set(_classified(said)))
    if classified:
        return classified
    text = (said.get("License") or "").strip()
    return [text] if 0 < len(text) <= _LONGEST_NAME and "\n" not in text else []


def _classified(said: Message) -> Iterator[str]:
    for classifier in said.get_all("Classifier") or ():
        if classifier.startswith("License :: ") and classifier != "License :: OSI Approved":
            yield classifier.rpartition(" :: ")[2]
