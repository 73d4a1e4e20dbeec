"""Named frauds with cards.

testing   |a b c d e f g h|                         many cards, one merchant, amounts of cents
device    |a b c d e f g h|                         many cards, one device
spree     |....................|                    one card, merchant after merchant
drip      |x  .  .  x  .  .  x  .  .  x|            one card at one merchant, minutes by event time: the authorisations
                                                    happened earlier and come in only now
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tripline_demo.generator.authorisations.scenarios import CHIP, CONTACTLESS, NO_DEVICE, ONLINE
from tripline_demo.generator.authorisations.stream import Authorisation
from tripline_demo.generator.frauds import (
    Fraud,
    Moment,
    Play,
    account,
    accounts,
    cents,
    drip_ages,
    evenly,
)
from tripline_demo.generator.shape import Kind

CAST: Final = ("cardId", "merchantId", "deviceId")


def card_id(number: int) -> str:
    """The name of a card in the stream."""
    return f"c{number}"


def merchant_id(number: int) -> str:
    """The name of a merchant in the stream."""
    return f"m{number}"


def device_id(number: int) -> str:
    """The name of a device in the stream."""
    return f"d{number}"


def _testing(seed: int, number: int) -> Play:
    merchant = account(seed, 941, number)
    cards = accounts(seed, 942, number, TESTING_COUNT)
    amounts = cents(seed, number, TESTING_COUNT, 50, 2_00)
    made = _made(cards, [merchant] * TESTING_COUNT, amounts, ONLINE)
    return _played(made, TESTING_SECONDS, merchantId=merchant_id(merchant))


def _device(seed: int, number: int) -> Play:
    device = account(seed, 951, number)
    cards = accounts(seed, 952, number, DEVICE_COUNT)
    shops = accounts(seed, 953, number, DEVICE_COUNT)
    amounts = cents(seed, number, DEVICE_COUNT, 20_00, 200_00)
    made = _made(cards, shops, amounts, ONLINE, device=device)
    return _played(made, DEVICE_SECONDS, deviceId=device_id(device))


def _spree(seed: int, number: int) -> Play:
    card = account(seed, 961, number)
    shops = accounts(seed, 962, number, SPREE_COUNT)
    amounts = cents(seed, number, SPREE_COUNT, 5_00, 50_00)
    made = _made([card] * SPREE_COUNT, shops, amounts, CONTACTLESS)
    return _played(made, SPREE_SECONDS, cardId=card_id(card))


def _drip(seed: int, number: int) -> Play:
    card, merchant = account(seed, 971, number), account(seed, 972, number)
    amounts = cents(seed, number, DRIP_COUNT, 700_00, 800_00)
    made = _made([card] * DRIP_COUNT, [merchant] * DRIP_COUNT, amounts, CHIP, ages=drip_ages(DRIP_COUNT))
    return _played(made, DRIP_SECONDS, cardId=card_id(card), merchantId=merchant_id(merchant))


def _made(
    cards: Sequence[int],
    merchants: Sequence[int],
    amounts: Sequence[int],
    entry_mode: int,
    *,
    device: int = NO_DEVICE,
    ages: Sequence[int] | None = None,
) -> list[Authorisation]:
    return [
        Authorisation(
            number=index,
            age_ms=ages[index] if ages else 0,
            kind=Kind.PLAIN,
            card=card,
            merchant=merchant,
            device=device,
            entry_mode=entry_mode,
            cents=amount,
        )
        for index, (card, merchant, amount) in enumerate(zip(cards, merchants, amounts, strict=True))
    ]


def _played(made: Sequence[Authorisation], seconds: int, **known: str) -> Play:
    """One moment per authorisation, evenly over `seconds`; `known` are those of the cast who are one."""
    moments = zip(evenly(seconds, len(made)), made, strict=True)
    return Play(
        {name: known.get(name) for name in CAST}, tuple(Moment(after, changes) for after, changes in moments)
    )


TESTING_COUNT, TESTING_SECONDS = 28, 7
DEVICE_COUNT, DEVICE_SECONDS = 14, 10
SPREE_COUNT, SPREE_SECONDS = 30, 9
DRIP_COUNT, DRIP_SECONDS = 14, 14

FRAUDS: Final = (
    Fraud(
        "card-testing", "Card testing at one merchant", "Card after card is tried with amounts of cents.",
        TESTING_COUNT, TESTING_SECONDS, _testing,
    ),
    Fraud(
        "shared-device", "One device, many cards", "A new card for every purchase, all from the same device.",
        DEVICE_COUNT, DEVICE_SECONDS, _device,
    ),
    Fraud(
        "card-spree", "A card in much use", "One card at merchant after merchant, within seconds.",
        SPREE_COUNT, SPREE_SECONDS, _spree,
    ),
    Fraud(
        "slow-drip", "Slow drip at a merchant", "Medium amounts, one every 43 seconds of the last nine minutes.",
        DRIP_COUNT, DRIP_SECONDS, _drip,
    ),
)  # fmt: skip
