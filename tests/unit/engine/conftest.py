"""What the engine's unit tests share."""

from __future__ import annotations

import pytest

from tripline_engine import logs


@pytest.fixture(autouse=True)
def _logs_stay_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command that is called in this process sets up logs for all of it, and every logger that is first used after it
    keeps them: tests that look at what is logged, of other packages too, would see nothing."""
    monkeypatch.setattr(logs, "configure", lambda _level: None)
