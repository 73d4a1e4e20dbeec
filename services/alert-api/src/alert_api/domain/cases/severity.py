"""How bad it is what a rule is after: said of the rule by people, in the registry."""

from __future__ import annotations

from typing import Literal, get_args

Severity = Literal["critical", "high", "medium", "low", "info"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
"""The worst first."""
