"""The engine's four settings: how late, how early, how disordered records may be, and how long a partition
rests.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """Whole seconds each; these are the defaults that hold before any change."""

    allowed_lateness_seconds: int = 600
    max_future_skew_seconds: int = 300
    max_disorder_seconds: int = 300
    idle_partition_seconds: int = 30


@dataclass(frozen=True, slots=True)
class SettingsState:
    """The settings as they stand; version 0 before any change."""

    version: int = 0
    settings: EngineSettings = EngineSettings()
