"""Assertions of the support modules show the values that they compare."""

import pytest

pytest.register_assert_rewrite("tests.unit.oracle.support.agreement")
