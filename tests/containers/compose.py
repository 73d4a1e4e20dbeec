"""docker-compose.yml as values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import yaml

ROOT = Path(__file__).parents[2]
FILE = ROOT / "docker-compose.yml"


class _Strict(yaml.SafeLoader):
    """Refuses what compose refuses and PyYAML does not: a key that is there twice."""

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        # an anchor comes here once for each use; afterwards it holds what it overrides too
        if not getattr(node, "merged", False):
            keys = [key.value for key, _ in node.value]
            assert len(keys) == len(set(keys)), f"a key is there twice: {keys}"
        super().flatten_mapping(node)
        node.merged = True  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True)
class Service:
    """One service as compose sees it, merges done."""

    name: str
    raw: Mapping[str, Any]

    @property
    def command(self) -> tuple[str, ...]:
        """As it is executed; empty for the image's own."""
        return tuple(self.raw.get("command", ()))

    @property
    def environment(self) -> dict[str, str]:
        """Strings, as a process gets them where the environment of compose has none of the optional variables."""
        given = self.raw.get("environment", {})
        return {name: re.sub(r"\$\{\w+:-(\w*)\}", r"\1", value) for name, value in given.items()}

    @property
    def settings(self) -> dict[str, str]:
        """The TRIPLINE_… variables."""
        return {name: value for name, value in self.environment.items() if name.startswith("TRIPLINE_")}

    @property
    def dockerfile(self) -> Path | None:
        """What its image is built from, if it is one of ours."""
        build = self.raw.get("build")
        return ROOT / build["context"] / build["dockerfile"] if build else None

    @property
    def health(self) -> tuple[str, ...]:
        """The command that says whether it is healthy; empty for none."""
        test = tuple(self.raw.get("healthcheck", {}).get("test", ()))
        assert test[:1] in ((), ("CMD",)), test
        return test[1:]

    @property
    def waits_for(self) -> dict[str, str]:
        """Names of services with the condition that is waited for."""
        return {name: on["condition"] for name, on in self.raw.get("depends_on", {}).items()}

    @property
    def secrets(self) -> tuple[str, ...]:
        """Names of what is mounted in /run/secrets."""
        return tuple(self.raw.get("secrets", ()))

    @property
    def is_job(self) -> bool:
        """Whether it runs once."""
        return self.raw.get("restart") == "no"


def load() -> dict[str, Any]:
    """The whole file."""
    return cast("dict[str, Any]", yaml.load(FILE.read_text(encoding="utf-8"), Loader=_Strict))


def services() -> dict[str, Service]:
    """By name."""
    return {name: Service(name, raw) for name, raw in load()["services"].items()}
