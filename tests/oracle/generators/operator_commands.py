"""Random commands of operators: of rules that are there mostly, of payments that were sent mostly."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from tests.oracle.builders.drafts import Draft
from tests.oracle.builders.registry import Registry, Rule
from tests.oracle.generators.payments import Payment
from tests.oracle.generators.world import World
from tests.oracle.parsers.operator_commands import (
    CLEAR_GROUP,
    CLEAR_RULE,
    END_BACKFILL,
    START_BACKFILL,
    VOID_TRANSACTION,
)
from tests.oracle.parsers.rule_events import Settings
from tests.oracle.values.decimals import plain
from tests.oracle.values.model import Json
from tests.oracle.values.schema import AMOUNT

_NEVER_PUBLISHED = 10**6


class RandomCommands:
    """Draws one after another. `backfills` are all ids so far, `standing` those not ended."""

    def __init__(self, rng: Random, world: World, registry: Registry) -> None:
        self.backfills: list[str] = []
        self.standing: list[str] = []
        self._rng = rng
        self._world = world
        self._registry = registry

    def draw(self, sent: Sequence[Payment], now: int, settings: Settings) -> list[bytes]:
        """A command of any kind, or several voids; `sent` are the payments so far, `now` in ms."""
        kinds = (CLEAR_RULE, CLEAR_GROUP, VOID_TRANSACTION, START_BACKFILL, END_BACKFILL)
        (kind,) = self._rng.choices(kinds, [4, 6, 10, 1 if self.standing else 3, 3])
        if kind == START_BACKFILL:
            return [self.start_backfill(now)]
        if kind == END_BACKFILL:
            return [self._end(sent, now)]
        if kind == VOID_TRANSACTION:
            return self._voids(sent, now, settings)
        rule = self._rule(grouped=kind == CLEAR_GROUP)
        if rule is None:
            rule_id = self._rng.choice([*self._registry.rules, _NEVER_PUBLISHED])
            return [self._registry.clear_rule(rule_id, now)]
        if kind == CLEAR_RULE:
            return [self._registry.clear_rule(rule.rule_id, now)]
        return [self._registry.clear_group(rule.rule_id, self._group(rule.draft, sent), now)]

    def start_backfill(self, now: int) -> bytes:
        """The command that opens another backfill."""
        raw, name = self._registry.start_backfill(now)
        self.backfills.append(name)
        self.standing.append(name)
        return raw

    def _end(self, sent: Sequence[Payment], now: int) -> bytes:
        """One that stands if there is any, else one that is over or never was."""
        name = self._rng.choice(self.standing or [*self.backfills, "?"])
        if name in self.standing:
            self.standing.remove(name)
        if self._rng.random() < 0.25:
            return self._registry.end_backfill(name, None, now)
        windows = [1000 * rule.draft.window for rule in self._registry.alive()] or [0]
        times = [min((payment.event_time for payment in sent), default=now), now]
        since = self._rng.choice(times) - self._rng.choice([0, *windows])
        return self._registry.end_backfill(name, max(0, since), now)

    def _voids(self, sent: Sequence[Payment], now: int, settings: Settings) -> list[bytes]:
        """Mostly of the last that were sent, or merged into a bucket; sometimes of another id or time."""
        rng = self._rng
        if not sent or rng.random() < 0.06:
            return [self._registry.void("t-unknown", now, now)]
        merged = self._merged(sent, now - settings.allowed_lateness - settings.max_disorder)
        if merged and rng.random() < 0.75:
            near = merged[-12:]
            chosen = rng.sample(near, min(len(near), rng.randint(1, 5)))
        else:
            chosen = [rng.choice(sent[-rng.choice([3, 15, 60, 1000]) :])]
        more = 1 if rng.random() < 0.04 else 0
        return [
            self._registry.void(payment.transaction_id, max(0, payment.event_time) + more, now)
            for payment in chosen
        ]

    def _merged(self, sent: Sequence[Payment], settled: int) -> list[Payment]:
        """Payments in some window that are merged into their bucket."""
        drafts = [rule.draft for rule in self._registry.alive() if rule.draft.bucket is not None]
        lengths = [(1000 * draft.bucket, 1000 * draft.window) for draft in drafts if draft.bucket is not None]
        return [
            payment
            for payment in sent
            if any(settled - window < payment.event_time <= settled - length for length, window in lengths)
        ]

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
        groups = [group for payment in sent[-8:] if None not in (group := _values(draft, payment)).values()]
        if groups:
            return {**self._rng.choice(groups)}
        return dict.fromkeys(draft.grouping, "25")


def _values(draft: Draft, payment: Payment) -> dict[str, str | None]:
    values = {
        "payeeId": payment.payee,
        "beneficiaryId": payment.beneficiary,
        "paymentType": payment.payment_type,
        AMOUNT: plain(payment.amount),
        # of the entries mostly one; the one that pays is as good as the other
        "account": payment.payee or payment.beneficiary,
    }
    return {name: values[name] for name in draft.grouping}
