"""Mails: who wrote what to whom, the text, and the names of what is attached."""

import email
import email.policy
from email.message import EmailMessage
from typing import IO, Any

from parachute.files.documents.program.html import write
from parachute.files.documents.program.text import Text, Unreadable

_LARGEST = 32 << 20
_HEADERS = ("From", "To", "Cc", "Date", "Subject")
_MOST_PARTS, _LONGEST_HEADER = 200, 2_000
_WRITTEN = ("text/plain", "text/html")


def read(file: IO[bytes], text: Text) -> None:
    """Read a mail, and mails that it carries."""
    data = file.read(_LARGEST)
    try:
        message = email.message_from_bytes(data, policy=email.policy.default)
    except RecursionError as error:
        raise Unreadable("damaged") from error
    if not any(message.get_all(name) for name in _HEADERS):
        raise Unreadable("damaged")
    waiting: list[Any] = [message]
    for _ in range(_MOST_PARTS):
        if not waiting:
            return
        part = waiting.pop()
        if part is message or (part.get_content_maintype() != "multipart" and _has_headers(part)):
            _write_headers(part, text)
        if part.get_content_type() == "multipart/alternative":
            waiting += _best(part)
        elif part.is_multipart():
            waiting += reversed(part.get_payload())
        else:
            _write_content(part, text)


def _has_headers(part: EmailMessage) -> bool:
    return part.get("Subject") is not None and part.get("From") is not None


def _write_headers(part: EmailMessage, text: Text) -> None:
    text.end_line()
    for name in _HEADERS:
        if value := " ".join(_header(part, name)[:_LONGEST_HEADER].split()):
            text.add(f"{name}: {value}\n")
    text.add("\n")


def _header(part: EmailMessage, name: str) -> str:
    try:
        return str(part.get(name, ""))
    except Exception:  # the library stumbles over some that are malformed
        return ""


def _best(part: EmailMessage) -> list[Any]:
    """Return the one of several forms of the same text that is written plainly, unless nothing is written in it."""
    parts: Any = part.get_payload() if part.is_multipart() else []
    plain = [each for each in parts if each.get_content_type() == "text/plain" and _said(each).strip()]
    return (plain or parts[-1:])[:1]


def _write_content(part: EmailMessage, text: Text) -> None:
    kind = part.get_content_type()
    name = part.get_filename()
    if name:
        text.end_line()
        text.add(" ".join(str(name)[:_LONGEST_HEADER].split()) + "\n")
    if kind not in _WRITTEN or part.get_content_disposition() == "attachment":
        return
    said = _said(part).replace("\r\n", "\n").replace("\f", " ")
    if kind == "text/html":
        write(said, text, counts_lines=False)
    else:
        text.add(said)
    text.end_line()


def _said(part: EmailMessage) -> str:
    data: Any = part.get_payload(decode=True) or b""
    try:
        return str(data.decode(part.get_content_charset("utf-8")))
    except (LookupError, ValueError):
        return str(data.decode("cp1252", errors="replace"))
