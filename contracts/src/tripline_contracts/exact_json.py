"""Reading JSON without a float on the way."""

from __future__ import annotations

import json
from decimal import Decimal, InvalidOperation

from tripline_contracts.errors import InvalidJson


def loads(data: bytes | str) -> object:
    """Reads one JSON text; numbers with a fraction or an exponent become Decimal, the others int.

    Of a repeated key the last one counts. Raises InvalidJson for anything that is not JSON in UTF-8:
    the literals NaN and Infinity, a lone surrogate escape, a number beyond what Decimal can hold, nesting
    deeper than Python can follow.
    """
    try:
        text = data.decode("utf-8") if isinstance(data, bytes) else data
        value: object = json.loads(text, parse_float=Decimal, parse_constant=_refuse_constant)
        # a lone surrogate ("\ud800") parses but is no text: nothing downstream can encode it
        if isinstance(data, str) or "\\u" in text:
            json.dumps(value, ensure_ascii=False, default=str).encode("utf-8")
    except (UnicodeError, json.JSONDecodeError) as error:
        raise InvalidJson(f"not JSON in UTF-8: {error}") from error
    except (InvalidOperation, ValueError) as error:
        raise InvalidJson(f"not JSON that can be held exactly: {error}") from error
    except RecursionError as error:
        raise InvalidJson("not JSON that can be read: nested too deeply") from error
    return value


def _refuse_constant(literal: str) -> object:
    raise ValueError(f"{literal} is not JSON")
