"""Tripline engine: judges transactions by rules that change while it runs."""

from pathlib import Path

from tripline_engine.kernel_cache import use_own_cache

use_own_cache(Path(__file__).parent)
