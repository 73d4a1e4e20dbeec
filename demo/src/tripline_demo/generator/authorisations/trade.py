"""The trade of card authorisations."""

from __future__ import annotations

from typing import Final

from tripline_contracts import event_type_loader
from tripline_demo.generator.authorisations.frauds import CAST, FRAUDS, card_id, device_id, merchant_id
from tripline_demo.generator.authorisations.scenarios import NO_DEVICE, SCENARIOS
from tripline_demo.generator.authorisations.stream import CARDS, MERCHANTS, Authorisation, authorisations
from tripline_demo.generator.trade import Trade

_MODES: Final = ("CHIP", "CONTACTLESS", "ONLINE", "SWIPE")
_CATEGORIES: Final = (
    *("groceries", "restaurants", "fuel", "clothing", "electronics", "digital goods", "travel", "pharmacies"),
)


def json_value(made: Authorisation, identity: str, now: int) -> bytes:
    """The authorisation as JSON; `now` (ms) is its record time, from which its age counts back."""
    whole, cents = divmod(made.cents, 100)
    device = "null" if made.device == NO_DEVICE else f'"{device_id(made.device)}"'
    # a merchant is of one category
    category = _CATEGORIES[made.merchant % len(_CATEGORIES)]
    return (
        f'{{"authorisationId":"{identity}","authorisedAt":{now - made.age_ms},"cardId":"{card_id(made.card)}",'
        f'"merchantId":"{merchant_id(made.merchant)}","deviceId":{device},"merchantCategory":"{category}",'
        f'"entryMode":"{_MODES[made.entry_mode]}","amount":"{whole}.{cents:02d}","ingestionTimestamp":{now}}}'
    ).encode()


def _key(made: Authorisation) -> bytes:
    return card_id(made.card).encode()


AUTHORISATIONS: Final = Trade(
    event_type_loader.load("card-authorisation"),
    populations={"cards": CARDS, "merchants": MERCHANTS},
    scenarios=SCENARIOS,
    make=authorisations,
    json_value=json_value,
    key=_key,
    cast=CAST,
    frauds=FRAUDS,
)
