"""Reading what a definition is looked at beside: rules that are alike, lists and parameters as they stand."""

from __future__ import annotations

from collections.abc import Collection
from decimal import Decimal

from psycopg.types.json import Jsonb

from rules_registry.adapters import other_rules_statements
from rules_registry.adapters.named.named_queries import NamedQueries
from rules_registry.adapters.postgres import Pool, translated
from rules_registry.adapters.rows import alike_of
from rules_registry.domain.named_value import NamedValue
from rules_registry.domain.rule import NO_RULE, Rule
from rules_registry.errors import NameNotFound
from tripline_contracts.filters.named_values import Kind
from tripline_contracts.rules.rule_definition import RuleDefinition


class AdviceQueries:
    """Reads of one statement each."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._named = NamedQueries(pool)

    def alike(self, definition: RuleDefinition, without: int | None) -> list[Rule]:
        """Active rules that differ from the definition in limit and window at most, rule `without` left aside."""
        alike = {
            name: value
            for name, value in definition.to_json().items()
            if name not in ("limit", "windowSeconds")
        }
        values = {
            "alike": Jsonb(alike),
            "definition_hash": definition.hash,
            "without": NO_RULE if without is None else without,
        }
        with translated(), self._pool.connection() as connection:
            rows = connection.execute(other_rules_statements.ALIKE, values).fetchall()
        return [alike_of(row, definition) for row in rows if row["is_alike"]]

    def named_alike(self, name: str, without: int | None) -> int | None:
        """The living rule with that name, in any case."""
        values = {"name": name, "without": NO_RULE if without is None else without}
        with translated(), self._pool.connection() as connection:
            row = connection.execute(other_rules_statements.NAMED_ALIKE, values).fetchone()
        return None if row is None else int(row["rule_id"])

    def values_of(self, name: str) -> Collection[str] | None:
        """The values of a list; None where there is none of that name."""
        value = self._value("list", name)
        return value if isinstance(value, tuple) else None

    def number_of(self, name: str) -> Decimal | None:
        """The value of a parameter; None where there is none of that name."""
        value = self._value("parameter", name)
        return value if isinstance(value, Decimal) else None

    def _value(self, kind: Kind, name: str) -> NamedValue | None:
        try:
            return self._named.named(kind, name).value
        except NameNotFound:
            return None
