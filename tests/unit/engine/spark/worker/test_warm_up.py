"""A warm-up leaves nothing to be compiled in the middle of a micro-batch."""

from __future__ import annotations

import subprocess
import sys

import pytest

# In processes of their own: in this one other tests have compiled what they use. A kernel that others call is compiled
# with them, and says nothing of itself where those come from numba's cache.
EVERY_KERNEL = """
import importlib, pkgutil
from numba.core.dispatcher import Dispatcher
import tripline_engine.domain as domain
from tripline_engine.spark.worker.warm_up import warm_up

warm_up()
kernels = set()
for module in pkgutil.walk_packages(domain.__path__, f"{domain.__name__}."):
    names = vars(importlib.import_module(module.name))
    kernels |= {(kernel, name) for name, kernel in names.items() if isinstance(kernel, Dispatcher)}
if len(kernels) < 50:
    print(f"only {len(kernels)} kernels were looked at")
called = {name for kernel, _ in kernels for name in kernel.py_func.__code__.co_names}
for kernel, name in kernels:
    if name not in called and not kernel.signatures:
        print(f"{kernel.py_func.__module__.rpartition('.')[2]}.{name}")
"""

# What numba finds in its cache on the disk counts as well: elsewhere it would be compiled.
EVERY_KIND_OF_ARRAY = """
import logging
from numba.core.dispatcher import Dispatcher
from tests.unit.engine.spark.support.histories import play
from tripline_engine.spark.worker.warm_up import warm_up

logging.disable()
warm_up()
compile_one = Dispatcher.compile

def told(kernel, signature):
    print(f"{kernel.py_func.__module__}.{kernel.py_func.__name__} {signature}")
    return compile_one(kernel, signature)

Dispatcher.compile = told
play(40)
"""


@pytest.mark.timeout(300)
@pytest.mark.parametrize("script", [EVERY_KERNEL, EVERY_KIND_OF_ARRAY])
def test_nothing_is_left(script: str) -> None:
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == []
