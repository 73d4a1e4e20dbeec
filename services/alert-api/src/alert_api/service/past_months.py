"""Retention of alerts: a month goes when all of it is older than the policy, no case in it is unresolved, and the
archive has its alerts, or was said not to be needed. Else it stays, and it is said why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol, get_args

import structlog

from alert_api.errors import ArchiveFailed

log = structlog.get_logger(__name__)

_DAY_MS: Final = 86_400_000

Hindrance = Literal["unresolved_cases", "no_archive", "archive_failed", "changed"]
"""Why a month stays: cases in it are not resolved; there is no archive; it could not be written, or has something else
than what was written; alerts or cases changed while they were looked at."""
HINDRANCES: Final[tuple[Hindrance, ...]] = get_args(Hindrance)


@dataclass(frozen=True, slots=True)
class AlertPolicy:
    """What is kept: alerts up to this age, None for all of them; `unarchived`: older ones go without an archive."""

    days: int | None
    unarchived: bool


@dataclass(frozen=True, slots=True)
class Mark:
    """Lines of alerts, told from any others: their number, and a sum of their hashes."""

    alerts: int
    digest: int


class PastPartitions(Protocol):
    """The partitions of alerts that are over. Raises StoreUnavailable."""

    def before(self, moment: int) -> Sequence[str]:
        """Names of those with alerts that all came before that moment, ms since the epoch; the oldest first."""

    def unresolved_cases(self, partition: str) -> int:
        """The number of cases with alerts in it that are not resolved."""

    def mark(self, partition: str) -> Mark:
        """Of the lines that `lines` gives."""

    def lines(self, partition: str) -> Iterator[str]:
        """A line for each alert: its content as it came, and all that happened to it."""

    def keep_facts(self, partition: str) -> None:
        """Keeps what cases are folded from, of each alert."""

    def empty(self, partition: str, mark: Mark | None) -> int | None:
        """Deletes its alerts, if they are those of the mark and all their cases are resolved; gives their number."""


class AlertArchive(Protocol):
    """Files of alerts. Raises ArchiveFailed."""

    def mark(self, partition: str) -> Mark | None:
        """Of what the partition's newest file has, read from the file; None where there is no file."""

    def write(self, partition: str, lines: Iterator[str]) -> None:
        """One more file."""


class AlertTally(Protocol):
    """The metrics of alerts that go."""

    def dropped(self, alerts: int) -> None: ...

    def kept(self, months: Mapping[Hindrance, int]) -> None: ...


class PastMonths:
    """What retention does for them in each of its rounds."""

    def __init__(
        self,
        partitions: PastPartitions,
        archive: AlertArchive | None,
        policy: AlertPolicy,
        tally: AlertTally,
        clock: Callable[[], int],
    ) -> None:
        self._partitions, self._archive, self._policy = partitions, archive, policy
        self._tally, self._clock = tally, clock
        self._said: dict[str, Hindrance] = {}

    def round(self) -> None:
        """Each month that is old enough. Raises StoreUnavailable."""
        if self._policy.days is None:
            return
        hindrances: dict[str, Hindrance] = {}
        for partition in self._partitions.before(self._clock() - self._policy.days * _DAY_MS):
            hindrance = self._drop(partition)
            if hindrance is not None:
                hindrances[partition] = hindrance
                if self._said.get(partition) != hindrance:
                    log.warning("alerts_kept", partition=partition, reason=hindrance)
        self._said = hindrances
        reasons = list(hindrances.values())
        self._tally.kept({hindrance: reasons.count(hindrance) for hindrance in HINDRANCES})

    def _drop(self, partition: str) -> Hindrance | None:
        if self._partitions.unresolved_cases(partition):
            return "unresolved_cases"
        mark = None
        if self._archive is not None:
            try:
                mark = self._archived(partition, self._archive)
            except ArchiveFailed as error:
                log.warning("alerts_not_archived", partition=partition, error=str(error))
                return "archive_failed"
        elif not self._policy.unarchived:
            return "no_archive"
        self._partitions.keep_facts(partition)
        alerts = self._partitions.empty(partition, mark)
        if alerts is None:
            return "changed"
        self._tally.dropped(alerts)
        log.info("alerts_dropped", partition=partition, alerts=alerts, archived=mark is not None)
        return None

    def _archived(self, partition: str, archive: AlertArchive) -> Mark:
        """The mark of the partition, once the archive has it: it is asked, and only then written to."""
        mark = self._partitions.mark(partition)
        if archive.mark(partition) != mark:
            archive.write(partition, self._partitions.lines(partition))
            written = archive.mark(partition)
            if written != mark:
                raise ArchiveFailed(f"{partition}: the archive has {written} where {mark} was expected")
        return mark
