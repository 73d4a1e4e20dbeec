"""Reading the members of a rule definition, each in all its spellings, and noting what is wrong with them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from typing import Final, cast

from tripline_contracts import decimals, spelling
from tripline_contracts.errors import InvalidConstant, InvalidDecimal, Problem
from tripline_contracts.event_type import EventType
from tripline_contracts.filters import filter_parser, named_values
from tripline_contracts.filters.filter_parser import Filter
from tripline_contracts.filters.named_values import Parameter
from tripline_contracts.rules import grouping_keys, precision
from tripline_contracts.rules.aggregate import JUDGED_ONCE, NOT_IN_BUCKETS, Function, read_aggregate
from tripline_contracts.rules.conditions import Condition, relative_members
from tripline_contracts.rules.definition_members import EXCERPT, MEASURING, RULE_MEMBERS
from tripline_contracts.rules.party_checks import named_parties, party_problems
from tripline_contracts.rules.relative_limits import Baseline
from tripline_contracts.spelling import Operator

MAX_WINDOW_SECONDS: Final = 400 * 24 * 60 * 60
"""400 days; the least window is one second."""


_STATE: Final = ("ruleId", "ruleState", "controlType")
_ONLY_IN_CONDITIONS: Final = {name.casefold(): name for name in ("all", "any", "not", "weighted", *EXCERPT)}


class DefinitionReading:
    """One definition, or one condition, being read: its values under their proper names, and the problems so far."""

    def __init__(
        self, data: Mapping[str, object], event_type: EventType, members: tuple[str, ...] = RULE_MEMBERS
    ) -> None:
        self.problems: list[Problem] = []
        self._event_type = event_type
        self._values: dict[str, object] = {}
        is_rule = members is RULE_MEMBERS
        spellings = {name.casefold(): name for name in (*members, *(_STATE if is_rule else ()))}
        for key, value in data.items():
            name = spellings.get(key.casefold())
            if is_rule and key.casefold() in _ONLY_IN_CONDITIONS:
                proper = _ONLY_IN_CONDITIONS[key.casefold()]
                self._add(proper, "expected in conditions, which may be one alone, not beside them")
            elif name is None:
                self._add(spelling.shown(key)[1:-1], f"unknown field; expected only {', '.join(members)}")
            elif name in self._values:
                self._add(name, "given twice, in different cases; expected once")
            else:
                self._values[name] = value

    @property
    def chained(self) -> bool:
        """True where it has conditions in place of the members that measure."""
        return self._given("conditions")

    def refuse_what_only_says_state(self) -> None:
        """Only ACTIVE defines a rule; the other states and the controls are other commands."""
        state, control = self._values.get("ruleState"), self._values.get("controlType")
        if state is not None and spelling.keyword(state) != "ACTIVE":
            self._add("ruleState", f"expected ACTIVE in a definition, not {spelling.shown(state)}")
        if control is not None:
            self._add("controlType", f"expected null in a definition, not {spelling.shown(control)}")

    def refuse_what_contradicts_itself(self) -> None:
        """Combinations without a clear meaning (specification §2)."""
        late = self._word("lateEvents")
        function = self._word("aggregatorFunctionType").partition("(")[0].strip()
        resets = self._values.get("resetOnAlert") is True or self.counts_with_reset()
        unique = spelling.name_list(self._values.get("unique"))
        distinct = function == "COUNT_DISTINCT" or bool(unique)
        judged_once = dict.fromkeys({function} & {*JUDGED_ONCE}, True)
        bucketed = self._word("precision").startswith("BUCKETED")
        if late == "REEVALUATE":
            combined = {
                "resetOnAlert": resets,
                "crossing": self._word("firing") == "CROSSING",
                "cooldownSeconds": self._given("cooldownSeconds"),
                "bucketed": bucketed,
                "conditions": self.chained,
                **judged_once,
            }
            self._refuse_beside("lateEvents", "reevaluate", combined)
        if self.chained:
            self._refuse_beside("conditions", "a chain", {"resetOnAlert": resets})
        if resets:
            self._refuse_beside("resetOnAlert", "resetOnAlert", judged_once)
        if bucketed:
            self._refuse_in_buckets({"COUNT_DISTINCT": distinct, **judged_once, "resetOnAlert": resets})

    def condition(self) -> Condition | None:
        """The aggregate, its limit and its filter; None if there is a problem."""
        grouping = self.grouping()
        function, field = self.aggregate()
        operator, limit, window_seconds = self.operator(), self.limit(), self.window_seconds()
        passing = self.filter()
        if self.problems:
            return None
        # had one of them been missing, there would have been a problem
        assert operator is not None
        assert limit is not None
        assert window_seconds is not None
        return Condition(
            grouping, cast("Function", function), field, operator, limit, window_seconds, passing
        )

    def conditions(self) -> object:
        """The conditions as they were written, once none of the members that they replace is beside them."""
        for name in MEASURING:
            if self._given(name):
                self._add(name, "beside conditions: each of these has its own; expected one of the two")
        return self._values.get("conditions")

    def firing(self) -> str:
        """The firing policy: `every` by default."""
        return self._one_of("firing", ("every", "crossing"))

    def late_events(self) -> str:
        """The policy for late transactions: `evaluate` by default."""
        return self._one_of("lateEvents", ("evaluate", "reevaluate", "store"))

    def bucket_seconds(self) -> int | None:
        """The buckets of the rule's windows; None where they are exact, which is the default."""
        seconds, wrong = precision.read(self._values.get("precision"))
        if wrong is not None:
            self._add("precision", wrong)
        return seconds

    def refuse_unfit_buckets(self, bucket_seconds: int | None, measured: Collection[Condition]) -> None:
        """Buckets that don't fit into the windows of these conditions, or that one of them can't be counted in."""
        if bucket_seconds is None:
            return
        wrong = precision.misfit(bucket_seconds, {condition.window_seconds for condition in measured})
        if wrong is not None:
            self._add("precision", wrong)
        if self.chained:  # of any other rule it is said already
            functions = {condition.function for condition in measured}
            self._refuse_in_buckets({function: function in functions for function in NOT_IN_BUCKETS})
            self._refuse_in_buckets(dict.fromkeys(relative_members(measured), True))

    def refuse_unfit_parties(
        self, measures: Sequence[Condition | Baseline], beside: Filter | None, *, resets: bool = False
    ) -> None:
        """Groupings and filters that do not agree about parties, and what does not go with one."""
        field = "conditions" if self.chained else "groupingKeyNames"
        self.problems.extend(party_problems(measures, beside, self._event_type, field))
        if named_parties((measure.grouping_key_names for measure in measures), self._event_type):
            again = self._word("lateEvents") == "REEVALUATE" and not self.chained
            self._refuse_beside("lateEvents", "reevaluate", {"a party": again})
            self._refuse_beside("resetOnAlert", "resetOnAlert", {"a party": resets})

    def filter(self) -> Filter | None:
        """The filter; None where every transaction passes."""
        value = self._values.get("filter")
        if value is None:
            return None
        parsed, problems = filter_parser.read(value, self._event_type)
        self.problems.extend(problems)
        return parsed

    def grouping(self) -> tuple[str, ...]:
        """The keys, sorted; the empty set is one global group and has to be said."""
        keys, wrong = grouping_keys.read(self._values.get("groupingKeyNames"), self._event_type)
        for message in wrong:
            self._add("groupingKeyNames", message)
        return keys

    def aggregate(self) -> tuple[str, str | None]:
        """The function and its field."""
        values = self._values
        aggregate, problems = read_aggregate(
            values.get("aggregatorFunctionType"),
            values.get("aggregateFieldName"),
            values.get("unique"),
            self._event_type,
        )
        self.problems.extend(problems)
        if aggregate is None:
            return "", None
        return aggregate.function, aggregate.field

    def reset_on_alert(self) -> bool:
        """True where an alert resets the group's window, by the name of the field or by `resetOnAlert`."""
        value = self._values.get("resetOnAlert")
        if value is not None and not isinstance(value, bool):
            self._add("resetOnAlert", f"expected true or false, not {spelling.shown(value)}")
        if value is False and self.counts_with_reset():
            message = "COUNT_WITH_RESET_FLINK resets on alert; expected true, or leave it out"
            self._add("resetOnAlert", message)
        return value is True or self.counts_with_reset()

    def counts_with_reset(self) -> bool:
        """True where the field is the articles' name of a count that resets."""
        return spelling.keyword(self._values.get("aggregateFieldName")) == "COUNT_WITH_RESET_FLINK"

    def operator(self) -> Operator | None:
        """The operator's symbol."""
        value = self._values.get("limitOperatorType")
        symbol = spelling.operator(value)
        if symbol is None:
            expected = " ".join(f"{symbol} ({name})" for name, symbol in spelling.OPERATORS.items())
            self._add("limitOperatorType", f"expected one of {expected}; not {spelling.shown(value)}")
        return symbol

    def limit(self) -> Decimal | Parameter | None:
        """The limit as decimal(24,6), or the parameter that gives it."""
        return self.number("limit", self._values.get("limit"))

    def number(self, name: str, value: object) -> Decimal | Parameter | None:
        """A number, or the parameter that gives it, said under that name."""
        if not isinstance(value, (str, int, Decimal, Mapping)) or isinstance(value, bool):
            what = "a float; send it as text" if isinstance(value, float) else spelling.shown(value)
            self._add(name, f"expected a decimal number, or its text, not {what}")
            return None
        try:
            if isinstance(value, Mapping):
                return _parameter(value)
            return decimals.parse(spelling.bare(value) if isinstance(value, str) else value)
        except (InvalidDecimal, InvalidConstant) as error:
            self._add(name, str(error))
            return None

    def cooldown_seconds(self) -> int | None:
        """For how long a group is silent after an alert; None where it is not."""
        return self._duration("cooldownSeconds", 1)

    def window_seconds(self) -> int | None:
        """The window from windowSeconds, windowMinutes, or both if they agree."""
        seconds, minutes = self._duration("windowSeconds", 1), self._duration("windowMinutes", 60)
        if seconds is None and minutes is None and not self._given("windowSeconds", "windowMinutes"):
            self._add("windowSeconds", "expected windowSeconds or windowMinutes")
        if seconds is not None and minutes is not None and seconds != minutes:
            message = f"{seconds} s and windowMinutes ({minutes} s) disagree; expected one of them"
            self._add("windowSeconds", message)
        return minutes if seconds is None else seconds

    def _duration(self, name: str, unit_seconds: int) -> int | None:
        if not self._given(name):
            return None
        value = self._values[name]
        number, maximum = spelling.whole_number(value), MAX_WINDOW_SECONDS // unit_seconds
        if number is None or not 1 <= number <= maximum:
            expected = f"expected a whole number from 1 to {maximum} (400 days)"
            self._add(name, f"{expected}, not {spelling.shown(value)}")
            return None
        return number * unit_seconds

    def _one_of(self, name: str, words: tuple[str, ...]) -> str:
        """The word that was said, in any case; the first one where none was."""
        value, keyword = self._values.get(name), self._word(name)
        if value is None:
            return words[0]
        if isinstance(value, str) and keyword in (by_keyword := {word.upper(): word for word in words}):
            return by_keyword[keyword]
        self._add(name, f"expected {_either(words)}, not {spelling.shown(value)}")
        return words[0]

    def _word(self, name: str) -> str:
        """The keyword in capitals; of an object its first key, of anything else nothing."""
        value = self._values.get(name)
        if isinstance(value, Mapping):  # {"bucketed": 60}
            return next((key.upper() for key in value if isinstance(key, str)), "")
        return spelling.keyword(value) or ""

    def _refuse_beside(self, name: str, word: str, combined: Mapping[str, bool]) -> None:
        for other, is_present in combined.items():
            if is_present:
                self._add(name, f"{word} with {other} has no clear meaning; expected one of the two")

    def _refuse_in_buckets(self, combined: Mapping[str, bool]) -> None:
        self._refuse_beside("precision", "bucketed", combined)

    def _given(self, *names: str) -> bool:
        return any(self._values.get(name) is not None for name in names)

    def _add(self, field: str, message: str) -> None:
        self.problems.append(Problem(field, message))


def _parameter(value: Mapping[object, object]) -> Parameter:
    if any(isinstance(key, str) and key.casefold() == "measure" for key in value):
        raise InvalidConstant("a relative limit is expected in conditions, which may be one alone")
    return Parameter(named_values.read_reference(value, "parameter"))


def _either(words: tuple[str, ...]) -> str:
    """As in: every or crossing; evaluate, reevaluate or store."""
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))
