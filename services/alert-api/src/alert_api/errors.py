"""Everything that this package raises on purpose."""

from __future__ import annotations


class AlertApiError(Exception):
    """Base of the errors below."""


class AlertNotFound(AlertApiError):
    """No alert has this id."""

    def __init__(self, alert_id: str) -> None:
        super().__init__(f"there is no alert {alert_id}")
        self.alert_id = alert_id


class AlreadyAcknowledged(AlertApiError):
    """Somebody else acknowledged the alert first."""

    def __init__(self, alert_id: str, first_by: str, first_at: int) -> None:
        super().__init__(f"alert {alert_id} was already acknowledged by {first_by}")
        self.alert_id = alert_id
        self.first_by = first_by
        self.first_at = first_at


class ViewNotFound(AlertApiError):
    """The caller has no saved view of this name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"there is no view {name}")
        self.name = name


class TooManyViews(AlertApiError):
    """The caller has as many saved views as one person may have."""

    def __init__(self, most: int) -> None:
        super().__init__(f"There are {most} views already, as many as one person may have")


class CaseNotFound(AlertApiError):
    """No case has this id."""

    def __init__(self, case_id: int) -> None:
        super().__init__(f"there is no case {case_id}")
        self.case_id = case_id


class CaseStateConflict(AlertApiError):
    """The case's state does not let this be done."""

    def __init__(self, case_id: int, state: str, expected: str) -> None:
        super().__init__(f"case {case_id} is {state}; expected one that is {expected}")
        self.case_id = case_id
        self.state = state


class CaseInTheWay(AlertApiError):
    """Another case of the same subject is unresolved."""

    def __init__(self, case_id: int, unresolved: int) -> None:
        super().__init__(
            f"case {case_id} cannot be reopened: case {unresolved} of the same subject is unresolved"
        )
        self.case_id = case_id
        self.unresolved = unresolved


class StaleCase(AlertApiError):
    """The case is not at a version that the caller has seen."""

    def __init__(self, case_id: int, version: int) -> None:
        super().__init__(f"case {case_id} is at version {version} by now")
        self.case_id = case_id
        self.version = version


class SnoozeNotFound(AlertApiError):
    """No snooze has this id."""

    def __init__(self, snooze_id: int) -> None:
        super().__init__(f"there is no snooze {snooze_id}")
        self.snooze_id = snooze_id


class SnoozeNotPossible(AlertApiError):
    """A snooze cannot be asked for like this; `member` of the request, and what was expected."""

    def __init__(self, member: str, expected: str) -> None:
        super().__init__(f"{member}: {expected}")
        self.member = member
        self.expected = expected


class SnoozeStateConflict(AlertApiError):
    """The snooze's state does not let this be done."""

    def __init__(self, snooze_id: int, state: str, expected: str) -> None:
        super().__init__(f"snooze {snooze_id} is {state}; expected one that is {expected}")
        self.snooze_id = snooze_id
        self.state = state


class SecondPersonNeeded(AlertApiError):
    """Who asked for a snooze cannot decide on it."""

    def __init__(self, snooze_id: int, actor: str) -> None:
        super().__init__(f"{actor} asked for snooze {snooze_id}: somebody else has to decide on it")


class AnotherContent(AlertApiError):
    """The approver has seen another request than the one that would be approved."""

    def __init__(self, snooze_id: int) -> None:
        super().__init__(f"snooze {snooze_id} asks for something else than this contentHash is of")


class StaleSnooze(AlertApiError):
    """The snooze is not at a version that the caller has seen."""

    def __init__(self, snooze_id: int, version: int) -> None:
        super().__init__(f"snooze {snooze_id} is at version {version} by now")
        self.version = version


class KeyReused(AlertApiError):
    """An Idempotency-Key came again with another request."""


class CountChanged(AlertApiError):
    """A filter does not choose as many cases as the caller has seen."""

    def __init__(self, expected: int, count: int) -> None:
        super().__init__(f"the filter chooses {count} cases, expected {expected}")
        self.expected = expected
        self.count = count


class LifecycleBroken(AlertApiError):
    """The stored events of an alert contradict each other: a defect, never a caller's mistake."""


class StoreUnavailable(AlertApiError):
    """The database does not answer. The same call may succeed later."""


class ArchiveFailed(AlertApiError):
    """A file of archived alerts cannot be written or read, or has something else than it should."""


class RecordNotStorable(AlertApiError):
    """The database refuses this very content, today and tomorrow."""


class Stopped(AlertApiError):
    """The process was asked to stop while it waited for something."""


class UpstreamUnavailable(AlertApiError):
    """Another service does not answer in time, or not in a way that can be handed on."""

    def __init__(self, title: str, reason: str) -> None:
        super().__init__(f"{title} {reason}")
        self.title = title


class NotConnected(AlertApiError):
    """The settings name no address for the service that was asked for."""

    def __init__(self, title: str, variable: str) -> None:
        super().__init__(f"{title} is not connected: {variable} is not set")


class ProofRefused(AlertApiError):
    """There is no proof: history is missing, or it would take too much; the message is one sentence."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


class ProverBusy(AlertApiError):
    """As many proofs are under way as there may be at once."""


class ProverUnavailable(AlertApiError):
    """The prover does not answer, or none is connected; the message says what to do."""


class EvidenceNotSigned(AlertApiError):
    """No key signs evidence here; the message says what to do."""


class RejectedRecordNotFound(AlertApiError):
    """No rejected record has this id."""

    def __init__(self, record_id: str) -> None:
        super().__init__(f"there is no rejected record {record_id}")
        self.record_id = record_id


class AlreadyDecided(AlertApiError):
    """Somebody decided about the rejected record first."""

    def __init__(self, record_id: str, kind: str, first_by: str, first_at: int) -> None:
        super().__init__(f"{first_by} decided about the rejected record {record_id}")
        self.record_id = record_id
        self.kind = kind
        self.first_by = first_by
        self.first_at = first_at


class CorrectionNotReadable(AlertApiError):
    """What is to be sent in a rejected record's stead is nothing that the engine could read."""


class NotSent(AlertApiError):
    """The broker did not confirm a record in time. The same call may succeed later."""


class WebhookNotFound(AlertApiError):
    """No webhook has this id, or it was removed."""

    def __init__(self, webhook_id: int) -> None:
        super().__init__(f"there is no webhook {webhook_id}")
        self.webhook_id = webhook_id


class WebhookRefused(AlertApiError):
    """A webhook that cannot be; `member` is what it is refused for, `expected` says what would do."""

    def __init__(self, member: str, expected: str) -> None:
        super().__init__(f"{member}: {expected}")
        self.member = member
        self.expected = expected


class WebhookInTheWay(AlertApiError):
    """Another webhook has the name, or there are as many as there may be."""


class OwnWebhook(AlertApiError):
    """Who asked for a webhook cannot approve it."""

    def __init__(self, webhook_id: int, actor: str) -> None:
        super().__init__(f"{actor} asked for webhook {webhook_id}: somebody else has to approve it")


class AnotherWebhook(AlertApiError):
    """The approver has seen another webhook than the one that would be approved."""

    def __init__(self, webhook_id: int) -> None:
        super().__init__(f"webhook {webhook_id} is something else than this contentHash is of")


class StaleWebhook(AlertApiError):
    """The webhook is not at a version that the caller has seen."""

    def __init__(self, webhook_id: int, version: int) -> None:
        super().__init__(f"webhook {webhook_id} is at version {version} by now")
        self.version = version


class WebhookNotActive(AlertApiError):
    """Nothing is sent to the webhook now."""

    def __init__(self, webhook_id: int, state: str) -> None:
        super().__init__(f"webhook {webhook_id} is {state}; expected one that is active")


class SecretSealedOtherwise(AlertApiError):
    """The webhook's secret was sealed with another key than the notifier has."""

    def __init__(self, webhook_id: int) -> None:
        super().__init__(f"the secret of webhook {webhook_id} was sealed with another key: give it a new one")


class WebhooksOff(AlertApiError):
    """The settings allow no host; the message says what to do."""
