"""Kernels: functions over arrays, compiled by numba without its reference counting (NRT).

Compiled code counts references to each array, as Python does, wherever one is named or passed on. In a loop over rows
that is most of the work, as the counts are shared between threads. A kernel counts none: its caller holds the arrays
meanwhile, and it may neither allocate one (its caller passes scratch arrays) nor return one.
"""

from __future__ import annotations

from functools import partial
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt
from numba import njit

_Scalar = TypeVar("_Scalar", bound=np.generic)

kernel: Final = partial(njit, cache=True, _nrt=False)
"""The decorator of kernels; takes numba's other options."""


def read_only(array: npt.NDArray[_Scalar]) -> npt.NDArray[_Scalar]:
    """A read-only view of the array.

    A kernel is compiled once for writable arrays and once for read-only ones. Arrow hands out either, depending on
    whether a buffer was allocated here, concatenated, or read from a message.
    """
    view = array.view()
    view.flags.writeable = False
    return view
