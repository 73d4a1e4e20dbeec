"""What retention does about months of alerts that are old enough, and why it leaves one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from alert_api.adapters.retention.alert_files import AlertFiles
from alert_api.errors import ArchiveFailed
from alert_api.service.past_months import AlertPolicy, Hindrance, Mark, PastMonths

DAY_MS = 86_400_000
NOW = 1_000 * DAY_MS
MONTH = "alerts_2026_01"
LINES = ['{"alert": 1}', '{"alert": 2, "text": "ä"}']
OF_LINES = Mark(2, 7_978_806_754_061_078_293)


@dataclass
class Partitions:
    """One month, in memory."""

    held: list[str] = field(default_factory=lambda: list(LINES))
    unresolved: int = 0
    changes: bool = False
    calls: list[str] = field(default_factory=list)
    asked: int | None = None

    def before(self, moment: int) -> Sequence[str]:
        self.asked = moment
        return [MONTH] if self.held else []

    def unresolved_cases(self, partition: str) -> int:
        assert partition == MONTH
        return self.unresolved

    def mark(self, partition: str) -> Mark:
        assert partition == MONTH
        return OF_LINES

    def lines(self, partition: str) -> Iterator[str]:
        assert partition == MONTH
        yield from self.held

    def keep_facts(self, partition: str) -> None:
        assert partition == MONTH
        self.calls.append("keep facts")

    def empty(self, partition: str, mark: Mark | None) -> int | None:
        assert partition == MONTH
        self.calls.append(f"empty {mark}")
        if self.changes:
            return None
        alerts = len(self.held)
        self.held.clear()
        return alerts


class Tally:
    """The metrics."""

    def __init__(self) -> None:
        self.gone = 0
        self.left: list[dict[Hindrance, int]] = []

    def dropped(self, alerts: int) -> None:
        self.gone += alerts

    def kept(self, months: Mapping[Hindrance, int]) -> None:
        self.left.append({reason: number for reason, number in months.items() if number})


def rounds(
    partitions: Partitions, archive: AlertFiles | None, policy: AlertPolicy, times: int = 1
) -> tuple[Tally, list[str]]:
    """The metrics, and the reasons that were logged."""
    tally = Tally()
    months = PastMonths(partitions, archive, policy, tally, lambda: NOW)
    with capture_logs() as logs:
        for _ in range(times):
            months.round()
    return tally, [entry["reason"] for entry in logs if entry["event"] == "alerts_kept"]


def test_all_alerts_are_kept_unless_told_otherwise(tmp_path: Path) -> None:
    partitions = Partitions()
    tally, _ = rounds(partitions, AlertFiles(tmp_path), AlertPolicy(None, unarchived=True))
    assert (partitions.asked, partitions.calls, tally.left) == (None, [], [])


def test_what_is_archived_goes(tmp_path: Path) -> None:
    partitions = Partitions()
    tally, reasons = rounds(partitions, AlertFiles(tmp_path), AlertPolicy(90, unarchived=False), times=2)
    assert partitions.asked == NOW - 90 * DAY_MS
    assert partitions.calls == ["keep facts", f"empty {OF_LINES}"]
    assert (tally.gone, tally.left, reasons) == (2, [{}, {}], [])
    assert [file.name for file in tmp_path.iterdir()] == [f"{MONTH}-0001.ndjson.gz"]


def test_the_archive_is_asked_before_it_is_written_to(tmp_path: Path) -> None:
    """After a kill between file and deletion there is one file and not two."""
    AlertFiles(tmp_path).write(MONTH, iter(LINES))
    rounds(Partitions(), AlertFiles(tmp_path), AlertPolicy(90, unarchived=False))
    assert [file.name for file in tmp_path.iterdir()] == [f"{MONTH}-0001.ndjson.gz"]


def test_what_came_later_gets_a_file_of_its_own(tmp_path: Path) -> None:
    AlertFiles(tmp_path).write(MONTH, iter(["others"]))
    partitions = Partitions()
    rounds(partitions, AlertFiles(tmp_path), AlertPolicy(90, unarchived=False))
    names = sorted(file.name for file in tmp_path.iterdir())
    assert names == [f"{MONTH}-0001.ndjson.gz", f"{MONTH}-0002.ndjson.gz"]
    assert partitions.held == []


@pytest.mark.parametrize(
    ("partitions", "archived", "reason"),
    [
        (Partitions(unresolved=1), True, "unresolved_cases"),
        (Partitions(), False, "no_archive"),
        (Partitions(changes=True), True, "changed"),
        (Partitions(held=LINES[:1]), True, "archive_failed"),
    ],
)
def test_why_a_month_stays_is_said_once(
    tmp_path: Path, partitions: Partitions, archived: bool, reason: Hindrance
) -> None:
    archive = AlertFiles(tmp_path) if archived else None
    tally, reasons = rounds(partitions, archive, AlertPolicy(90, unarchived=False), times=2)
    assert partitions.held
    assert (tally.gone, tally.left, reasons) == (0, [{reason: 1}] * 2, [reason])


def test_without_an_archive_if_told_so() -> None:
    partitions = Partitions()
    tally, _ = rounds(partitions, None, AlertPolicy(90, unarchived=True))
    assert partitions.calls == ["keep facts", "empty None"]
    assert tally.gone == 2


def test_a_file_that_was_not_finished_is_none(tmp_path: Path) -> None:
    def interrupted() -> Iterator[str]:
        yield LINES[0]
        raise OSError("no space left")

    files = AlertFiles(tmp_path)
    with pytest.raises(ArchiveFailed, match="no space left"):
        files.write(MONTH, interrupted())
    assert files.mark(MONTH) is None
    files.write(MONTH, iter(LINES))
    assert files.mark(MONTH) == OF_LINES


@pytest.mark.parametrize("damage", ["cut", "altered"])
def test_a_damaged_file_does_not_have_them(tmp_path: Path, damage: str) -> None:
    files = AlertFiles(tmp_path)
    files.write(MONTH, iter(LINES))
    (file,) = tmp_path.iterdir()
    content = file.read_bytes()
    middle = len(content) // 2
    altered = content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
    file.write_bytes(content[:-12] if damage == "cut" else altered)
    with pytest.raises(ArchiveFailed):
        files.mark(MONTH)


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ArchiveFailed, match="nowhere"):
        AlertFiles(tmp_path / "nowhere").mark(MONTH)
