"""Between whom the transactions of a case went: which fields of an event type say so."""

from __future__ import annotations

from dataclasses import replace

from alert_api.service.cases.case_graph import Ends, PartyEnds, ends_of
from tripline_contracts import event_type_loader
from tripline_contracts.event_type import Party, Side


def test_the_ends_are_the_first_two_fields_that_rules_run_by() -> None:
    card = event_type_loader.load("card-authorisation")
    expected = Ends("authorisationId", "authorisedAt", "cardId", "merchantId", "amount")
    assert ends_of(card, "cardId") == ends_of(card, None) == expected
    assert ends_of(replace(card, anchors=("cardId", "global")), "cardId") is None


def test_the_ends_are_the_sides_of_a_party_where_the_case_is_about_it() -> None:
    card = event_type_loader.load("card-authorisation")
    sides = (Side("owner", "deviceId"), Side("seller", "merchantId"), Side("kind", "merchantCategory"))
    declared = replace(card, parties=(Party("someone", sides),))

    def ends(
        subject_field: str | None, anchors: tuple[str, ...] = card.anchors
    ) -> tuple[str, str, PartyEnds | None]:
        chosen = ends_of(replace(declared, anchors=anchors), subject_field)
        assert chosen is not None
        return chosen.source, chosen.target, chosen.party

    seller = ("deviceId", "merchantId", PartyEnds("someone", "owner", "seller"))
    kind = ("deviceId", "merchantCategory", PartyEnds("someone", "owner", "kind"))
    assert [ends(field) for field in ("someone", "deviceId", "merchantId")] == [seller] * 3
    assert ends("merchantCategory") == kind
    # about another field: that one and the next, which are no two sides
    assert ends("cardId") == ends(None) == ("cardId", "merchantId", None)
    # with one field to run by there is the party
    assert ends("cardId", ("cardId", "global")) == seller
    # in the order in which rules run by them
    turned = ends("cardId", ("merchantId", "deviceId", "cardId", "global"))
    assert turned == ("merchantId", "deviceId", PartyEnds("someone", "seller", "owner"))
