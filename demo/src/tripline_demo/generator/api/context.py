"""The context of the views: sender, traffic, plays and replays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from flask import Flask, current_app

from tripline_demo.generator.output.outlet import Desk
from tripline_demo.generator.output.sender import Sender
from tripline_demo.generator.plays import Plays
from tripline_demo.generator.recordings.replays import Replays
from tripline_demo.generator.trade import Trade

_EXTENSION = "tripline_generator"


@dataclass(frozen=True, slots=True)
class Context:
    """The parts of a running generator."""

    trade: Trade
    sender: Sender
    desk: Desk
    replays: Replays
    plays: Plays
    wall: Callable[[], int]
    new_id: Callable[[], str]


def install_context(app: Flask, context: Context) -> None:
    """Makes these the parts that the app's views use."""
    app.extensions[_EXTENSION] = context


def context_of_app() -> Context:
    """Of the app that serves this request."""
    return cast("Context", current_app.extensions[_EXTENSION])
