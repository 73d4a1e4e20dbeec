"""The registry's client on the command line, in this process, against a running registry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from click.testing import CliRunner, Result

from rules_registry.cli import main
from tests.registry import RegistryApi

RULES = """\
# One payer, one beneficiary.
name: {much}
groupingKeyNames: [payeeId, beneficiaryId]
aggregatorFunctionType: SUM
aggregateFieldName: paymentAmount
limitOperatorType: ">"
limit: 1000.5
windowMinutes: 20
---
name: {often}
groupingKeyNames: [payeeId]
aggregatorFunctionType: COUNT
limitOperatorType: ">="
limit: 30          # in a day
windowSeconds: 86400
filter: {{field: paymentType, operator: "=", value: CRD}}
"""


def rules(title: str) -> str:
    """Two rules whose names begin so."""
    return RULES.format(much=f"{title} much", often=f"{title} often")


@dataclass(frozen=True, slots=True)
class CommandLine:
    """Runs commands with a key."""

    api: RegistryApi
    key: str = "second-key-for-tests"

    def run(
        self, *words: str, says: str | None = None, environment: Mapping[str, str] | None = None
    ) -> Result:
        """`says` is what is typed."""
        variables = {"TRIPLINE_REGISTRY_URL": self.api.url, "TRIPLINE_REGISTRY_KEY": self.key}
        return CliRunner().invoke(main, words, input=says, env={**variables, **(environment or {})})

    def done(self, *words: str, says: str | None = None) -> str:
        """The output of a command that ends with 0."""
        result = self.run(*words, says=says)
        assert result.exit_code == 0, result.output
        return result.output
