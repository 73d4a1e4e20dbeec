"""What is told of cases: ids, the records' content, and a publisher that goes on after failures."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

import pytest

from alert_api.domain.notifications.case_notice import (
    NOTICE_TYPES,
    CaseNotice,
    CaseSummary,
    notice_headers,
    notice_json,
)
from alert_api.errors import NotSent, StoreUnavailable
from alert_api.service.notifications.publisher import Publisher
from alert_api.service.projector import RetryPolicy
from tripline_contracts import schemas, topics

EPOCH: Final = 1_763_690_000_000
OPENED: Final = CaseNotice(
    position=31, type="CaseOpened", case_id=31, version=1, occurred_at=EPOCH, actor=None, comment=None, assignee=None,
    outcome=None, rule_id=None, subject={"field": "payerId", "value": "4711"},
    case=CaseSummary("open", 1, (7,), 3, EPOCH, EPOCH + 4000),
)  # fmt: skip
RESOLVED: Final = replace(
    OPENED,
    position=40,
    type="CaseResolved",
    version=2,
    actor="ada",
    comment="Zoë called",
    outcome="false_positive",
)
JOINED: Final = replace(OPENED, position=35, type="CaseEpisodeJoined", version=None, rule_id=9)


@pytest.mark.parametrize("notice", [OPENED, RESOLVED, JOINED], ids=lambda notice: notice.type)
def test_a_notice_keeps_the_schema_of_the_topic(notice: CaseNotice) -> None:
    schemas.validator("cases.v1")(notice_json(notice))


def test_the_topic_names_every_type() -> None:
    assert topics.load("cases.v1").events == NOTICE_TYPES


def test_ids_are_of_case_and_position() -> None:
    assert [notice.id for notice in (OPENED, RESOLVED, JOINED)] == ["case-31-31", "case-31-40", "case-31-35"]
    later = replace(OPENED, case=replace(OPENED.case, alert_count=99))
    assert later.id == OPENED.id
    assert dict(notice_headers(RESOLVED)) == {
        "ce_specversion": b"1.0",
        "ce_id": b"case-31-40",
        "ce_type": b"tripline.CaseResolved.v1",
        "ce_source": b"/alert-api",
        "ce_time": b"2025-11-21T01:53:20.000Z",
        "content-type": b"application/json",
    }


class Log:
    """Notices in memory, a position, and a topic; each fails as often as it is told to."""

    def __init__(self, notices: Sequence[CaseNotice], **fails: int) -> None:
        self.notices, self.fails = notices, fails
        self.position = 0
        self.sent: list[str] = []
        self.counted: list[str] = []
        self.stop = threading.Event()

    def _perhaps(self, what: str, error: Exception) -> None:
        if self.fails.get(what, 0) > 0:
            self.fails[what] -= 1
            raise error

    @contextmanager
    def next_batch(self, limit: int) -> Iterator[Sequence[CaseNotice]]:
        self._perhaps("read", StoreUnavailable("away"))
        batch = [notice for notice in self.notices if notice.position > self.position][:limit]
        yield batch
        self._perhaps("store", StoreUnavailable("away"))
        if batch:
            self.position = batch[-1].position
        else:
            self.stop.set()

    def send(self, notices: Sequence[CaseNotice]) -> None:
        self._perhaps("send", NotSent("no broker"))
        self.sent += [notice.id for notice in notices]

    def published(self, event: str) -> None:
        self.counted.append(event)


@pytest.mark.parametrize(
    ("fails", "times"),
    [({}, 1), ({"read": 2}, 1), ({"send": 2}, 1), ({"store": 1}, 2)],
    ids=["nothing", "reading", "sending", "storing"],
)
def test_all_is_published_in_order_whatever_fails(fails: dict[str, Any], times: int) -> None:
    log = Log([OPENED, JOINED, RESOLVED], **fails)
    Publisher(log, log, log, log.stop, RetryPolicy(0.001, 0.002)).run()
    assert log.sent == ["case-31-31", "case-31-35", "case-31-40"] * times
    assert (log.position, log.counted) == (40, ["CaseOpened", "CaseEpisodeJoined", "CaseResolved"])
