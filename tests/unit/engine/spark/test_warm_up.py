"""A warm-up leaves nothing to be compiled in the middle of a micro-batch."""

from __future__ import annotations

import subprocess
import sys

import pytest

# In a process of its own: in this one other tests have compiled what they use.
SCRIPT = """
import importlib, pkgutil
from numba.core.dispatcher import Dispatcher
import tripline_engine.domain as domain
from tripline_engine.spark.warm_up import warm_up

warm_up()
for module in pkgutil.iter_modules(domain.__path__):
    for name, kernel in vars(importlib.import_module(f"{domain.__name__}.{module.name}")).items():
        if isinstance(kernel, Dispatcher) and not kernel.signatures:
            print(f"{module.name}.{name}")
"""


@pytest.mark.timeout(300)
def test_every_kernel_is_compiled() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
