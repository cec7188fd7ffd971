"""Mails, one in a file or many in an mbox: each becomes an entry of the day on which it was sent."""

import codecs
import email
import email.policy
import email.utils
import hashlib
import mimetypes
import re
from collections import Counter
from collections.abc import Callable, Iterator
from email.message import EmailMessage
from typing import Any

from imports.reading.entries import JournalEntry, file_name, local, one_line
from imports.reading.html_text import markdown
from imports.reading.json_values import Readable

SOURCE = "mail"
_LARGEST = 32 * 1024 * 1024
_CHUNK = 256 * 1024
_PARTS, _FILES = 200, 100
_NAMES = (
    b"from",
    b"to",
    b"date",
    b"subject",
    b"received",
    b"return-path",
    b"message-id",
    b"delivered-to",
    b"mime-version",
    b"x-",
)
_HEADER = re.compile(
    rb"([A-Za-z][A-Za-z0-9-]{0,60}):[ \t]?[^\r\n]*\r?\n(?:[ \t][^\r\n]*\r?\n)*[A-Za-z][A-Za-z0-9-]{0,60}:"
)
_FROM = re.compile(rb"(?m)^From [^\r\n]*\r?\n")
_NEXT = re.compile(rb"\n\r?\nFrom ")
_TORN = 1000
_ODD = frozenset({"idna", "punycode", "raw_unicode_escape", "undefined", "unicode_escape"})
"""Encodings that no mail has; some take hours for a few megabytes."""

_QUOTED = re.compile(rb"(?m)^>(>*From )")


def is_one(beginning: bytes) -> bool:
    """Return True for the beginning of a mail, or of a file of mails."""
    if found := _FROM.match(beginning):
        beginning = beginning[found.end() :]
    header = _HEADER.match(beginning)
    return header is not None and header[1].lower().startswith(_NAMES)


def read(file: Readable, say: Callable[..., None]) -> Iterator[JournalEntry]:
    """The mails of a file, in their order; `say` hears what is left out."""
    for data in _mails(file):
        if data is None:
            say(left_out={"mails_too_large": 1})
            continue
        left_out = Counter[str]()
        found = _entry(data, left_out)
        say(left_out=dict(left_out))
        if found is not None:
            yield found


def _mails(file: Readable) -> Iterator[bytes | None]:
    """The bytes of each mail; None for one that is too large."""
    held, is_over, seen = b"", False, 1
    data = file.read(_CHUNK)
    if not data.startswith(b"From "):
        while data and len(held) <= _LARGEST:
            held += data
            data = file.read(_CHUNK)
        yield held if len(held) <= _LARGEST else None
        return
    while data:
        # A line that begins a mail stands behind an empty one; it may be torn between two reads. What was searched is not searched again.
        held += data
        data = file.read(_CHUNK)
        start = 0
        while (found := _NEXT.search(held, seen)) and (data == b"" or found.end() < len(held) - _TORN):
            place = found.end() - len(b"From ")
            yield None if is_over else _unquoted(held[start:place])
            start, seen, is_over = place, place + 1, False
        held, seen = held[start:], max(seen, len(held) - 2 * _TORN) - start
        if len(held) > _LARGEST:
            held, is_over, seen = held[-2 * _TORN :], True, 1
    if held:
        yield None if is_over else _unquoted(held)


def _unquoted(data: bytes) -> bytes:
    first = _FROM.match(data)
    return _QUOTED.sub(rb"\1", data[first.end() :] if first else data)


def _entry(data: bytes, left_out: Counter[str]) -> JournalEntry | None:
    try:
        message = email.message_from_bytes(data, policy=email.policy.default)
        sent = email.utils.parsedate_to_datetime(_header(message, "Date"))
        date, time = local(sent, sent.tzinfo)
    except (ValueError, TypeError, OverflowError, RecursionError, IndexError):
        left_out["entries_without_date"] += 1
        return None
    original = _header(message, "Message-ID") or hashlib.sha256(data).hexdigest()
    entry = JournalEntry(SOURCE, original, date, time, one_line(_header(message, "Subject"), 250))
    text, shown = "", list[str]()
    for part in _parts(message):
        if part.get_content_type() in ("text/plain", "text/html") and part.get_content_disposition() != "attachment":
            text = "\n\n".join(filter(None, [text, _said(part)]))
        elif len(shown) < _FILES:
            shown.append(_attached(entry, part, left_out))
        else:
            left_out["too_many_files"] += 1
    heads = [f"{name}: {said}" for name in ("From", "To", "Cc") if (said := one_line(_header(message, name), 1000))]
    entry.content = "\n\n".join(filter(None, ["  \n".join(heads), text, *shown]))
    entry.fields |= {"type": "mail", "from": one_line(_header(message, "From")), "source": SOURCE}
    return entry


def _header(message: EmailMessage, name: str) -> str:
    try:
        return str(message.get(name, ""))
    except Exception:  # the library stumbles over some that are malformed
        return ""


def _parts(message: EmailMessage) -> Iterator[EmailMessage]:
    """The parts that hold something; of several forms of a text the plain one, unless it is empty."""
    waiting: list[Any] = [message]
    for _ in range(_PARTS):
        if not waiting:
            return
        part = waiting.pop()
        if part.get_content_type() == "multipart/alternative" and part.is_multipart():
            forms = part.get_payload()
            plain = [each for each in forms if each.get_content_type() == "text/plain" and _said(each)]
            waiting += (plain or forms[-1:])[:1]
        elif part.is_multipart():
            waiting += reversed(part.get_payload())
        else:
            yield part


def _said(part: EmailMessage) -> str:
    data: Any = part.get_payload(decode=True) or b""
    try:
        charset = codecs.lookup(part.get_content_charset("utf-8"))
        text = data.decode("cp1252" if charset.name.replace("-", "_") in _ODD else charset.name)
    except (LookupError, ValueError):
        text = data.decode("cp1252", errors="replace")
    text = text.replace("\r\n", "\n").replace("\0", "")
    return markdown(text) if part.get_content_type() == "text/html" else str(text.strip())


def _attached(entry: JournalEntry, part: EmailMessage, left_out: Counter[str]) -> str:
    """Add an attachment under its name, behind a part of its hash: there is more than one `image.png` on a day."""
    data: Any = part.get_payload(decode=True)
    if not data:
        left_out["media_missing"] += 1
        return ""
    try:
        given = str(part.get_filename() or "")
    except Exception:  # as with headers
        given = ""
    kind = mimetypes.guess_extension(part.get_content_type()) or ".bin"
    name = f"{hashlib.sha256(data).hexdigest()[:8]}-{file_name(given or f'attached{kind}')}"
    return entry.show(name, [data], one_line(given, 200))
