"""Jars as jars.sha256 pins them: their coordinates and licences are in the cache of the Ivy that fetched them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType, Property
from cyclonedx.model.component import Component
from packageurl import PackageURL

from tripline_demo.embedded import checksums
from tripline_demo.errors import DemoError


@dataclass(frozen=True, slots=True)
class _Module:
    """A Maven artifact, and the licences that its description names."""

    group: str
    name: str
    version: str
    licences: tuple[str, ...]


def components(pins: Path, cache: Path) -> list[Component]:
    """One per pinned file. Raises DemoError for one that the cache does not know: `make jars` fills it."""
    modules = dict(_modules(cache))
    coordinates = []
    for file, digest in checksums.load(pins).items():
        module = modules.get(Path(file).name)
        if module is None:
            raise DemoError(
                f"{cache} does not know {file}: delete it and the folder jars beside it, and run `make jars`."
            )
        coordinates.append(_component(file, digest, module))
    return coordinates


def _component(file: str, digest: str, module: _Module) -> Component:
    purl = PackageURL("maven", module.group, module.name, module.version)
    return Component(
        group=module.group,
        name=module.name,
        version=module.version,
        # One artifact may be there twice, for Spark and for the broker.
        bom_ref=f"{purl}#{file}",
        purl=purl,
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=digest)],
        licenses=[LicenseFactory().make_with_name(name) for name in module.licences],
        properties=[Property(name="tripline:file", value=file)],
    )


def _modules(cache: Path) -> Iterator[tuple[str, _Module]]:
    """Modules by the names of their jars: <cache>/<group>/<name>/<jars or bundles>/<file>."""
    for jar in sorted(cache.glob("*/*/*/*.jar")):
        folder = jar.parent.parent
        version = jar.stem.removeprefix(f"{folder.name}-")
        description = folder / f"ivy-{version}.xml"
        yield jar.name, _Module(folder.parent.name, folder.name, version, _licences(description))


def _licences(description: Path) -> tuple[str, ...]:
    """What the description says; empty where there is none. Only its head is read: what Ivy copies of a module's
    properties, below, is not always well-formed."""
    if not description.is_file():
        return ()
    names: set[str] = set()
    with description.open("rb") as file:
        # Written by the Ivy on this machine, from files that it has fetched for the build.
        for _, element in ET.iterparse(file):  # noqa: S314
            if element.tag == "info" or element.tag.startswith("{"):
                break  # of another namespace: the properties
            if element.tag == "license" and (name := element.get("name")):
                names.add(name)
    return tuple(sorted(names))
