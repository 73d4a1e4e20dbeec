"""The trade of activities."""

from __future__ import annotations

from typing import Final

from tripline_contracts import event_type_loader
from tripline_demo.generator.activities.frauds import CAST, FRAUDS, account_id, beneficiary_id, device_id
from tripline_demo.generator.activities.scenarios import NOBODY, SCENARIOS
from tripline_demo.generator.activities.stream import ACCOUNTS, BENEFICIARIES, Activity, activities
from tripline_demo.generator.trade import Trade

_KINDS: Final = (
    ("LOG_IN", "FAILED", None),
    ("LOG_IN", "PASSED", None),
    ("PAYMENT", None, None),
    ("PROFILE_CHANGE", None, "ADDRESS"),
    ("PROFILE_CHANGE", None, "EMAIL"),
    ("PROFILE_CHANGE", None, "PASSWORD"),
    ("PROFILE_CHANGE", None, "PHONE"),
)
"""What happens as kind, result of a log-in and part of a profile."""


def json_value(made: Activity, identity: str, now: int) -> bytes:
    """The activity as JSON; `now` (ms) is its record time, from which its age counts back."""
    whole, cents = divmod(made.cents, 100)
    kind, result, part = _KINDS[made.what]
    device = made.device
    return (
        f'{{"activityId":"{identity}","happenedAt":{now - made.age_ms},"accountId":"{account_id(made.account)}",'
        f'"kind":"{kind}","logInResult":{_text(result)},"profilePart":{_text(part)},'
        f'"beneficiaryId":{_text(beneficiary_id(made.beneficiary) if made.beneficiary != NOBODY else None)},'
        f'"deviceId":{_text(device_id(device) if device != NOBODY else None)},'
        f'"ipAddress":{_text(_address(device) if device != NOBODY else None)},'
        f'"amount":"{whole}.{cents:02d}","ingestionTimestamp":{now}}}'
    ).encode()


def _text(value: str | None) -> str:
    return "null" if value is None else f'"{value}"'


def _address(device: int) -> str:
    """Where the device is, in the network that is for benchmarks (RFC 2544)."""
    return f"198.18.{device // 256 % 256}.{device % 256}"


def _key(made: Activity) -> bytes:
    return account_id(made.account).encode()


ACTIVITIES: Final = Trade(
    event_type_loader.load("activity"),
    populations={"accounts": ACCOUNTS, "beneficiaries": BENEFICIARIES},
    scenarios=SCENARIOS,
    make=activities,
    json_value=json_value,
    key=_key,
    cast=CAST,
    frauds=FRAUDS,
)
