"""Reading what a condition measures beyond what a rule does: an excerpt of its window, and the measure of a limit."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, cast

from tripline_contracts import spelling
from tripline_contracts.rules.aggregate import OF_ORDER, Function
from tripline_contracts.rules.conditions import Condition
from tripline_contracts.rules.definition_parser import MAX_WINDOW_SECONDS, DefinitionReading
from tripline_contracts.rules.relative_limits import Baseline, Excerpt

MAX_MINIMUM_COUNT: Final = 1_000_000_000


class MeasureReading(DefinitionReading):
    """The members of one condition, or of the measure behind its limit, being read."""

    def condition(self) -> Condition | None:
        """The condition with what it takes of its window; None if there is a problem."""
        read = super().condition()
        excerpt = self._excerpt(read.window_seconds if read else 0)
        self._refuse_excerpt(read.function if read else "", excerpt)
        return None if read is None or self.problems else replace(read, excerpt=excerpt)

    def baseline(self) -> Baseline | None:
        """What a relative limit measures; None if there is a problem."""
        grouping = self.grouping()
        function, field = self.aggregate()
        window_seconds, passing = self.window_seconds(), self.filter()
        excerpt = self._excerpt(window_seconds or 0)
        self._refuse_excerpt(function, excerpt)
        if self.problems:
            return None
        assert window_seconds is not None  # else there would have been a problem
        return Baseline(grouping, cast("Function", function), field, window_seconds, passing, excerpt)

    def _excerpt(self, window_seconds: int) -> Excerpt:
        """What is taken of the window; beside an offset the transaction at hand is out of it in any case."""
        offset = self._whole("offsetSeconds", MAX_WINDOW_SECONDS, "400 days")
        least = self._whole("minimumCount", MAX_MINIMUM_COUNT, "contributors")
        current = self._values.get("includeCurrent")
        if current is not None and not isinstance(current, bool):
            self._add("includeCurrent", f"expected true or false, not {spelling.shown(current)}")
        reach = offset + window_seconds
        if offset and reach > MAX_WINDOW_SECONDS:
            most = f"expected at most {MAX_WINDOW_SECONDS} s (400 days) with the window"
            self._add("offsetSeconds", f"{most}, not {reach} s")
        return Excerpt(offset, current is not False or offset > 0, least)

    def _refuse_excerpt(self, function: str, excerpt: Excerpt) -> None:
        """What looks from the transaction at hand to the one before has both in its window."""
        if function in OF_ORDER and not excerpt.takes_all:
            name = "offsetSeconds" if excerpt.offset_seconds else "includeCurrent"
            self._refuse_beside(name, name, {function: True})

    def _whole(self, name: str, maximum: int, of_what: str) -> int:
        """A number that is 0 where nothing is said."""
        value = self._values.get(name)
        number = 0 if value is None else spelling.whole_number(value)
        if number is None or not 0 <= number <= maximum:
            expected = f"expected a whole number from 0 to {maximum} ({of_what})"
            self._add(name, f"{expected}, not {spelling.shown(value)}")
            return 0
        return number
