"""What a page or a script sends: a form or a JSON object, of plain text and numbers."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request

#: The most fields of a form, and of an address.
MOST_FIELDS = 500


async def sent(request: Request) -> dict[str, Any]:
    """Read what was sent: words by name; of files nothing is taken."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/json":
        return _object(await request.body())
    if kind == "application/x-www-form-urlencoded":
        async with request.form(max_files=0, max_fields=MOST_FIELDS) as form:
            return {name: one for name, one in form.items() if not isinstance(one, UploadFile)}
    raise HTTPException(415, "Send a form or JSON.")


def _object(body: bytes) -> dict[str, Any]:
    """Read a JSON object; numbers are finite, and texts are text.

    >>> _object(b'{"grade": 2}')
    {'grade': 2}
    """
    try:
        found = json.loads(body.decode(), parse_constant=_refuse, parse_float=_finite)
        json.dumps(found, ensure_ascii=False).encode()  # half a sign of UTF-16 is none
    except (ValueError, RecursionError):
        raise HTTPException(400, "What was sent is not JSON.") from None
    if not isinstance(found, dict):
        raise HTTPException(400, "What was sent is not a JSON object.")
    return found


def _refuse(text: str) -> NoReturn:
    raise ValueError(text)


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refuse(text)
