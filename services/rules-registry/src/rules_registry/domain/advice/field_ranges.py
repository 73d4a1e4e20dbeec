"""What a filter leaves of each field: the values with which a transaction can still pass."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from decimal import Decimal

from rules_registry.domain.advice.spans import EVERYTHING, Span, opposite
from tripline_contracts.event_type import Field
from tripline_contracts.spelling import Operator


@dataclass(frozen=True, slots=True)
class FieldRange:
    """The values that a field may still have.

    :ivar null: whether it may be null
    :ivar span: of a number or a time, the numbers
    :ivar among: the only texts that are left, None for all but `without`; of a number the only ones too
    :ivar without: those that are not
    """

    null: bool
    span: Span = EVERYTHING
    among: frozenset[str | Decimal] | None = None
    without: frozenset[str | Decimal] = frozenset()

    @staticmethod
    def of(field: Field) -> FieldRange:
        """All that the field can be."""
        return FieldRange(
            null=not field.required, among=frozenset(field.values) if field.kind == "enum" else None
        )

    @property
    def is_empty(self) -> bool:
        """True if no value is left, null neither."""
        return not self.null and self.has_no_value

    @property
    def has_no_value(self) -> bool:
        """True if nothing but null is left."""
        if self.span.is_empty:
            return True
        if self.among is not None:
            return not any(self._may_be(value) for value in self.among)
        low, high = self.span.low, self.span.high
        return low is not None and low == high and low in self.without

    def count(self) -> int | None:
        """How many different values are left; None for any number."""
        if self.among is None:
            return None
        return sum(self._may_be(value) for value in self.among)

    def not_null(self) -> FieldRange:
        """Without null."""
        return replace(self, null=False)

    def only_null(self) -> FieldRange:
        """Without any value; empty where it may not be null."""
        return replace(self, among=frozenset())

    def compared(self, operator: Operator, constant: str | Decimal, *, negated: bool) -> FieldRange:
        """What stands so to the constant, or, negated, does not: null is among that."""
        if negated and self.null:
            # null passes a negated comparison, and then the others need not; what is left is not told apart
            return self
        operator = opposite(operator) if negated else operator
        if operator == "!=":
            return replace(self.not_null(), without=self.without | {constant})
        if isinstance(constant, Decimal):
            return replace(self.not_null(), span=self.span.compared(operator, constant))
        return self.one_of((constant,), negated=False)

    def one_of(self, constants: Collection[str | Decimal], *, negated: bool) -> FieldRange:
        """What is among the constants, or, negated, is not: null is not."""
        if negated:
            return self if self.null else replace(self, without=self.without | frozenset(constants))
        chosen = frozenset(constants)
        among = chosen if self.among is None else self.among & chosen
        return replace(self.not_null(), among=among)

    def numbers(self) -> Span | None:
        """The least span of the numbers that are left; None where there are none."""
        if self.among is None:
            return None if self.span.is_empty else self.span
        left = [value for value in self.among if isinstance(value, Decimal) and self._may_be(value)]
        return Span(min(left), max(left)) if left else None

    def _may_be(self, value: str | Decimal) -> bool:
        if value in self.without:
            return False
        return not isinstance(value, Decimal) or not self.span.never("=", value)
