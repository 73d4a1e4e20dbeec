"""How much of their quotas the rules use."""

from __future__ import annotations

from rules_registry.domain.quotas import Quotas, Usage
from rules_registry.domain.rule import NO_RULE, Rule
from rules_registry.service.ports import Log


def usage_of_rules(log: Log, quotas: Quotas) -> Usage:
    """What all rules come to."""
    if quotas.history is None:
        return log.rule_usage()
    return {**log.rule_usage(), **quotas.history_of(log.widest_definitions(NO_RULE))}


def history_around(log: Log, quotas: Quotas, before: Rule | None, after: Rule) -> tuple[Usage, Usage]:
    """What the history of all rules came to with one of them as it stood, and comes to with it as it stands now. The
    others are read once for both."""
    if quotas.history is None:
        return {}, {}
    others = log.widest_definitions(after.rule_id)
    standing = [] if before is None else [before.definition]
    shadow = [] if after.shadow is None else [after.shadow.definition]
    return quotas.history_of([*others, *standing]), quotas.history_of([*others, after.definition, *shadow])
