"""Files that go with a message, as the API takes them (contract, section 3)."""

import base64
import mimetypes
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from parachute.base.errors import InvalidInput
from parachute.cli.output import size

_MOST = 20
_LIMIT = 20 * 1024 * 1024
_TOGETHER = 28 * 1024 * 1024
"""As base64, with the message, this fits into what the server takes."""

_PICTURES = ("image/jpeg", "image/png", "image/gif", "image/webp")
_PACKED = (".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".zst")


def attachments(paths: Sequence[Path]) -> list[dict[str, Any]]:
    """The files with their contents; error: InvalidInput naming the file."""
    if len(paths) > _MOST:
        raise InvalidInput(
            f"--attach: at most {_MOST} files go with one message.", "Pack them into one.", key="too_many_attachments"
        )
    found = [_attachment(path) for path in paths]
    if (total := sum(each["sizeBytes"] for each in found)) > _TOGETHER:
        raise InvalidInput(
            f"--attach: the files have {size(total)} together; {size(_TOGETHER)} are allowed.",
            "Send them one by one.",
            key="attachments_too_large",
        )
    return found


def _attachment(path: Path) -> dict[str, Any]:
    path = path.expanduser()
    try:
        if not path.is_file():
            raise InvalidInput(f"--attach: there is no file {path}.", key="no_attachment")
        with path.open("rb") as file:
            content = file.read(_LIMIT + 1)
    except OSError as error:
        raise InvalidInput(
            f"--attach: {path} cannot be read: {error.strerror}.", key="attachment_unreadable"
        ) from error
    if len(content) > _LIMIT:
        raise InvalidInput(
            f"--attach: {path} is larger than {size(_LIMIT)}.",
            "Put it into a folder for --directory.",
            key="attachment_too_large",
        )
    media = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return {
        "fileName": path.name,
        "mimeType": media,
        "sizeBytes": len(content),
        "type": _kind(path, media, content),
        "base64Data": base64.b64encode(content).decode(),
    }


def _kind(path: Path, media: str, content: bytes) -> str:
    if media in _PICTURES:
        return "image"
    if media == "application/pdf":
        return "pdf"
    if (kind := media.partition("/")[0]) in ("audio", "video"):
        return kind
    if path.suffix.lower() in _PACKED:
        return "archive"
    return "text" if _is_text(content) else "unknown"


def _is_text(content: bytes) -> bool:
    try:
        return "\0" not in content.decode()
    except UnicodeDecodeError:
        return False
