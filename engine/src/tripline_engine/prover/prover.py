"""The prover: answers one question at a time over the journals of a deployment."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Final

import structlog

from tripline_engine.domain.proof.claim import Claim
from tripline_engine.prover.budget import Budget
from tripline_engine.prover.derivation import Derivation, derive
from tripline_engine.prover.errors import Busy
from tripline_engine.prover.judgement import Asked, judgement_of
from tripline_engine.prover.settings import ProverSettings
from tripline_engine.prover.verification import verify
from tripline_engine.prover.window_page import PageAsked, page_of
from tripline_engine.rebuild.journals import Journals

_log = structlog.get_logger(__name__)
_WAIT_SECONDS: Final = 5.0
"""A question waits so long for the one before it."""

_KEPT: Final = 4
"""Derivations kept for who pages through their windows."""

Open = Callable[[], AbstractContextManager[Journals]]


class Prover:
    """Safe to be asked from several threads: they take turns."""

    def __init__(self, settings: ProverSettings, open_journals: Open) -> None:
        self._judged, self._open = settings.judged, open_journals
        self._transactions, self._seconds = settings.transactions, settings.seconds
        self._turn = threading.Lock()
        self._derived: OrderedDict[Claim, Derivation] = OrderedDict()

    def verification(self, alert: Mapping[str, Any]) -> dict[str, Any]:
        """Derives the alert again and compares. Raises EngineError, UnreadableClaim."""
        with self._alone("verification") as (journals, budget):
            verification = verify(alert, journals, self._judged, budget)
            self._keep(Claim.of(alert, self._judged.event_type), verification.derivation)
            return verification.to_json()

    def window(self, alert: Mapping[str, Any], asked: PageAsked) -> dict[str, Any]:
        """A page of the contributors of one condition, or of its limit. Raises EngineError, UnreadableClaim."""
        claim = Claim.of(alert, self._judged.event_type)
        with self._turns():
            derivation = self._derived.get(claim)
        if derivation is None:
            with self._alone("window") as (journals, budget):
                derivation = derive(claim, journals, self._judged, budget)
                self._keep(claim, derivation)
        return page_of(derivation, asked, self._judged.event_type)

    def judgement(self, asked: Asked) -> dict[str, Any]:
        """What each rule made of a transaction. Raises EngineError."""
        with self._alone("judgement") as (journals, budget):
            return judgement_of(asked, journals, self._judged, budget)

    def _keep(self, claim: Claim, derivation: Derivation) -> None:
        if derivation.alert is not None:
            self._derived[claim] = derivation
            self._derived.move_to_end(claim)
            while len(self._derived) > _KEPT:
                self._derived.popitem(last=False)

    @contextmanager
    def _alone(self, question: str) -> Iterator[tuple[Journals, Budget]]:
        with self._turns(), self._open() as journals:
            budget = Budget(time.monotonic, self._transactions, self._seconds)
            yield journals, budget
            _log.info(
                "proved",
                question=question,
                seconds=budget.seconds,
                read=budget.read,
                selected=budget.selected,
            )

    @contextmanager
    def _turns(self) -> Iterator[None]:
        if not self._turn.acquire(timeout=_WAIT_SECONDS):
            raise Busy(f"another proof has been under way for {_WAIT_SECONDS:g} s: ask again")
        try:
            yield
        finally:
            self._turn.release()
