"""The session refuses what would let others at the engine."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from tripline_engine.errors import BadSettings
from tripline_engine.spark.query.session import refuse_strange_callers


def session(auth_token: str | None) -> Any:
    gateway = SimpleNamespace(callback_server_parameters=SimpleNamespace(auth_token=auth_token))
    return SimpleNamespace(sparkContext=SimpleNamespace(_gateway=gateway), stop=Mock())


def test_a_gateway_that_calls_back_with_its_secret_is_used() -> None:
    guarded = session("secret")
    refuse_strange_callers(guarded)
    guarded.stop.assert_not_called()


def test_a_gateway_that_lets_anybody_call_the_driver_is_refused() -> None:
    unguarded = session(None)
    with pytest.raises(BadSettings, match="PYSPARK_PIN_THREAD"):
        refuse_strange_callers(unguarded)
    unguarded.stop.assert_called_once()
