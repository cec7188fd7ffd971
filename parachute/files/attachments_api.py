"""The route of files that came with the messages of a conversation."""

import os
from functools import partial
from typing import Annotated, BinaryIO

from fastapi import APIRouter, Depends, Request
from fastapi.params import Path
from fastapi.responses import Response

from parachute.base.errors import InvalidInput, NotFound
from parachute.base.folders import Folder
from parachute.base.open_in_thread import open_in_thread
from parachute.base.services import provided
from parachute.chat.sessions.service import Sessions
from parachute.files.download import Download
from parachute.files.models import FileState

router = APIRouter(prefix="/api/chat", tags=["files"])


@router.get("/{session}/attachments/{name}")
async def download_attachment(
    request: Request,
    session: str,
    name: Annotated[str, Path(max_length=255)],
    service: Annotated[Sessions, Depends(provided(Sessions))],
) -> Response:
    """A file that came with a message, by the name that the message has it under."""
    await service.get(session)
    state, file = await open_in_thread(partial(_open, service, session, name), lambda found: found[1].close())
    return Download(state, file, request.headers)


def _open(service: Sessions, session: str, name: str) -> tuple[FileState, BinaryIO]:
    if "/" in name or name in ("", ".", ".."):
        raise InvalidInput("name: one name without a folder is expected.", key="invalid_name")
    # The agent of the session can write this folder.
    try:
        with Folder.open_unlinked(service.attachments(session)) as folder:
            file = folder.file(name)
    except OSError as error:
        raise NotFound(f"There is no attachment {name[:80]!r}.", key="attachment_not_found") from error
    return FileState.of(name, os.fstat(file.fileno())), file
