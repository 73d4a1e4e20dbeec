"""Everything that the registry raises: what the domain refuses, and what its surroundings fail at."""

from __future__ import annotations

from collections.abc import Sequence

from tripline_contracts.errors import Problem
from tripline_contracts.filters.named_values import Kind


class RegistryError(Exception):
    """The base of the registry's errors; the text is for the caller."""


class DomainError(RegistryError):
    """A command that the registry refuses."""


class RuleNotFound(DomainError):
    """There is no such rule."""

    def __init__(self, rule_id: int) -> None:
        super().__init__(f"There is no rule {rule_id}.")
        self.rule_id = rule_id


class RuleIsDeleted(DomainError):
    """The rule is deleted; nothing can be done with it any more."""

    def __init__(self, rule_id: int) -> None:
        super().__init__(
            f"Rule {rule_id} was deleted. Its history is at /v1/rule-events?ruleId={rule_id}, "
            "and /v1/rules?state=DELETED lists it."
        )
        self.rule_id = rule_id


class VersionNotFound(DomainError):
    """The rule has no such version."""

    def __init__(self, rule_id: int, version: int) -> None:
        super().__init__(f"Rule {rule_id} has no version {version}.")


class StaleVersion(DomainError):
    """The caller has not seen the current version."""

    def __init__(self, current: int) -> None:
        super().__init__(
            f"If-Match does not name the current version, which is {current}. Read it again first."
        )
        self.current = current


class NameTaken(DomainError):
    """Another living rule has the name."""

    def __init__(self, name: str, rule_id: int) -> None:
        super().__init__(f"Rule {rule_id} is called {name!r} already. Choose another name.")
        self.rule_id = rule_id


class WrongState(DomainError):
    """The command does not fit the rule's state: pausing what is paused, resuming what is active."""


class IllegalStep(DomainError):
    """The step does not fit the state; `legal` are those that do."""

    def __init__(self, subject: str, state: str, step: str, legal: Sequence[str]) -> None:
        can = f"Possible now: {', '.join(legal)}." if legal else "Nothing can be done with it any more."
        super().__init__(f"{subject} is {state}: {step} is not possible. {can}")
        self.state = state
        self.legal = tuple(legal)


class ChangeNotFound(DomainError):
    """There is no such change."""

    def __init__(self, change_id: int) -> None:
        super().__init__(f"There is no change {change_id}.")


class OtherRevision(DomainError):
    """The approver has seen another content than the one that would be approved."""

    def __init__(self, change_id: int, revision: int) -> None:
        super().__init__(
            f"Change {change_id} has another content, that of revision {revision}. Read it again, and approve its "
            "contentHash."
        )
        self.revision = revision


class BaseMoved(DomainError):
    """What a change was made for has another version now."""

    def __init__(self, change_id: int, base: int, current: int) -> None:
        super().__init__(
            f"Change {change_id} was made for version {base}, and the version is {current} now. Reject it; edited, it "
            "is made for that one."
        )


class SamePerson(DomainError):
    """Whoever had a hand in a change cannot decide on it."""

    def __init__(self, change_id: int, name: str) -> None:
        super().__init__(f"{name} had a hand in change {change_id}: somebody else has to decide on it.")


class NotAnEditor(DomainError):
    """Only those who had a hand in a change withdraw it."""

    def __init__(self, change_id: int, name: str) -> None:
        super().__init__(f"{name} had no hand in change {change_id}; an approver can reject it.")


class OpenChange(DomainError):
    """What is to be changed has an open change already."""

    def __init__(self, subject: str, change_id: int, author: str) -> None:
        super().__init__(
            f"Change {change_id} of {subject}, by {author}, is open: edit that one, or have it decided or withdrawn."
        )
        self.change_id = change_id


class ReasonNeeded(DomainError):
    """Who acts alone says why."""

    def __init__(self) -> None:
        super().__init__(
            "Acting without a second person needs a reason: say it in the query parameter reason."
        )


class NotApprovedBefore(DomainError):
    """Only to what was approved once can one person go back alone."""

    def __init__(self, rule_id: int) -> None:
        super().__init__(
            f"This definition of rule {rule_id} was never approved: going back to it needs a second person."
        )


class IdempotencyKeyReused(DomainError):
    """The key came before with another request."""

    def __init__(self) -> None:
        super().__init__(
            "This Idempotency-Key came before with another request. Use a new key for a new request."
        )


class NameNotFound(DomainError):
    """There is no list, or no parameter, of that name."""

    def __init__(self, kind: Kind, name: str) -> None:
        super().__init__(f"There is no {kind} {name!r}.")
        self.kind = kind


class UnfitDefinition(DomainError):
    """A well-formed definition that cannot be published here as things stand; each problem says what and where."""

    def __init__(self, message: str, problems: Sequence[Problem]) -> None:
        super().__init__(message)
        self.problems = tuple(problems)


class UnknownNames(UnfitDefinition):
    """A definition names lists or parameters that do not exist."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(
            "The rule names what does not exist yet. Make it first, then publish the rule.", problems
        )


class TooMuchHistory(UnfitDefinition):
    """A rule needs more history than the engine holds at the expected rate."""

    def __init__(self, problem: Problem) -> None:
        super().__init__("The rule needs more history than the engine may hold.", [problem])


class EndsTooEarly(UnfitDefinition):
    """A definition would end before it begins."""

    def __init__(self, effective_from: int) -> None:
        problem = Problem("effectiveUntil", f"expected a time after effectiveFrom, which is {effective_from}")
        super().__init__("The rule would never judge anything.", [problem])


class QuotaExceeded(DomainError):
    """What was asked for would make the installation hold more than it may; `quota` is the name in the API."""

    def __init__(self, quota: str, title: str, used: int, allowed: int) -> None:
        super().__init__(f"This would come to {used} {title}; {allowed} are allowed. Nothing was changed.")
        self.quota = quota
        self.used = used
        self.allowed = allowed


class KeyNotFound(DomainError):
    """There is no such API key."""

    def __init__(self, name: str) -> None:
        super().__init__(f"There is no API key {name!r} that was given out here.")


class KeyNameTaken(DomainError):
    """The name is, or was, somebody's."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"The name {name!r} is taken: it is an actor of the history, so nobody else gets it."
        )


class KeyIsRevoked(DomainError):
    """Nothing can be done with a key that was revoked."""

    def __init__(self, name: str) -> None:
        super().__init__(f"The API key {name!r} was revoked. Give out one of another name.")


class UnfitEnd(DomainError):
    """A key would have ended before it was given out."""

    def __init__(self) -> None:
        super().__init__("expected a time in the future")


class CommandNotFound(DomainError):
    """There is no such control command."""

    def __init__(self, command_id: str) -> None:
        super().__init__(f"There is no control command {command_id}.")


class GroupNotCleared(DomainError):
    """The rule has no such group that could be cleared alone; `field` is what stands against it."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


class BackfillNotFound(DomainError):
    """No backfill was started under this id."""

    def __init__(self, backfill_id: str) -> None:
        super().__init__(f"There is no backfill {backfill_id}.")


class BackfillHasEnded(DomainError):
    """The backfill was closed before."""

    def __init__(self, backfill_id: str) -> None:
        super().__init__(f"Backfill {backfill_id} has ended already.")


class CannotRepublish(RegistryError):
    """The rules topic cannot be written anew; the text is one sentence for the operator."""


class ConcurrentChange(RegistryError):
    """Another writer took the version first; trying again is right."""


class StoreUnavailable(RegistryError):
    """Postgres cannot be reached, or did not answer in time."""


class DeliveryFailed(RegistryError):
    """Kafka did not confirm what was sent."""


class RelayCursorMoved(RegistryError):
    """Someone else moved the relay's cursor although this relay holds the lock."""


class RelayCursorAhead(RegistryError):
    """The relay's cursor stands behind the end of the log: what it delivers next would begin too late."""


class InvalidStatus(RegistryError):
    """A record of rule-status.v1 that cannot be read; the text says why."""


class LogDiffers(RegistryError):
    """rules.v1 or an engine holds something else than the log; the text says what."""


class InvalidExport(RegistryError):
    """A file that is no export of the audit trail; the text says which line."""
