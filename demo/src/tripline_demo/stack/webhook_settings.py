"""Webhooks of the stack: where they may go, where the one who starts it says so, and the key of their secrets."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Final

from tripline_demo.stack.places import Places
from tripline_demo.stack.program import Program

SAID: Final = ("TRIPLINE_WEBHOOK_HOSTS", "TRIPLINE_WEBHOOK_PRIVATE", "TRIPLINE_WEBHOOK_PLAIN")


def with_webhooks(program: Program, places: Places) -> Program:
    """The process, which takes webhooks in or sends to them."""
    said = {name: os.environ[name] for name in SAID if name in os.environ}
    key = {"TRIPLINE_WEBHOOK_KEY_FILE": str(places.webhook_key)}
    return replace(program, environment={**program.environment, **said, **key})
