"""Pictures and recordings of an export stand with their messages, grow with them, and go when the import is undone."""

from typing import Any

import httpx2
import pytest

from tests.contract import models
from tests.contract.responses import check_error, check_response
from tests.support.server import Server

from .conftest import undone, upload
from .exports import node, packed, tree

pytestmark = pytest.mark.long

PNG, WAV = b"\x89PNG\r\n\x1a\n heron", b"RIFF\0\0\0\0WAVEfmt heron"
PICTURE = {"content_type": "image_asset_pointer", "asset_pointer": "sediment://file_00000000aa11"}
SPOKEN = {"content_type": "audio_asset_pointer", "asset_pointer": "sediment://file_00000000bb22"}


def exported(count: int, name: str = "heron") -> bytes:
    """An export with so many of three messages."""
    nodes = [
        node("a", None, parts=[PICTURE, "Which bird is this heronlike one?"], kind="multimodal_text"),
        node("b", "a", "tool", parts=[PICTURE], kind="multimodal_text"),
        node("c", "b", parts=[SPOKEN], kind="multimodal_text"),
    ]
    conversation = tree(*nodes[:count], title="A bird", name=name, update_time=1_700_000_000 + count)
    files = {"file_00000000aa11-pond.png": PNG, "file_00000000bb22.dat": WAV}
    return packed({"conversations.json": httpx2.Response(200, json=[conversation]).content, **files})


async def shown(client: httpx2.AsyncClient, session: str) -> list[dict[str, Any]]:
    """The messages of a conversation."""
    answer = await client.get(f"/api/chat/{session}")
    check_response(models.SessionWithMessages, answer)
    found: list[dict[str, Any]] = answer.json()["messages"]
    return found


async def session_of(client: httpx2.AsyncClient, words: str) -> str:
    """The one conversation that a search finds."""
    (session,) = (await client.get("/api/chat", params={"search": words})).json()["sessions"]
    return str(session["id"])


async def test_files_come_grow_and_go(server: Server, owner: httpx2.AsyncClient) -> None:
    attachments = server.vault / ".parachute" / "attachments"
    counted = await upload(owner, exported(2), dry_run="true")
    assert (counted["attachments"], counted["imported"]) == (1, 1)
    assert not attachments.exists() or not list(attachments.rglob("pond.png"))
    first = await upload(owner, exported(2))
    assert (first["attachments"], first["state"]) == (1, "done")
    session = await session_of(owner, "heronlike")
    asked, drawn = await shown(owner, session)
    assert (asked["said"], asked["attachments"]) == ("Which bird is this heronlike one?", ["pond.png"])
    assert (drawn["role"], drawn["said"], drawn["attachments"]) == ("assistant", "", ["pond.png"])
    assert (await owner.get(f"/api/chat/{session}/attachments/pond.png")).content == PNG
    check_error(await owner.get(f"/api/chat/{session}/attachments/file.wav"), 404)
    again = await upload(owner, exported(2))
    assert (again["skipped"], again["grown"], again["attachments"]) == (1, 0, 0)
    later = await upload(owner, exported(3))
    assert (later["grown"], later["attachments"]) == (1, 2)
    assert [each["attachments"] for each in await shown(owner, session)] == [["pond.png"], ["pond.png"], ["file.wav"]]
    assert (await owner.get(f"/api/chat/{session}/attachments/file.wav")).content == WAV
    await undone(owner, later["id"])
    assert len(await shown(owner, session)) == 2
    assert [path.name for path in (attachments / session).iterdir()] == ["pond.png"]
    await undone(owner, first["id"])
    assert not (attachments / session).exists()
    assert not list((server.vault / ".parachute" / "imports").rglob("staged"))


async def test_what_a_module_may_not_send(server: Server, owner: httpx2.AsyncClient) -> None:
    """The names are checked where the files are placed, whatever the module says."""
    from parachute.base.errors import InvalidInput
    from parachute.chat.imports.attached import check_attachment

    for session, name in (
        ("s", "../x"),
        ("../s", "x"),
        ("s", ".x"),
        ("s", ""),
        ("s", "x" * 201),
        ("s", "a/b"),
        ("s", "é" * 180),
    ):
        with pytest.raises(InvalidInput):
            check_attachment(session, name)
