"""Reading JSON without a float on the way, and without a choice between two members of one name."""

from __future__ import annotations

import json
from decimal import Decimal, InvalidOperation

from tripline_contracts.errors import DuplicateMember, InvalidJson


def loads(data: bytes | str) -> object:
    """Reads one JSON text; numbers with a fraction or an exponent become Decimal, the others int.

    Raises InvalidJson for anything that is not JSON in UTF-8, and for what readers take differently: a repeated
    member, the literals NaN and Infinity, a lone surrogate escape, a number beyond what Decimal can hold, nesting
    deeper than Python can follow.
    """
    try:
        text = data.decode("utf-8") if isinstance(data, bytes) else data
        value: object = json.loads(
            text, parse_float=Decimal, parse_constant=_refuse_constant, object_pairs_hook=unique_members
        )
        # a lone surrogate ("\ud800") parses but is no text: nothing downstream can encode it
        if isinstance(data, str) or "\\u" in text:
            json.dumps(value, ensure_ascii=False, default=str).encode("utf-8")
    except DuplicateMember as error:
        raise InvalidJson(str(error)) from error
    except (UnicodeError, json.JSONDecodeError) as error:
        raise InvalidJson(f"not JSON in UTF-8: {error}") from error
    except (InvalidOperation, ValueError) as error:
        raise InvalidJson(f"not JSON that can be held exactly: {error}") from error
    except RecursionError as error:
        raise InvalidJson("not JSON that can be read: nested too deeply") from error
    return value


def unique_members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """The object of these members, as json's `object_pairs_hook`. Raises DuplicateMember for the first repeated one."""
    members = dict(pairs)
    if len(members) != len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise DuplicateMember(name)
            seen.add(name)
    return members


def _refuse_constant(literal: str) -> object:
    raise ValueError(f"{literal} is not JSON")
