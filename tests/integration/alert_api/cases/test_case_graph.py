"""The graph of a case on a real Postgres: transactions counted once, their ends from transactions and from groups."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from alert_api.adapters.cases import case_graph_rows
from alert_api.adapters.cases.postgres_cases import PostgresCases
from alert_api.adapters.postgres_alerts import open_pool
from alert_api.adapters.postgres_intake import PostgresIntake
from alert_api.domain.cases.policy import CasePolicy
from alert_api.service.cases.case_graph import CaseGraph, Edge, Ends, PartyEnds
from alert_api.service.cases.case_queries import CaseFilter
from tests.integration.alert_api.conftest import AlertsDatabase
from tests.unit.alert_api.support.samples import EPOCH, alert, received

pytestmark = pytest.mark.integration


def test_the_graph_counts_each_transaction_once_and_says_what_it_leaves_out(
    alerts_database: AlertsDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    def paid(number: int, to: str | None, amount: str, rule: int = 1) -> dict[str, Any]:
        """The same transaction trips another rule, too, where it has the number of one before."""
        made = alert(100 * rule + number, group={"payeeId": "7"}, ruleId=rule, eventTime=EPOCH + number)
        transaction = {**made["transaction"], "transactionId": f"t{number}", "eventTime": EPOCH + number}
        return {
            **made,
            "transaction": {**transaction, "payeeId": "7", "beneficiaryId": to, "paymentAmount": amount},
        }

    alerts = [
        paid(1, "a", "0.1"),
        paid(2, "a", "0.2"),
        paid(3, "b", "5"),
        paid(3, "b", "5", 2),
        paid(4, None, "9"),
    ]
    with PostgresIntake(alerts_database.projector, CasePolicy(None, ("payeeId",))) as intake:
        intake.store([received(made) for made in alerts], [])
    ends = Ends("transactionId", "eventTime", "payeeId", "beneficiaryId", "paymentAmount")
    with open_pool(alerts_database.api, 1) as pool:
        cases = PostgresCases(pool)
        [stored] = cases.page(CaseFilter(), None, 100).cases
        case_id = stored.case.case_id
        edges = [Edge("7", "a", 2, "0.3", EPOCH + 2), Edge("7", "b", 1, "5", EPOCH + 3)]
        assert cases.graph(case_id, ends) == CaseGraph(edges, 5, 4, 3, 2)
        without_sum = replace(ends, measure=None)
        assert [edge.total for edge in cases.graph(case_id, without_sum).edges] == [None, None]
        assert cases.graph(case_id, replace(ends, target="no such field")) == CaseGraph([], 5, 4, 0, 0)
        monkeypatch.setattr(case_graph_rows, "MOST_EDGES", 1)
        monkeypatch.setattr(case_graph_rows, "MOST_ALERTS", 4)
        assert cases.graph(case_id, ends) == CaseGraph(edges[1:], 4, 3, 2, 2)
        assert cases.graph(-1, ends) == CaseGraph([])


def test_the_graph_of_a_party_s_case_has_it_on_either_side(alerts_database: AlertsDatabase) -> None:
    def entry(number: int, side: str, transaction: dict[str, Any], **changes: Any) -> dict[str, Any]:
        """An alert of account 25, which is the entry's party; a partial one has what the rule names alone."""
        time, partial = EPOCH + number % 100, "partial" in changes
        more = {**changes, "ingestedAt": None} if partial else changes
        made = alert(number, group={"account": "25"}, side=side, eventTime=time, **more)
        base = {} if partial else made["transaction"]
        identity = {"transactionId": f"t{number % 100}", "eventTime": time}
        return {**made, "transaction": {**base, **identity, **transaction}}

    alerts = [
        entry(1, "payer", {"payeeId": "25", "beneficiaryId": "12", "paymentAmount": "1"}),
        entry(2, "payee", {"payeeId": "7", "beneficiaryId": "25", "paymentAmount": "2"}),
        # one end in the transaction, the other in the group
        entry(3, "payer", {"beneficiaryId": "12"}, partial=True),
        # the same entry by two rules, of which the one names the other end
        entry(4, "payee", {"paymentAmount": "8"}, partial=True),
        entry(104, "payee", {"payeeId": "7"}, partial=True, ruleId=2),
        # to itself: both entries
        entry(5, "payer", {}, partial=True),
        entry(205, "payee", {}, partial=True, ruleId=2),
        # an end that no alert says
        entry(6, "payee", {}, partial=True),
    ]
    with PostgresIntake(alerts_database.projector, CasePolicy(None, ("account",))) as intake:
        intake.store([received(made) for made in alerts], [])
    ends = Ends("transactionId", "eventTime", "payeeId", "beneficiaryId", "paymentAmount")
    account = replace(ends, party=PartyEnds("account", "payer", "payee"))
    with open_pool(alerts_database.api, 1) as pool:
        cases = PostgresCases(pool)
        [stored] = cases.page(CaseFilter(), None, 100).cases
        assert cases.graph(stored.case.case_id, account) == CaseGraph(
            [
                Edge("7", "25", 2, "10", EPOCH + 4),
                Edge("25", "12", 2, "1", EPOCH + 3),
                Edge("25", "25", 1, None, EPOCH + 5),
            ],
            8,
            6,
            5,
            3,
        )
        # of fields alone nothing is known of an end that no transaction says
        assert [edge.source for edge in cases.graph(stored.case.case_id, ends).edges] == ["7", "25"]
