"""The answers of servers with embeddings, which nobody trusts: so many lists of equally many finite numbers, or an error."""

import json
import struct
from typing import Any, NoReturn

from msgspec import Struct

from parachute.base.errors import Unavailable
from parachute.llm.gateway.models import Usage

OPENAI, OLLAMA = "/v1/embeddings", "/api/embed"
_WIDEST = 8192
_LARGEST = 1e30
"""Beyond this the length of a vector is no number of 32 bits any more."""


class Answer(Struct, frozen=True):
    """Embeddings in numbers of 32 bits, and what they have used."""

    vectors: tuple[bytes, ...]
    usage: Usage


def answer_of(body: bytes, count: int, address: str) -> Answer:
    """Return a server's embeddings of so many texts; error: Unavailable (`bad_embeddings`)."""
    try:
        document = json.loads(body, parse_constant=_no_number)
        vectors = [_numbers(row) for row in _rows(document)]
        usage = document.get("usage")
        tokens = usage.get("prompt_tokens") if isinstance(usage, dict) else document.get("prompt_eval_count")
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, struct.error, RecursionError) as error:
        raise _bad(f"What {address} answered are no embeddings.") from error
    if len(vectors) != count:
        raise _bad(f"{address} gave {len(vectors)} embeddings for {count} texts.")
    if len({len(vector) for vector in vectors}) > 1:
        raise _bad(f"The embeddings of {address} are of different sizes.")
    if not isinstance(tokens, int) or isinstance(tokens, bool) or not 0 <= tokens < 1 << 40:
        tokens = 0
    return Answer(tuple(vectors), Usage(requests=1, input_tokens=tokens))


def said_of(body: bytes) -> str:
    """The sentence of an error, on one line; empty for none."""
    try:
        said = json.loads(body)
        said = said.get("error", said.get("detail"))
        said = said.get("message") if isinstance(said, dict) else said
    except (ValueError, RecursionError, AttributeError):
        return ""
    return " ".join(str(said).split())[:300].rstrip(".") if said else ""


def _rows(document: Any) -> list[Any]:
    if "embeddings" in document:
        return list(document["embeddings"])
    rows = document["data"]
    # Their order is not promised, their numbers are.
    if sorted(row["index"] for row in rows) != list(range(len(rows))):
        raise ValueError("the numbers are others")
    return [row["embedding"] for row in sorted(rows, key=lambda row: int(row["index"]))]


def _numbers(row: Any) -> bytes:
    if not isinstance(row, list) or not 0 < len(row) <= _WIDEST:
        raise ValueError("no list of numbers")
    if not all(type(value) in (int, float) and abs(value) < _LARGEST for value in row):
        raise ValueError("no number")
    return struct.pack(f"<{len(row)}f", *row)


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)


def _bad(message: str) -> Unavailable:
    return Unavailable(
        message, "See what answers at `meaning.server`; nothing of it was taken over.", key="bad_embeddings"
    )
