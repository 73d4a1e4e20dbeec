"""Rules written as the YAML that they are read from: what holds anyway is left out."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Final

import yaml

from rules_registry.domain.rule_files.standing import StandingRule
from rules_registry.domain.wording.rule_words import DEFAULTS
from tripline_contracts import display_text
from tripline_contracts.rules.definition_members import RULE_MEMBERS

SCHEMA_FILE: Final = "rule-file.schema.json"
SCHEMA_HINT: Final = f"# yaml-language-server: $schema={SCHEMA_FILE}"
_MAX_STEM: Final = 60
_WIDTH: Final = 110
_CHAINING: Final = ("all", "any", "not", "weighted", "of")
_RESOLVER: Final = yaml.resolver.Resolver()
_TEXT: Final = "tag:yaml.org,2002:str"


def rule_text(rule: StandingRule, *, with_id: bool = False) -> str:
    """The document of a rule, by name, or with its id too where that is needed to tell it from another."""
    members: dict[str, object] = {"ruleId": rule.rule_id} if with_id else {}
    members["name"] = rule.name
    for name, value in _in_order(rule.definition):
        is_default = name in DEFAULTS and value == DEFAULTS[name]
        if not is_default and value is not None:
            members[name] = _measured(value) if name == "conditions" else _limit(name, value)
    text = _dumped(members, allow_unicode=True)
    if rule.effective_until is not None:
        members["effectiveUntil"] = rule.effective_until
    # Characters that hide or reorder others are escaped: a reviewer of the file has to see them.
    return (
        text
        if display_text.refused_character(text, lines=True) is None
        else _dumped(members, allow_unicode=False)
    )


def _dumped(members: Mapping[str, object], *, allow_unicode: bool) -> str:
    text: str = yaml.dump(
        members,
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=allow_unicode,
        width=_WIDTH,
        default_flow_style=None,
    )
    return text


def files_of(rules: Iterable[StandingRule]) -> dict[str, str]:
    """A file for each rule, by its name, which is made of the rule's; rules of one name are told apart by their ids."""
    rules = list(rules)
    names = [rule.name for rule in rules]
    stems = [_stem(rule) for rule in rules]
    files: dict[str, str] = {}
    for rule, stem in zip(rules, stems, strict=True):
        file = stem if stems.count(stem) == 1 else f"{stem}-{rule.rule_id}"
        text = rule_text(rule, with_id=names.count(rule.name) > 1)
        files[f"{file}.yaml"] = f"{SCHEMA_HINT}\n{text}"
    return files


def _stem(rule: StandingRule) -> str:
    plain = unicodedata.normalize("NFKD", rule.name).encode("ascii", "ignore").decode().lower()
    words = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
    return words[:_MAX_STEM].rstrip("-") or f"rule-{rule.rule_id}"


def _measured(tree: object) -> object:
    """Conditions without members that say nothing, limits as numbers."""
    if isinstance(tree, Mapping):
        return {
            name: _measured(value) if name in _CHAINING else _limit(name, value)
            for name, value in _in_order(tree)
            if value is not None
        }
    return [_measured(item) for item in tree] if isinstance(tree, list) else tree


def _in_order(members: Mapping[str, object]) -> list[tuple[str, object]]:
    """What is measured first, then the limit, as people say it; JSON has them in any order."""
    order = {name: number for number, name in enumerate(("weight", "weighted", *RULE_MEMBERS))}
    return sorted(members.items(), key=lambda member: order.get(member[0], len(order)))


def _limit(name: str, value: object) -> object:
    """A limit as the number that it is: the API tells it as text."""
    if name == "groupingKeyNames" and isinstance(value, list):
        return [_step(key) for key in value]
    return Decimal(value) if name in ("limit", "weight", "atLeast") and isinstance(value, str) else value


def _step(key: object) -> object:
    """A step as the number that it is."""
    return {**key, "step": Decimal(str(key["step"]))} if isinstance(key, Mapping) and "step" in key else key


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002  # as PyYAML calls it
        return True


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    # In quotes wherever any reader of YAML would see something else than a text: 007, no, 1_000, 12:30.
    plain = _RESOLVER.resolve(yaml.ScalarNode, text, (True, False)) == _TEXT  # type: ignore[no-untyped-call]
    return dumper.represent_scalar(_TEXT, text, None if plain and not text[:1].isdigit() else '"')


def _represent_decimal(dumper: yaml.SafeDumper, number: Decimal) -> yaml.Node:
    text = format(number, "f")
    return dumper.represent_scalar(f"tag:yaml.org,2002:{'float' if '.' in text else 'int'}", text)


_Dumper.add_representer(str, _represent_text)
_Dumper.add_representer(Decimal, _represent_decimal)
