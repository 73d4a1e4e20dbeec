"""The use cases of changes that another person has to approve. Each is one transaction of the log."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from rules_registry.domain.actor import Actor
from rules_registry.domain.audit.audit_entry import Happening, Subject
from rules_registry.domain.commands import (
    ChangeEntries,
    ChangeNamed,
    ChangeRule,
    ChangeSettings,
    Expected,
    PublishRule,
)
from rules_registry.domain.decisions import require_expected
from rules_registry.domain.review import change_request
from rules_registry.domain.review.change_request import ChangeRequest
from rules_registry.domain.review.content import Proposed, RuleCommand, command_of, content_of
from rules_registry.domain.review.lifecycle import Lifecycle
from rules_registry.errors import (
    BaseMoved,
    ChangeNotFound,
    NotAnEditor,
    NotApprovedBefore,
    OpenChange,
    ReasonNeeded,
    StaleVersion,
)
from rules_registry.service.audit_writer import tell
from rules_registry.service.ports import Answer, Log
from rules_registry.service.registry import Done, Registry, Repeatable
from tripline_contracts.event_type import EventType

Answering = Callable[[ChangeRequest], Answer]
Making = Callable[[Log], Proposed]
_STEPS: Final[Mapping[str, tuple[str, Callable[[ChangeRequest, Actor, int], ChangeRequest]]]] = {
    "submit": ("ChangeSubmitted", change_request.submitted),
    "reject": ("ChangeRejected", change_request.rejected),
    "withdraw": ("ChangeWithdrawn", change_request.withdrawn),
}


@dataclass(frozen=True, slots=True)
class Review:
    """Changes in, events out once somebody else has approved them."""

    registry: Registry
    event_type: EventType

    def propose(
        self,
        actor: Actor,
        command: Making,
        answer: Answering,
        repeatable: Repeatable | None = None,
        *,
        submit: bool = False,
    ) -> Answer:
        """A new change, with `submit` handed to an approver at once. It is tried first: raises whatever doing it would
        raise, and `OpenChange`."""

        def run(log: Log) -> ChangeRequest:
            wanted = command(log)
            content = content_of(wanted, _version(log, wanted))
            _require_no_open(log, content.subject)
            self.registry.require_possible(log, wanted)
            now = self.registry.clock()
            drafted = ChangeRequest(
                log.changes.next_id(), 1, content, "DRAFT", (actor.name,), now, now, reason=actor.reason
            )
            _keep(log, "ChangeDrafted", None, drafted, actor, actor.name)
            if not submit:
                return drafted
            submitted = change_request.submitted(drafted, actor, now)
            _keep(log, "ChangeSubmitted", drafted, submitted, actor)
            return submitted

        return self.registry.answered(actor, run, answer, repeatable)

    def edit(
        self,
        actor: Actor,
        change_id: int,
        command: Callable[[ChangeRequest], PublishRule | ChangeRule],
        answer: Answering,
        expected: Expected = None,
    ) -> Answer:
        """Another content for a draft, made for the rule as it stands now; `expected` are the revisions that the
        caller has seen. Raises what doing it would raise, `ChangeNotFound`, `StaleVersion` and `IllegalStep`."""

        def run(log: Log) -> ChangeRequest:
            change = _get(log, change_id)
            # Of two who edit the same revision the second would otherwise undo the first, unseen.
            require_expected(change.revision, expected)
            wanted = command(change)
            content = content_of(wanted, _version(log, wanted))
            edited = change_request.edited(change, content, actor, self.registry.clock())
            self.registry.require_possible(log, wanted)
            _keep(log, "ChangeEdited", change, edited, actor, actor.name)
            return edited

        return self.registry.answered(actor, run, answer, None)

    def step(self, actor: Actor, change_id: int, step: str, answer: Answering) -> Answer:
        """`submit`, `reject` or `withdraw`. Raises `ChangeNotFound`, `IllegalStep` and `NotAnEditor`."""
        happened, decide = _STEPS[step]

        def run(log: Log) -> ChangeRequest:
            change = _get(log, change_id)
            if step == "withdraw" and actor.name not in change.editors:
                raise NotAnEditor(change_id, actor.name)
            moved = decide(change, actor, self.registry.clock())
            _keep(log, happened, change, moved, actor)
            return moved

        return self.registry.answered(actor, run, answer, None)

    def approve(self, actor: Actor, change_id: int, content_hash: str, answer: Answering) -> Answer:
        """Does what was asked for, in its author's name. Raises what doing it raises, `ChangeNotFound`, `IllegalStep`,
        `OtherRevision` and `SamePerson`."""

        def run(log: Log) -> ChangeRequest:
            change = _get(log, change_id)
            approved = change_request.approved(change, content_hash, actor, self.registry.clock())
            author = Actor(change.editors[0], None, actor.request_id, change.reason)
            try:
                done = self.registry.perform(log, author, command_of(change.content, self.event_type))
            except StaleVersion as error:
                raise BaseMoved(change_id, change.content.members["base"], error.current) from error
            approved = replace(approved, position=done.position)
            _keep(log, "ChangeApproved", change, approved, actor)
            return approved

        return self.registry.answered(actor, run, answer, None)

    def act_alone(
        self,
        actor: Actor,
        command: Making,
        answer: Callable[[Done, ChangeRequest], Answer],
        repeatable: Repeatable | None = None,
    ) -> Answer:
        """Pauses a rule, or goes back to a definition that was approved once, without a second person; what was done so
        is flagged until one has looked at it. Raises what doing it raises, `ReasonNeeded` and `NotApprovedBefore`."""

        def run(log: Log) -> tuple[Done, ChangeRequest]:
            if not actor.reason:
                raise ReasonNeeded
            wanted = command(log)
            if isinstance(wanted, PublishRule | ChangeRule):
                definition_hash = wanted.definition.hash
                if not log.changes.was_approved(wanted.rule_id, definition_hash):
                    raise NotApprovedBefore(wanted.rule_id)
            content = content_of(wanted, _version(log, wanted))
            done = self.registry.perform(log, actor, wanted)
            now = self.registry.clock()
            state: Lifecycle = "APPROVED"
            change = ChangeRequest(
                log.changes.next_id(), 1, content, state, (actor.name,), now, now,
                break_glass=True, position=done.position, reason=actor.reason,
            )  # fmt: skip
            _keep(log, "DoneWithoutApproval", None, change, actor, actor.name)
            return done, change

        return self.registry.answered(actor, run, lambda both: answer(*both), repeatable)

    def review(self, actor: Actor, change_id: int, content_hash: str, answer: Answering) -> Answer:
        """Notes that a second person has looked at what was done without one. Raises `ChangeNotFound`, `IllegalStep`,
        `OtherRevision` and `SamePerson`."""

        def run(log: Log) -> ChangeRequest:
            change = _get(log, change_id)
            reviewed = change_request.reviewed(change, content_hash, actor, self.registry.clock())
            _keep(log, "ChangeReviewed", change, reviewed, actor)
            return reviewed

        return self.registry.answered(actor, run, answer, None)


def _version(log: Log, command: Proposed) -> int | None:
    """The version of what the command would change; None where there is none yet, or no version."""
    if isinstance(command, RuleCommand):
        rule = log.rule(command.rule_id)
        return None if rule is None else rule.version
    match command:
        case ChangeNamed():
            entry = log.named(command.kind, command.name)
            return 0 if entry is None else entry.version
        case ChangeEntries():
            listed = log.lists.head(command.name)
            return 0 if listed is None else listed.version
        case ChangeSettings():
            return log.settings().version
    return None


def _require_no_open(log: Log, subject: Subject) -> None:
    """Raises `OpenChange`; commands do not stand in each other's way."""
    change = None if subject.kind == "command" else log.changes.open(subject)
    if change is not None:
        named = subject.kind if subject.id is None else f"{subject.kind} {subject.id}"
        raise OpenChange(named, change.change_id, change.editors[0])


def _get(log: Log, change_id: int) -> ChangeRequest:
    change = log.changes.get(change_id)
    if change is None:
        raise ChangeNotFound(change_id)
    return change


def _keep(
    log: Log,
    happened: str,
    before: ChangeRequest | None,
    change: ChangeRequest,
    actor: Actor,
    editor: str | None = None,
) -> None:
    """Writes the change and what happened to it."""
    log.changes.keep(change, editor)
    happening = Happening(
        happened,
        change.changed_at,
        actor,
        change.content.subject,
        None,
        None if before is None else before.to_state(),
        change.to_state(),
    )
    tell(log, happening)
