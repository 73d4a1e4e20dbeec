"""The rules of docs/event-types.md as they are printed there, and activities by which they are judged.

Times are in ms from the beginning of a history on.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[4]
MINUTE, DAY = 60_000, 86_400_000


def printed() -> dict[str, dict[str, Any]]:
    """The rules of the document, by their names."""
    text = (ROOT / "docs" / "event-types.md").read_text(encoding="utf-8")
    rules = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", text, re.DOTALL)]
    return {rule["name"]: rule for rule in rules}


RULES = printed()
TAKEOVER = "A password change, then a payment to somebody never paid before, within an hour"
SOON = "A payment to somebody never paid before, within a minute of a log-in"
MUCH = "Three times the usual within an hour of a password change"


def log_in(account: str, after: float, result: str = "PASSED") -> dict[str, Any]:
    return {"accountId": account, "happenedAt": after, "kind": "LOG_IN", "logInResult": result, "amount": "0"}


def change(account: str, after: float, part: str = "PASSWORD") -> dict[str, Any]:
    return {
        "accountId": account,
        "happenedAt": after,
        "kind": "PROFILE_CHANGE",
        "profilePart": part,
        "amount": "0",
    }


def pays(account: str, after: float, to: str, amount: str = "10") -> dict[str, Any]:
    return {
        "accountId": account,
        "happenedAt": after,
        "kind": "PAYMENT",
        "beneficiaryId": to,
        "amount": amount,
    }


TAKEN_OVER = [
    pays("ann", 0, "rent"),
    pays("bob", 0, "shop"),
    log_in("ann", DAY),
    change("ann", DAY + MINUTE),
    pays("ann", DAY + 2 * MINUTE, "rent"),  # 4: paid before
    pays("ann", DAY + 3 * MINUTE, "shop", "700"),  # 5: never, by her
    pays("ann", DAY + 4 * MINUTE, "shop", "700"),  # 6: a minute ago
    pays("bob", DAY + 5 * MINUTE, "mule"),  # 7: never, but it was not his password
    change("bob", DAY + 6 * MINUTE, "PHONE"),
    pays("bob", DAY + 7 * MINUTE, "mule two"),  # 9: and this was no password
    pays("ann", DAY + 61 * MINUTE, "late one"),  # 10: an hour to the millisecond
    pays("ann", DAY + 61 * MINUTE + 1, "later one"),  # 11: and past it
]
"""Numbers 5 and 10 trip the first rule."""
