"""Named frauds with accounts.

takeover   |i c p|            one account: a log-in, another password, a payment to somebody new
guesses    |a b c d e f g h|  many accounts, one device, log-ins that fail
password   |x x x x x x x v|  one account: log-ins that fail, and one that passes
mule       |a b c d e f g h|  many accounts, one beneficiary
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tripline_demo.generator.activities.scenarios import FAILED, NOBODY, PAID, PASSED, PASSWORD
from tripline_demo.generator.activities.stream import Activity
from tripline_demo.generator.frauds import Fraud, Moment, Play, account, accounts, cents, evenly
from tripline_demo.generator.shape import Kind

CAST: Final = ("accountId", "deviceId", "beneficiaryId")


def account_id(number: int) -> str:
    """The name of an account in the stream."""
    return f"a{number}"


def device_id(number: int) -> str:
    """The name of a device in the stream."""
    return f"d{number}"


def beneficiary_id(number: int) -> str:
    """The name of a beneficiary in the stream."""
    return f"b{number}"


def _takeover(seed: int, number: int) -> Play:
    who, device, new = (account(seed, purpose, number) for purpose in (981, 982, 983))
    steps = (PASSED, PASSWORD, PAID)
    made = [_made(index, what, who, device, *_paid(what, new, 950_00)) for index, what in enumerate(steps)]
    known = {
        "accountId": account_id(who),
        "deviceId": device_id(device),
        "beneficiaryId": beneficiary_id(new),
    }
    return _played(made, TAKEOVER_SECONDS, **known)


def _guesses(seed: int, number: int) -> Play:
    device, tried = account(seed, 984, number), accounts(seed, 985, number, GUESSES_COUNT)
    made = [_made(index, FAILED, who, device) for index, who in enumerate(tried)]
    return _played(made, GUESSES_SECONDS, deviceId=device_id(device))


def _password(seed: int, number: int) -> Play:
    who, device, last = account(seed, 986, number), account(seed, 987, number), PASSWORD_COUNT - 1
    made = [_made(i, PASSED if i == last else FAILED, who, device) for i in range(PASSWORD_COUNT)]
    return _played(made, PASSWORD_SECONDS, accountId=account_id(who), deviceId=device_id(device))


def _mule(seed: int, number: int) -> Play:
    mule, payers = account(seed, 988, number), accounts(seed, 989, number, MULE_COUNT)
    amounts = cents(seed, number, MULE_COUNT, 740_00, 800_00)
    made = [
        _made(index, PAID, who, NOBODY, mule, amount)
        for index, (who, amount) in enumerate(zip(payers, amounts, strict=True))
    ]
    return _played(made, MULE_SECONDS, beneficiaryId=beneficiary_id(mule))


def _paid(what: int, beneficiary: int, amount: int) -> tuple[int, int]:
    return (beneficiary, amount) if what == PAID else (NOBODY, 0)


def _made(
    index: int, what: int, who: int, device: int, beneficiary: int = NOBODY, amount: int = 0
) -> Activity:
    return Activity(
        number=index,
        age_ms=0,
        kind=Kind.PLAIN,
        what=what,
        account=who,
        device=device,
        beneficiary=beneficiary,
        cents=amount,
    )


def _played(made: Sequence[Activity], seconds: int, **known: str) -> Play:
    """One moment per activity, evenly over `seconds`; `known` are those of the cast who are one."""
    moments = zip(evenly(seconds, len(made)), made, strict=True)
    return Play(
        {name: known.get(name) for name in CAST}, tuple(Moment(after, changes) for after, changes in moments)
    )


TAKEOVER_COUNT, TAKEOVER_SECONDS = 3, 6
GUESSES_COUNT, GUESSES_SECONDS = 14, 10
PASSWORD_COUNT, PASSWORD_SECONDS = 14, 10
MULE_COUNT, MULE_SECONDS = 14, 10

FRAUDS: Final = (
    Fraud(
        "account-takeover", "A taken account", "Somebody logs in, changes the password, and pays somebody new.",
        TAKEOVER_COUNT, TAKEOVER_SECONDS, _takeover,
    ),
    Fraud(
        "shared-guesses", "One device, many accounts", "One device tries its luck at account after account.",
        GUESSES_COUNT, GUESSES_SECONDS, _guesses,
    ),
    Fraud(
        "guessed-password", "A guessed password", "Log-in after log-in fails at one account, until one passes.",
        PASSWORD_COUNT, PASSWORD_SECONDS, _password,
    ),
    Fraud(
        "mule", "A mule", "Account after account pays one beneficiary.", MULE_COUNT, MULE_SECONDS, _mule,
    ),
)  # fmt: skip
