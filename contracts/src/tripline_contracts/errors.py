"""Every error that the contracts raise, named for what is wrong."""

# "InvalidDefinition" says it; "InvalidDefinitionError" says it twice

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


class ContractError(Exception):
    """Something does not keep a contract; the message says what and what was expected."""


class InvalidDecimal(ContractError, ValueError):
    """Not a decimal(24,6)."""


class NotCanonical(ContractError, ValueError):
    """A value without canonical JSON here: a float, an integer beyond 2**53 - 1, a lone surrogate."""


class DuplicateMember(ContractError, ValueError):
    """A JSON object names a member twice. Readers differ in which one counts, so neither does."""

    def __init__(self, member: str) -> None:
        super().__init__(f"the member {ascii(member)[:80]} is given twice; expected once")
        self.member = member


class InvalidJson(ContractError, ValueError):
    """Bytes that are not one JSON text in UTF-8."""


class InvalidEventType(ContractError, ValueError):
    """An event type file that contradicts itself."""


class UnknownEventType(ContractError, LookupError):
    """No event type of that name ships with this package."""


class UnknownField(ContractError, LookupError):
    """The event type declares no such field, neither by name nor by alias."""


class UnknownTopic(ContractError, LookupError):
    """No topic of that name is described."""


class InvalidKafkaSettings(ContractError, ValueError):
    """Settings of Kafka's clients that contradict each other or name what cannot be used; never has a password."""


class InvalidKafkaAccess(ContractError, ValueError):
    """The file of Kafka's identities lacks something or says it wrongly."""


class InvalidTopic(ContractError, ValueError):
    """A topic file that lacks something or says it wrongly."""


class UnknownSchema(ContractError, LookupError):
    """No JSON Schema of that name ships with this package."""


class SchemaViolation(ContractError, ValueError):
    """A value does not keep its JSON Schema; the message lists up to ten places."""


class InvalidConstant(ContractError, ValueError):
    """A constant that a field can't be compared with; the message says what was expected."""


class InvalidRecord(ContractError, ValueError):
    """One line of a rule file that cannot be read."""


class InvalidTime(ContractError, ValueError):
    """A time of a recording that cannot be read, or that may mean two things."""


class UnreadableFile(ContractError, ValueError):
    """A recording that cannot be read at all; one sentence says why, and what was expected."""


class CutOff(UnreadableFile):
    """A recording that ends before it should, or is damaged from here on."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a rule definition: the JSON field, and what was expected of it."""

    field: str
    message: str


class WithProblems(ContractError, ValueError):
    """An unusable value, with all of its problems."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: list[Problem] = list(problems)
        super().__init__("; ".join(f"{p.field}: {p.message}" for p in self.problems))


class InvalidDefinition(WithProblems):
    """A rule definition that cannot be used, with everything that is wrong with it."""


class InvalidMapping(WithProblems):
    """A mapping file that cannot be used, with everything that is wrong with it."""


class InvalidNamedValue(WithProblems):
    """A name that no list or parameter can have, or a value that it cannot."""


class UnreadableBatch(ContractError, ValueError):
    """A record batch that breaks Kafka's format, or that nothing here can unfold."""


class BrokerSilent(ContractError):
    """A broker does not answer, or not with what was asked for."""


class FetchRefused(ContractError):
    """A broker's error code instead of records."""

    def __init__(self, topic: str, partition: int, code: int) -> None:
        super().__init__(
            f"{topic} partition {partition}: the broker refuses to hand out records, error {code}"
        )
        self.code = code
