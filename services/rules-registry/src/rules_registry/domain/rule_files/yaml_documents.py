"""YAML read as data alone: exact numbers, no type that the text does not show, and the line of every member.

Scalars follow the core schema of YAML 1.2, in which `NO` and `on` are texts; PyYAML's own readers follow 1.1, where
they are booleans, and make floats of decimals. Numbers with a fraction become Decimal, and digits after a leading zero
stay text: 007 is an identifier.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any, Final

import yaml
from yaml.composer import ComposerError

from tripline_contracts.errors import Problem

_TAG: Final = "tag:yaml.org,2002:"
_WHOLE: Final = r"(?:0|[1-9][0-9]*)"
_SCALARS: Final = (
    ("null", re.compile(r"~|null|Null|NULL|"), ["~", "n", "N", ""]),
    ("bool", re.compile("true|True|TRUE|false|False|FALSE"), list("tTfF")),
    ("int", re.compile(f"[-+]?{_WHOLE}"), list("-+0123456789")),
    (
        "float",
        re.compile(rf"[-+]?(?:{_WHOLE}(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"),
        list("-+.0123456789"),
    ),
)
_LAST_PART: Final = re.compile(r"(\.[^.\[]*|\[[^\]]*\])$|^[^.\[]+$")


@dataclass(frozen=True, slots=True)
class Document:
    """One document: its number in the text and its first line, both from 1, its value, and what cannot be read."""

    number: int
    line: int
    value: object = None
    problems: tuple[Problem, ...] = ()
    lines: Mapping[str, int] = field(default_factory=dict, compare=False)
    texts: Mapping[str, str] = field(default_factory=dict, compare=False)

    def came(self, path: str) -> str | None:
        """The scalar at this path as it is written; None where there is none."""
        return self.texts.get(path.casefold())

    def line_of(self, path: str) -> int:
        """The line of the member, or of what is nearest to it of what it would be in."""
        path = path.casefold()
        while path not in self.lines and path:
            path = _LAST_PART.sub("", path)
        return self.lines.get(path, self.line)


def read_documents(text: str) -> Iterator[Document]:
    """The documents of a text but the empty ones. Behind what is no YAML nothing can be read: that is the last one."""
    number, line = 0, 1
    try:
        loader = _Loader(text)
        while loader.check_node():
            number += 1
            node = loader.get_node()
            if node is not None:
                reading = _Reading()
                value = reading.value(node, "")
                if value is not None or reading.problems:
                    line = node.start_mark.line + 1
                    yield Document(number, line, value, tuple(reading.problems), reading.lines, reading.texts)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        said = " ".join(filter(None, (error.context, error.problem)))
        yield _unreadable(number, line if mark is None else mark.line + 1, f"expected YAML: {said}")
    except yaml.YAMLError as error:  # a character that no YAML may have
        yield _unreadable(max(number, 1), line, f"expected YAML: {' '.join(str(error).split())[:200]}")
    except RecursionError:
        yield _unreadable(number, line, "expected a rule, not something nested this deeply")


def _unreadable(number: int, line: int, message: str) -> Document:
    return Document(max(number, 1), line, None, (Problem("", message),))


class _Loader(yaml.SafeLoader):
    yaml_implicit_resolvers = {}  # noqa: RUF012  # PyYAML reads it from the class

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        # One that names another ten times, ten levels deep, would be ten billion members.
        if self.check_event(yaml.AliasEvent):
            event = self.get_event()  # type: ignore[no-untyped-call]
            raise ComposerError(
                None, None, "an alias (*name) is not read here; write it out", event.start_mark
            )
        node: yaml.Node | None = super().compose_node(parent, index)
        return node


for _name, _pattern, _first in _SCALARS:
    _Loader.add_implicit_resolver(_TAG + _name, re.compile(f"^(?:{_pattern.pattern})$"), _first)


class _Reading:
    """One document being read: its problems so far, the lines of its members, and its scalars, by path."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.lines: dict[str, int] = {}
        self.texts: dict[str, str] = {}

    def value(self, node: yaml.Node, path: str) -> object:
        self.lines[path.casefold()] = node.start_mark.line + 1
        if isinstance(node, yaml.MappingNode) and node.tag == f"{_TAG}map":
            return self._members(node, path)
        if isinstance(node, yaml.SequenceNode) and node.tag == f"{_TAG}seq":
            return [self.value(item, f"{path}[{i}]") for i, item in enumerate(node.value)]
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node, path)
        return self._refuse(path, f"expected plain YAML, not the tag {_shown_tag(node.tag)}")

    def _members(self, node: yaml.MappingNode, path: str) -> dict[str, object]:
        members: dict[str, object] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.tag != f"{_TAG}str":
                self._refuse(path, "expected texts as keys")
                continue
            inner = f"{path}.{key.value}" if path else key.value
            if key.value in members:
                self._refuse(inner, "given twice; expected once")
            members[key.value] = self.value(value, inner)
            self.lines[inner.casefold()] = key.start_mark.line + 1
        return members

    def _scalar(self, node: yaml.ScalarNode, path: str) -> object:
        text: str = node.value
        self.texts[path.casefold()] = text
        try:
            match node.tag.removeprefix(_TAG):
                case "str":
                    return text
                case "null":
                    return None
                case "bool":
                    return text.casefold() == "true"
                case "int":
                    return int(text)
                case "float":
                    return Decimal(text)
        except (ValueError, InvalidOperation):
            return self._refuse(path, f"expected a number, not {text[:40]!r}")
        return self._refuse(path, f"expected plain YAML, not the tag {_shown_tag(node.tag)}")

    def _refuse(self, path: str, message: str) -> Any:
        self.problems.append(Problem(path, message))
        return None


def _shown_tag(tag: str) -> str:
    return f"!!{tag.removeprefix(_TAG)}" if tag.startswith(_TAG) else tag
