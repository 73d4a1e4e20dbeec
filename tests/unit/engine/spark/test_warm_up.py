"""A warm-up leaves nothing to be compiled in the middle of a micro-batch."""

from __future__ import annotations

import subprocess
import sys

import pytest

# In a process of its own: in this one other tests have compiled what they use. A kernel that others call is compiled
# with them, and says nothing of itself where those come from numba's cache.
SCRIPT = """
import importlib, pkgutil
from numba.core.dispatcher import Dispatcher
import tripline_engine.domain as domain
from tripline_engine.spark.warm_up import warm_up

warm_up()
kernels = set()
for module in pkgutil.iter_modules(domain.__path__):
    found = vars(importlib.import_module(f"{domain.__name__}.{module.name}"))
    kernels |= {(kernel, name) for name, kernel in found.items() if isinstance(kernel, Dispatcher)}
called = {name for kernel, _ in kernels for name in kernel.py_func.__code__.co_names}
for kernel, name in kernels:
    if name not in called and not kernel.signatures:
        print(f"{kernel.py_func.__module__.rpartition('.')[2]}.{name}")
"""


@pytest.mark.timeout(300)
def test_every_kernel_is_compiled() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
