"""Commands as the content of a change, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, assert_never, cast

from rules_registry.domain.audit.audit_entry import Subject
from rules_registry.domain.commands import (
    ChangeEntries,
    ChangeNamed,
    ChangeOfRule,
    ChangeRule,
    ChangeSettings,
    ClearGroup,
    ClearRule,
    Control,
    DeleteRule,
    EndBackfill,
    EndShadow,
    Expected,
    PauseRule,
    PromoteShadow,
    PublishRule,
    ResumeRule,
    RollOutShadow,
    StartShadow,
    TraceRule,
    VoidTransaction,
)
from rules_registry.domain.event_record import settings_from_json, settings_json
from rules_registry.domain.named_value import value_from_json, value_json
from rules_registry.domain.review.change_request import ChangeKind, Content
from tripline_contracts.event_type import EventType
from tripline_contracts.filters.list_entries import read_change
from tripline_contracts.filters.named_values import Kind
from tripline_contracts.rules.rule_definition import parse

RuleCommand = PublishRule | ChangeOfRule
Proposed = RuleCommand | ChangeNamed | ChangeEntries | ChangeSettings | Control
"""What can be asked for. Versions that a caller expects are part of it: `base`, None where none was named."""

Move = PauseRule | ResumeRule | DeleteRule | EndShadow | PromoteShadow
_MOVES: Final[Mapping[ChangeKind, type[Move]]] = {
    "PAUSE_RULE": PauseRule,
    "RESUME_RULE": ResumeRule,
    "DELETE_RULE": DeleteRule,
    "END_SHADOW": EndShadow,
    "PROMOTE_SHADOW": PromoteShadow,
}
_KINDS: Final[Mapping[type, ChangeKind]] = {
    PublishRule: "PUBLISH_RULE",
    ChangeRule: "CHANGE_RULE",
    StartShadow: "START_SHADOW",
    **{move: kind for kind, move in _MOVES.items()},
}


def content_of(command: Proposed, base: int | None) -> Content:
    """The content that stands for the command; `base` is the version that it was made for."""
    match command:
        case PublishRule() | ChangeRule() | StartShadow():
            members: dict[str, Any] = {
                "base": base,
                "name": command.name,
                "definition": command.definition.to_json(),
                "definitionHash": command.definition.hash,
                "effectiveFrom": command.effective_from,
            }
            if command.effective_until is not None:
                members["effectiveUntil"] = command.effective_until
            return Content(_KINDS[type(command)], _rule(command.rule_id), members)
        case RollOutShadow():
            share = {"base": base, "percent": command.percent}
            return Content("ROLL_OUT_SHADOW", _rule(command.rule_id), share)
        case PauseRule() | ResumeRule() | DeleteRule() | EndShadow() | PromoteShadow():
            return Content(_KINDS[type(command)], _rule(command.rule_id), {"base": base})
        case ChangeNamed():
            value = {"base": base, "value": value_json(command.value)}
            kind = "LIST" if command.kind == "list" else "PARAMETER"
            return Content(cast("Any", kind), Subject(command.kind, command.name), value)
        case ChangeEntries():
            entries = {"base": base, **command.change.to_json()}
            return Content("LIST_ENTRIES", Subject("list", command.name), entries)
        case ChangeSettings():
            return Content(
                "SETTINGS", Subject("settings", None), {"base": base, **settings_json(command.settings)}
            )
    return Content("COMMAND", Subject("command", None), _control_json(command))


def command_of(content: Content, event_type: EventType) -> Proposed:
    """The command that the content stands for; the inverse of `content_of`."""
    members = content.members
    base = members.get("base")
    expected = None if base is None else frozenset({base})
    match content.kind:
        case "PUBLISH_RULE":
            definition = parse(members["definition"], event_type)
            return PublishRule(
                _rule_id(content),
                members["name"],
                definition,
                members["effectiveFrom"],
                effective_until=members.get("effectiveUntil"),
            )
        case "CHANGE_RULE" | "START_SHADOW":
            definition = parse(members["definition"], event_type)
            bringing = ChangeRule if content.kind == "CHANGE_RULE" else StartShadow
            return bringing(
                _rule_id(content),
                expected,
                members["name"],
                definition,
                members["effectiveFrom"],
                members.get("effectiveUntil"),
            )
        case "ROLL_OUT_SHADOW":
            return RollOutShadow(_rule_id(content), expected, members["percent"])
        case "PAUSE_RULE" | "RESUME_RULE" | "DELETE_RULE" | "END_SHADOW" | "PROMOTE_SHADOW":
            return _MOVES[content.kind](_rule_id(content), expected)
        case "LIST" | "PARAMETER" | "LIST_ENTRIES":
            return _named_of(content, expected)
        case "SETTINGS":
            return ChangeSettings(expected, settings_from_json(cast("Mapping[str, int]", members)))
        case "COMMAND":
            return _control_of(members)
    assert_never(content.kind)


def _named_of(content: Content, expected: Expected) -> ChangeNamed | ChangeEntries:
    name, members = content.subject.id or "", content.members
    if content.kind == "LIST_ENTRIES":
        return ChangeEntries(name, expected, read_change(members["added"], members["removed"]))
    kind: Kind = "list" if content.kind == "LIST" else "parameter"
    return ChangeNamed(kind, name, expected, value_from_json(kind, members["value"]))


def _rule(rule_id: int) -> Subject:
    return Subject("rule", str(rule_id))


def _rule_id(content: Content) -> int:
    assert content.subject.id is not None  # a rule has one
    return int(content.subject.id)


def _control_json(control: Control) -> dict[str, Any]:
    match control:
        case TraceRule():
            return {"command": "TRACE_RULE", "ruleId": control.rule_id, "seconds": control.seconds}
        case ClearRule():
            return {"command": "CLEAR_RULE", "ruleId": control.rule_id}
        case ClearGroup():
            return {"command": "CLEAR_GROUP", "ruleId": control.rule_id, "group": dict(control.group)}
        case VoidTransaction():
            about = {"transactionId": control.transaction_id, "eventTime": control.event_time}
            return {"command": "VOID_TRANSACTION", **about}
        case EndBackfill():
            about = {"backfillId": control.backfill_id, "completeFrom": control.complete_from}
            return {"command": "END_BACKFILL", **about}
        case _:
            return {"command": control}


def _control_of(members: Mapping[str, Any]) -> Control:
    match members["command"]:
        case "TRACE_RULE":
            return TraceRule(members["ruleId"], members["seconds"])
        case "CLEAR_RULE":
            return ClearRule(members["ruleId"])
        case "CLEAR_GROUP":
            return ClearGroup(members["ruleId"], members["group"])
        case "VOID_TRANSACTION":
            return VoidTransaction(members["transactionId"], members["eventTime"])
        case "END_BACKFILL":
            return EndBackfill(members["backfillId"], members["completeFrom"])
        case word:
            return cast("Control", word)


SILENCING = frozenset(
    {"CLEAR_RULE", "CLEAR_GROUP", "VOID_TRANSACTION", "CLEAR_STATE_ALL", "DELETE_RULES_ALL"}
)
"""Commands that can keep an alert from being raised: these need a second person."""


def needs_second_person(command: Proposed) -> bool:
    """True for whatever can silence an alert. Judging again what was approved cannot, nor can looking.

    A shadow is approved when it is started, for what is promoted is what was seen then; when it is rolled out, each
    time; and when it is promoted. Its end goes back to what was approved before.
    """
    match command:
        case ResumeRule() | EndShadow():
            return False
        case PublishRule() | ChangeRule() | PauseRule() | DeleteRule():
            return True
        case StartShadow() | RollOutShadow() | PromoteShadow():
            return True
        case ChangeNamed() | ChangeEntries() | ChangeSettings():
            return True
    return _control_json(command)["command"] in SILENCING
