"""Notices that a webhook wants."""

from __future__ import annotations

from dataclasses import replace

from alert_api.domain.notifications.case_notice import NoticeType
from tests.unit.alert_api.notifications.test_notices import OPENED, RESOLVED
from tests.unit.alert_api.webhooks.test_deliverer import CONTENT, World


def test_only_cases_about_the_subjects_that_were_asked_for() -> None:
    about = f"{OPENED.subject['field']}:{OPENED.subject['value']}"
    other = replace(OPENED, subject={"field": OPENED.subject["field"], "value": "somebody else"})
    series = replace(OPENED, subject={"ruleId": 7, "group": {"paymentType": "CSH"}})
    for subjects, wanted in (((about,), [True, False, False]), ((), [True, True, True])):
        content = replace(CONTENT, subjects=subjects)
        assert [content.wants(notice) for notice in (OPENED, other, series)] == wanted


def test_only_the_types_that_were_asked_for() -> None:
    world = World()
    types: tuple[NoticeType, ...] = ("CaseResolved",)
    world.content = replace(CONTENT, types=types)
    world.deliverer().step(7)
    assert (world.posted, world.position) == ([RESOLVED.id], RESOLVED.position)
