"""Attachments: checked, stored in the vault, and put into the message as the model can take them."""

import base64
import binascii
import re
from pathlib import Path
from typing import Any

from parachute.base.errors import InvalidInput
from parachute.base.folders import Folder
from parachute.chat.runs.request import Attachment
from parachute.config.vault.service import Vault
from parachute.sandbox.engines.execution import Execution
from parachute.sandbox.layout import ATTACHMENTS

_IMAGE_TYPES = ("image/jpeg", "image/png", "image/gif", "image/webp")
_IMAGE_LIMIT = 5 * 1024 * 1024  # the Messages API's limit for one image
_PDF_LIMIT = 20 * 1024 * 1024  # under its limit of 32 MB a request, as base64
_FILE_LIMIT = 20 * 1024 * 1024
_TEXT_LIMIT = 200_000
_TEXT_TYPES = ("text", "code")


def decode(attachments: list[Attachment]) -> list[tuple[Attachment, bytes]]:
    """Decode the contents, without attachments that have none; error: InvalidInput naming the attachment."""
    decoded = []
    for index, attachment in enumerate(attachments):
        if attachment.base64_data is None:
            continue
        field = f"attachments[{index}] ({attachment.file_name[:80]})"
        try:
            data = base64.b64decode(attachment.base64_data, validate=True)
        except (binascii.Error, ValueError) as error:
            raise InvalidInput(f"{field}: base64Data is not valid base64.", key="not_base64") from error
        limit = {"image": _IMAGE_LIMIT, "pdf": _PDF_LIMIT}.get(attachment.type, _FILE_LIMIT)
        if len(data) > limit:
            raise InvalidInput(
                f"{field}: has {len(data):,} bytes; {limit:,} are allowed for {attachment.type}.",
                key="attachment_too_large",
            )
        if attachment.type == "image" and attachment.mime_type not in _IMAGE_TYPES:
            raise InvalidInput(
                f"{field}: mimeType must be one of {', '.join(_IMAGE_TYPES)} for an image.", key="not_an_image"
            )
        decoded.append((attachment, data))
    return decoded


def store(vault: Vault, session: str, decoded: list[tuple[Attachment, bytes]]) -> list[str]:
    """Write the files into a session's folder under safe, unused names; the names. Error: Unavailable where a link is."""
    names = []
    with Folder.open_unlinked(vault.private_folder(".parachute", "attachments", session)) as folder:
        for attachment, data in decoded:
            name = re.sub(r"[^\w.-]", "_", Path(attachment.file_name).name).lstrip(".") or "file"
            # The limit of a file's name is 255 bytes, and a letter may have four.
            parts = ((Path(name).stem, 120), (Path(name).suffix, 60))
            stem, suffix = (part.encode()[:limit].decode(errors="ignore") for part, limit in parts)
            name, number = f"{stem}{suffix}", 1
            while folder.status(name) is not None:
                number += 1
                name = f"{stem}-{number}{suffix}"
            folder.write(name, data, mode=0o644)
            names.append(name)
    return names


def content(
    decoded: list[tuple[Attachment, bytes]], names: list[str], execution: Execution, folder: Path
) -> list[dict[str, Any]]:
    """The blocks that go before a message: pictures and documents as they are, texts inline, everything else by its path."""
    blocks: list[dict[str, Any]] = []
    notes: list[str] = []
    place = ATTACHMENTS if execution.mode == "sandboxed" else str(folder)
    for (attachment, data), name in zip(decoded, names, strict=True):
        if attachment.type in ("image", "pdf"):
            media = "application/pdf" if attachment.type == "pdf" else attachment.mime_type
            source = {"type": "base64", "media_type": media, "data": attachment.base64_data}
            blocks.append({"type": "image" if attachment.type == "image" else "document", "source": source})
            notes.append(f"[Attached: {name}, also at {place}/{name}]")
        elif attachment.type in _TEXT_TYPES and len(data) <= _TEXT_LIMIT:
            notes.append(f"[Attached: {name}]\n```\n{data.decode(errors='replace')}\n```")
        else:
            notes.append(f"[Attached: {name}, {attachment.mime_type}, {len(data):,} bytes, at {place}/{name}]")
    # Each in a block of its own, by which they are known again when the message is read back (`sessions.events`).
    return [*blocks, *({"type": "text", "text": note} for note in notes)]
