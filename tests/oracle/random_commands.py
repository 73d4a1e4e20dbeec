"""Random commands of operators: of rules that are there mostly, of payments that were sent mostly."""

from __future__ import annotations

import json
from collections.abc import Sequence
from random import Random

from tests.oracle.commands import CLEAR_GROUP, CLEAR_RULE, END_BACKFILL, START_BACKFILL, VOID_TRANSACTION
from tests.oracle.decimals import plain
from tests.oracle.drafts import Draft
from tests.oracle.model import Json
from tests.oracle.payments import Payment
from tests.oracle.random_world import World
from tests.oracle.registry import Registry, Rule
from tests.oracle.schema import AMOUNT

_NEVER_PUBLISHED = 10**6


class RandomCommands:
    """Draws one after another. `backfills` are all ids so far, `standing` those not ended."""

    def __init__(self, rng: Random, world: World, registry: Registry) -> None:
        self.backfills: list[str] = []
        self.standing: list[str] = []
        self._rng = rng
        self._world = world
        self._registry = registry

    def draw(self, sent: Sequence[Payment], now: int) -> bytes:
        """Of any kind; `sent` are the payments so far, now in ms."""
        kinds = (CLEAR_RULE, CLEAR_GROUP, VOID_TRANSACTION, START_BACKFILL, END_BACKFILL)
        (kind,) = self._rng.choices(kinds, [4, 4, 8, 1 if self.standing else 3, 3])
        if kind == START_BACKFILL:
            return self.start_backfill(now)
        if kind == END_BACKFILL:
            return self._registry.control(END_BACKFILL, now, self._end(sent, now))
        if kind == VOID_TRANSACTION:
            return self._registry.control(VOID_TRANSACTION, now, self._void(sent, now))
        rule = self._rule(grouped=kind == CLEAR_GROUP)
        if rule is None:
            rule_id = self._rng.choice([*self._registry.rules, _NEVER_PUBLISHED])
            return self._registry.control(CLEAR_RULE, now, {"ruleId": rule_id})
        more: dict[str, Json] = {"ruleId": rule.rule_id}
        if kind == CLEAR_GROUP:
            more["group"] = self._group(rule.draft, sent)
        return self._registry.control(kind, now, more)

    def start_backfill(self, now: int) -> bytes:
        """Another one begins."""
        raw = self._registry.control(START_BACKFILL, now)
        self.backfills.append(json.loads(raw)["commandId"])
        self.standing.append(self.backfills[-1])
        return raw

    def _end(self, sent: Sequence[Payment], now: int) -> dict[str, Json]:
        """One that stands if there is any, else one that is over or never was."""
        name = self._rng.choice(self.standing or [*self.backfills, "?"])
        if name in self.standing:
            self.standing.remove(name)
        if self._rng.random() < 0.25:
            return {"backfillId": name}
        windows = [1000 * rule.draft.window for rule in self._registry.alive()] or [0]
        times = [min((payment.event_time for payment in sent), default=now), now]
        since = self._rng.choice(times) - self._rng.choice([0, *windows])
        return {"backfillId": name, "completeFrom": max(0, since)}

    def _void(self, sent: Sequence[Payment], now: int) -> dict[str, Json]:
        """Mostly one of the last that were sent, sometimes one of long ago, or of another id or time."""
        if not sent or self._rng.random() < 0.08:
            return {"transactionId": "t-unknown", "eventTime": now}
        payment = self._rng.choice(sent[-self._rng.choice([3, 15, 60, 1000]) :])
        time = payment.event_time + (1 if self._rng.random() < 0.05 else 0)
        return {"transactionId": payment.transaction_id, "eventTime": max(0, time)}

    def _rule(self, *, grouped: bool) -> Rule | None:
        """One that lives, of which groups can be cleared if it is for that; rarely none."""
        alive = [rule for rule in self._registry.alive() if not grouped or self._has_groups_of_its_own(rule)]
        return self._rng.choice(alive) if alive and self._rng.random() < 0.93 else None

    def _has_groups_of_its_own(self, rule: Rule) -> bool:
        """Nor had a version of before, grouped in the same way, windows or buckets that groups share."""
        return not any(
            (draft.chain is not None or draft.bucket is not None) and draft.grouping == rule.draft.grouping
            for draft in self._registry.drafts[rule.rule_id]
        )

    def _group(self, draft: Draft, sent: Sequence[Payment]) -> dict[str, Json]:
        """That of one of the last payments, if they have such a group."""
        groups = [group for payment in sent[-20:] if None not in (group := _values(draft, payment)).values()]
        if groups:
            return {**self._rng.choice(groups)}
        return dict.fromkeys(draft.grouping, "25")


def _values(draft: Draft, payment: Payment) -> dict[str, str | None]:
    values = {
        "payeeId": payment.payee,
        "beneficiaryId": payment.beneficiary,
        "paymentType": payment.payment_type,
        AMOUNT: plain(payment.amount),
    }
    return {name: values[name] for name in draft.grouping}


def wrong_commands(registry: Registry, now: int) -> list[dict[str, Json]]:
    """Commands that cannot be read, each wrong in one way."""
    rule: dict[str, Json] = {"ruleId": 1}
    void: dict[str, Json] = {"transactionId": "t-1", "eventTime": now}
    wrong: list[tuple[str, dict[str, Json]]] = [
        (CLEAR_RULE, {}),
        (CLEAR_RULE, {"ruleId": None}),
        (CLEAR_RULE, {"ruleId": "1"}),
        (CLEAR_RULE, {**rule, "commandId": None}),
        (CLEAR_GROUP, rule),
        (CLEAR_GROUP, {**rule, "group": None}),
        (CLEAR_GROUP, {**rule, "group": []}),
        (CLEAR_GROUP, {**rule, "group": {"payeeId": None}}),
        (CLEAR_GROUP, {"group": {"payeeId": "25"}}),
        (VOID_TRANSACTION, {"eventTime": now}),
        (VOID_TRANSACTION, {"transactionId": "t-1"}),
        (VOID_TRANSACTION, {**void, "transactionId": None}),
        (VOID_TRANSACTION, {**void, "eventTime": str(now)}),
        (VOID_TRANSACTION, {**void, "eventTime": True}),
        (START_BACKFILL, {"commandId": 7}),
        (END_BACKFILL, {}),
        (END_BACKFILL, {"backfillId": 7}),
        (END_BACKFILL, {"backfillId": "b", "completeFrom": "1"}),
        (END_BACKFILL, {"backfillId": "b", "completeFrom": True}),
    ]
    return [json.loads(registry.control(command, now, more)) for command, more in wrong]
