"""Plans: from the rules that should be and those that there are to the steps between them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rules_registry.domain.rule_files.desired_rule import DesiredRule, RuleFile, read_rules
from rules_registry.domain.rule_files.errors import InvalidRuleFiles
from rules_registry.domain.rule_files.plan import Registry, plan_of
from rules_registry.domain.rule_files.plan_words import step_lines, summary
from rules_registry.domain.rule_files.rule_text import files_of
from rules_registry.domain.rule_files.standing import RuleChange, StandingRule
from tests.unit.rules_registry.support.rule_files import (
    DEFINITIONS,
    MUCH,
    NAMES,
    TRANSACTION,
    all_standing,
    change,
    desired,
    standing,
)

(RULE,) = desired(MUCH)
(LESS,) = desired(MUCH.replace("1000.50", "500"))
(LATER,) = desired(MUCH + "effectiveFrom: 5\n")
(ENDING,) = desired(MUCH + "effectiveUntil: 9\n")
(RENAMED,) = desired(MUCH.replace("Much", "Other") + "ruleId: 7\n")
(UNNAMED,) = desired(MUCH.replace("name: Much", "ruleId: 7"))
NEW = {"kind": "PUBLISH_RULE", "rule_id": 9, "base": None}

CASES: list[tuple[DesiredRule, list[StandingRule], list[RuleChange], list[tuple[str, str]], str]] = [
    (RULE, [], [], [("create", "open")], "there is none of this name"),
    (RULE, [standing(RULE)], [], [], "it is so already"),
    (RULE, [standing(RULE, state="PAUSED")], [], [], "whether it is paused is not in files"),
    (UNNAMED, [standing(RULE)], [], [], "without a name it keeps its own"),
    (ENDING, [standing(RULE)], [], [("change", "open")], "another end"),
    (ENDING, [standing(ENDING)], [], [], "it has that end"),
    (RULE, [standing(ENDING)], [], [("change", "open")], "the end goes"),
    (ENDING, [standing(RULE)], [change(RULE, base=3)], [("change", "blocked")], "without that end"),
    (RENAMED, [standing(RULE)], [], [("change", "open")], "another name, by id"),
    (LESS, [standing(RULE)], [], [("change", "open")], "another limit"),
    (LATER, [standing(RULE)], [], [("change", "open")], "another time from which it holds"),
    (LATER, [standing(LATER)], [], [], "the same time"),
    (RULE, [standing(LATER)], [], [], "a time that no file says stays"),
    (RULE, [standing(RULE, name="much")], [], [("create", "open")], "names differ by case too"),
    (RULE, [standing(RULE)], [change(LESS)], [], "nothing is to be done, whatever others ask for"),
    (RULE, [], [change(RULE, **NEW)], [("create", "waits")], "submitted already"),
    (RULE, [], [change(RULE, **NEW, state="DRAFT")], [("create", "drafted")], "a draft of the same"),
    (RULE, [], [change(LESS, **NEW)], [("create", "blocked")], "another rule of this name is on its way"),
    (RULE, [], [change(LESS, **NEW), change(RULE, **NEW)], [("create", "waits")], "the same comes first"),
    (RULE, [], [change(LESS, **{**NEW, "name": "Other"})], [("create", "open")], "another name is another rule"),
    (LESS, [standing(RULE)], [change(LESS)], [("change", "waits")], "submitted already"),
    (LESS, [standing(RULE)], [change(LESS, state="DRAFT")], [("change", "drafted")], "a draft of the same"),
    (LESS, [standing(RULE)], [change(LESS, name=None)], [("change", "waits")], "no name is the rule's own"),
    (LESS, [standing(RULE)], [change(RULE)], [("change", "blocked")], "another limit is asked for"),
    (LESS, [standing(RULE)], [change(LESS, name="Other")], [("change", "blocked")], "another name is"),
    (LESS, [standing(RULE)], [change(LESS, base=2)], [("change", "blocked")], "made for a version that has passed"),
    (LESS, [standing(RULE)], [change(LESS, effective_from=5)], [("change", "blocked")], "at another time"),
    (LESS, [standing(RULE)], [change(LESS, kind="PAUSE_RULE", definition_hash=None, definition=None)],
     [("change", "blocked")], "something else is asked for"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "rules", "changes", "steps", "reason"), CASES, ids=[case[-1] for case in CASES]
)
def test_steps(
    rule: DesiredRule,
    rules: list[StandingRule],
    changes: list[RuleChange],
    steps: list[tuple[str, str]],
    reason: str,
) -> None:
    plan = plan_of([rule], Registry(rules, changes))
    assert [(step.action, step.progress) for step in plan.steps] == steps, reason
    assert plan.unchanged == (not steps), reason


def test_rules_in_no_file_stay_unless_they_are_pruned() -> None:
    rules = [standing(RULE), standing(RULE, 8, name="Eight"), standing(RULE, 9, name="Nine")]
    deletion = change(RULE, kind="DELETE_RULE", rule_id=9, definition=None, definition_hash=None, name=None)
    registry = Registry(rules, [deletion])
    kept = plan_of([RULE], registry)
    assert (kept.steps, [rule.rule_id for rule in kept.elsewhere]) == ((), [8, 9])
    assert summary(kept) == "Nothing to do; 1 unchanged; 2 in no file (--prune deletes them)."
    pruned = plan_of([RULE], registry, prune=True)
    assert [(step.action, step.progress, step.title) for step in pruned.steps] == [
        ("delete", "open", "Eight"),
        ("delete", "waits", "Nine"),
    ]
    assert pruned.elsewhere == ()
    assert summary(pruned) == "Plan: 1 to delete; 1 waiting for approval; 1 unchanged."


def test_an_open_change_is_in_the_way_unless_it_is_replaced() -> None:
    registry = Registry([standing(RULE)], [change(RULE)])
    blocked = plan_of([LESS], registry)
    assert (blocked.to_do, summary(blocked)) == (
        (),
        "Plan: nothing that can be done; 1 in conflict with open changes.",
    )
    replacing = plan_of([LESS], registry, replacing=True)
    (step,) = replacing.to_do
    assert list(step_lines(step))[2] == (
        "      in place of change 12 by nina, which will be withdrawn (no difference)"
    )
    assert summary(replacing) == "Plan: 1 to change."
    assert plan_of([LESS], Registry([standing(RULE)], [change(LESS)]), replacing=True).to_do == ()


AMBIGUOUS: list[tuple[list[DesiredRule], list[StandingRule], str]] = [
    ([UNNAMED], [], "ruleId: there is no rule 7; expected one that there is, or a name alone for a new rule"),
    ([RULE], [standing(RULE), standing(RULE, 8)],
     "name: the rules 7 and 8 are called 'Much'; expected the ruleId of the one that is meant"),
    ([RULE, UNNAMED], [standing(RULE)], "rule 7 is at rules/a.yaml:1 already; expected once"),
]  # fmt: skip


@pytest.mark.parametrize(("rules", "there", "sentence"), AMBIGUOUS, ids=[case[-1][:50] for case in AMBIGUOUS])
def test_nothing_is_planned_where_it_is_not_clear_which_rule_is_meant(
    rules: list[DesiredRule], there: list[StandingRule], sentence: str
) -> None:
    with pytest.raises(InvalidRuleFiles) as refused:
        plan_of(rules, Registry(there))
    assert sentence in str(refused.value)


ASKED = (
    'limit 1000.5 → 500; name "Much" → "Other"; made for version 2, which has passed; '
    "effective from 1970-01-01T00:00:00.005Z"
)
WORDS: list[tuple[DesiredRule, StandingRule | None, RuleChange | None, list[str]]] = [
    (RULE, None, None, ["  + Much", "      SUM of paymentAmount over 20 min per payeeId > 1000.5"]),
    (LESS, standing(RULE, state="PAUSED"), None,
     ["  ~ Much (rule 7, version 3, paused)", "      limit 1000.5 → 500"]),
    (RENAMED, standing(RULE), None, ["  ~ Other (rule 7, version 3)", '      name "Much" → "Other"']),
    (LATER, standing(RULE), None,
     ["  ~ Much (rule 7, version 3)", "      effective from 1970-01-01T00:00:00.005Z"]),
    (LESS, standing(RULE), change(LESS),
     ["  ~ Much (rule 7, version 3)", "      limit 1000.5 → 500",
      "      change 12 by nina asks for this and waits for its approval"]),
    (LESS, standing(RULE), change(LESS, state="DRAFT"),
     ["  ~ Much (rule 7, version 3)", "      limit 1000.5 → 500",
      "      change 12 by nina is a draft of this: it will be submitted"]),
    (LESS, standing(RULE), change(LESS, name="Other", base=2, effective_from=5),
     ["  ~ Much (rule 7, version 3)", "      limit 1000.5 → 500",
      f"      in its way: change 12 by nina is open ({ASKED})"]),
    (LESS, standing(RULE), change(RULE, kind="PAUSE_RULE", definition=None, definition_hash=None),
     ["  ~ Much (rule 7, version 3)", "      limit 1000.5 → 500",
      "      in its way: change 12 by nina is open (pause rule)"]),
    (LESS, standing(RULE),
     change(RULE, kind="ROLL_OUT_SHADOW", definition=None, definition_hash=None, percent=10),
     ["  ~ Much (rule 7, version 3)", "      limit 1000.5 → 500",
      "      in its way: change 12 by nina is open (roll out shadow to 10 % of groups)"]),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "there", "pending", "lines"), WORDS)
def test_words(
    rule: DesiredRule, there: StandingRule | None, pending: RuleChange | None, lines: list[str]
) -> None:
    registry = Registry([there] if there else [], [pending] if pending else [])
    (step,) = plan_of([rule], registry).steps
    assert list(step_lines(step)) == lines


_RULES = st.lists(st.tuples(NAMES.filter(str.strip), DEFINITIONS), min_size=1, max_size=4)


@settings(deadline=None, max_examples=60)
@given(_RULES)
def test_what_was_exported_changes_nothing(rules: list[tuple[str, Any]]) -> None:
    """Names that occur twice, and names and texts that YAML could take for something else, included."""
    there = all_standing(rules)
    files = [RuleFile(name, text) for name, text in files_of(there).items()]
    assert len(files) == len(there)
    plan = plan_of(read_rules(files, TRANSACTION), Registry(there), prune=True)
    assert (plan.steps, plan.unchanged) == ((), len(there))


@settings(deadline=None, max_examples=60)
@given(_RULES, _RULES)
def test_what_was_applied_leaves_nothing_to_do(
    before: list[tuple[str, Any]], after: list[tuple[str, Any]]
) -> None:
    """Steps of any plan, done to the registry, make the same files a plan without steps."""
    there = {rule.rule_id: rule for rule in all_standing(dict(before).items())}
    texts = files_of(all_standing(dict(after).items()))
    wanted = read_rules([RuleFile(name, text) for name, text in texts.items()], TRANSACTION)
    for number, step in enumerate(plan_of(wanted, Registry(list(there.values())), prune=True).steps, 100):
        if step.desired is None:
            assert step.rule is not None
            del there[step.rule.rule_id]
        else:
            rule_id = number if step.rule is None else step.rule.rule_id
            there[rule_id] = standing(step.desired, rule_id)
    plan = plan_of(wanted, Registry(list(there.values())), prune=True)
    assert (plan.steps, plan.unchanged, plan.elsewhere) == ((), len(there), ())
