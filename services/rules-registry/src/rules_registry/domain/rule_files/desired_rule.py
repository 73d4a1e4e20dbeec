"""Rule files read into the rules that should be.

    name: Much of one key to another
    groupingKeyNames: [oneKey, anotherKey]
    aggregatorFunctionType: SUM
    aggregateFieldName: measure
    limitOperatorType: ">"
    limit: 1000
    windowMinutes: 20

One document is one rule; a file may have several, between lines of `---`. The grammar is that of the API's rule body;
a rule is known by its `name`, or by its `ruleId` where it has one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

from rules_registry.domain.rule import MAX_NAME
from rules_registry.domain.rule_files.errors import FileProblem, InvalidRuleFiles
from rules_registry.domain.rule_files.yaml_documents import Document, read_documents
from rules_registry.domain.strict_spelling import loose_spellings
from tripline_contracts import display_text, spelling
from tripline_contracts.errors import Problem
from tripline_contracts.event_type import MAX_TIMESTAMP, EventType
from tripline_contracts.rules.rule_definition import InvalidDefinition, RuleDefinition, parse

MAX_RULE_ID: Final = 2_147_483_647
_REGISTRY_MEMBERS: Final = {
    "name": "name",
    "ruleid": "ruleId",
    "effectivefrom": "effectiveFrom",
    "effectiveuntil": "effectiveUntil",
}


@dataclass(frozen=True, slots=True)
class RuleFile:
    """A file as it was read; its name is for messages."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a rule is written."""

    file: str
    document: int
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class DesiredRule:
    """A rule as it should be; has a name, an id, or both. `effective_from` in ms; None leaves it as it is, and of a
    new definition is now; without `effective_until` (ms) it has no end."""

    origin: Origin
    rule_id: int | None
    name: str | None
    definition: RuleDefinition
    effective_from: int | None = None
    effective_until: int | None = None

    def to_json(self) -> dict[str, object]:
        """The body of a request that publishes or changes it."""
        registry_members = {
            "name": self.name,
            "effectiveFrom": self.effective_from,
            "effectiveUntil": self.effective_until,
        }
        given = {name: value for name, value in registry_members.items() if value is not None}
        return {**given, **self.definition.to_json()}

    @property
    def title(self) -> str:
        """Its name, or its id where the file leaves the name as it is."""
        return self.name if self.name is not None else f"rule {self.rule_id}"


def read_rules(files: Iterable[RuleFile], event_type: EventType) -> list[DesiredRule]:
    """All rules of all files, in their order. Raises InvalidRuleFiles with every problem of every file."""
    rules: list[DesiredRule] = []
    problems: list[FileProblem] = []
    for file in files:
        for document in read_documents(file.text):
            read, wrong = _rule_of(file.name, document, event_type)
            problems += [_told(file.name, document, problem) for problem in wrong]
            if read is not None:
                rules.append(read)
    problems += _repeated(rules)
    if problems:
        raise InvalidRuleFiles(problems)
    return rules


def _told(file: str, document: Document, problem: Problem) -> FileProblem:
    """With what came, where the message does not say that."""
    came, message = document.came(problem.field), problem.message
    if came is not None and " not " not in message and problem.field:
        message = f"{message}; not {spelling.shown(came)}"
    return FileProblem(file, document.number, document.line_of(problem.field), problem.field, message)


def _rule_of(
    file: str, document: Document, event_type: EventType
) -> tuple[DesiredRule | None, Sequence[Problem]]:
    if document.problems:
        return None, document.problems
    if not isinstance(document.value, Mapping):
        expected = "expected the members of a rule (name, groupingKeyNames, limit …)"
        return None, [Problem("", f"{expected}, not {spelling.shown(document.value)}")]
    members, definition, problems = _apart(document.value)
    problems += _own_problems(members)
    problems += loose_spellings(definition)
    try:
        read = parse(definition, event_type)
    except InvalidDefinition as invalid:
        return None, [*problems, *invalid.problems]
    if problems:
        return None, problems
    origin = Origin(file, document.number, document.line)
    name, rule_id, since, until = (members.get(member) for member in _REGISTRY_MEMBERS.values())
    rule = DesiredRule(
        origin,
        cast("int | None", rule_id),
        cast("str | None", name),
        read,
        cast("int | None", since),
        cast("int | None", until),
    )
    return rule, ()


def _apart(value: Mapping[str, object]) -> tuple[dict[str, object], dict[str, object], list[Problem]]:
    """The registry's members and the definition's, each in its usual case, and what was given twice."""
    members: dict[str, object] = {}
    problems: list[Problem] = []
    for key, member in value.items():
        name = _REGISTRY_MEMBERS.get(key.casefold())
        if name is not None and name in members:
            problems.append(Problem(name, "given twice, in different cases; expected once"))
        elif name is not None:
            members[name] = member
    definition = {key: member for key, member in value.items() if key.casefold() not in _REGISTRY_MEMBERS}
    return members, definition, problems


def _own_problems(members: Mapping[str, object]) -> Iterator[Problem]:
    name, rule_id, since, until = (members.get(member) for member in _REGISTRY_MEMBERS.values())
    if name is None and rule_id is None:
        yield Problem("name", "expected a name, by which the rule is known; or a ruleId")
    if name is not None and (expected := display_text.problem_of(name, MAX_NAME)):
        yield Problem("name", f"{expected}, not {spelling.shown(name)}")
    if rule_id is not None and not _is_whole(rule_id, 1, MAX_RULE_ID):
        message = (
            f"expected the id of a rule that there is, 1 to {MAX_RULE_ID}, not {spelling.shown(rule_id)}"
        )
        yield Problem("ruleId", message)
    for member, time in (("effectiveFrom", since), ("effectiveUntil", until)):
        if time is not None and not _is_whole(time, 0, MAX_TIMESTAMP):
            message = f"expected ms since the epoch, 0 to {MAX_TIMESTAMP}, not {spelling.shown(time)}"
            yield Problem(member, message)


def _is_whole(value: object, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _repeated(rules: Sequence[DesiredRule]) -> Iterator[FileProblem]:
    """Rules that are written twice. Two with ids of their own may have one name."""
    for member in ("ruleId", "name"):
        first: dict[object, DesiredRule] = {}
        for rule in rules:
            key = rule.rule_id if member == "ruleId" else rule.name
            if key is None:
                continue
            other = first.setdefault(key, rule)
            both_have_ids = rule.rule_id is not None and other.rule_id is not None
            if other is not rule and not (member == "name" and both_have_ids):
                yield problem_with(rule, member, f"{key!r} is at {other.origin} already; expected once")


def problem_with(rule: DesiredRule, path: str, message: str) -> FileProblem:
    """A problem of a rule that was read."""
    return FileProblem(rule.origin.file, rule.origin.document, rule.origin.line, path, message)
