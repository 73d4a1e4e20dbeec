"""The fixture that the tests of a state log's segments share."""

from __future__ import annotations

import pytest

from tripline_engine.domain.state_log.segment_log import DEFAULT_TUNING, SegmentTuning


@pytest.fixture(
    params=[DEFAULT_TUNING.moved_rows, 200, 40], ids=["no pages", "pages of merged ones", "pages"]
)
def paging(request: pytest.FixtureRequest) -> SegmentTuning:
    """The rows that are written again when segments are compacted; of more there are pages."""
    return SegmentTuning(moved_rows=request.param)
