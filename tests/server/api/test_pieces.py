"""Files of the vault in pieces: each is there once, whole, and nothing that was there is written over."""

import asyncio
import hashlib
import os
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.support.installation import Installation
from tests.support.server import Server

HERE = Server
KEY = "ab" * 12


def announced(content: bytes, path: str, **more: Any) -> dict[str, Any]:
    """Announce a file."""
    return {"path": path, "size": len(content), "sha256": hashlib.sha256(content).hexdigest(), **more}


async def send(owner: httpx2.AsyncClient, content: bytes, path: str, piece: int = 250_000) -> dict[str, Any]:
    """Send a file as the console does."""
    route, query = f"/api/files/pieces/{KEY}", announced(content, path)
    answer = await owner.get(route, params=query)
    while answer.status_code == 200 and not answer.json()["path"]:
        there = answer.json()["offset"]
        answer = await owner.put(route, params={**query, "offset": there}, content=content[there : there + piece])
        if answer.json().get("key") == "wrong_offset":
            answer = await owner.get(route, params=query)
    answer.raise_for_status()
    return dict(answer.json())


async def test_a_file_in_pieces_is_there_once_and_can_be_undone(
    owner: httpx2.AsyncClient, installation: Installation, word: str
) -> None:
    content, path = os.urandom(1_000_000), f"Chat/recordings/{word}.webm"
    first = await owner.put(
        f"/api/files/pieces/{KEY}", params=announced(content, path, offset=0), content=content[:300_000]
    )
    assert first.json() == {"offset": 300_000, "path": None}
    assert not (installation.vault / path).exists()
    done = await asyncio.gather(*(send(owner, content, path, size) for size in (200_000, 300_000)))
    assert done == [{"offset": len(content), "path": path}] * 2
    assert (installation.vault / path).read_bytes() == content
    assert list((installation.vault / ".parachute/pieces").iterdir()) == []
    changes = (await owner.get("/api/files/changes", params={"path": path})).json()["changes"]
    assert len(changes) == 1
    undone = await owner.post("/api/files/undo", json={"change": changes[0]["change"]})
    assert (undone.json()["conflicts"], (installation.vault / path).exists()) == ([], False)
    # As after a restore: what is gone is asked for.
    await send(owner, content, path)
    assert (installation.vault / path).read_bytes() == content


async def test_another_file_is_never_written_over(
    owner: httpx2.AsyncClient, installation: Installation, word: str
) -> None:
    place: Path = installation.vault / f"Chat/recordings/{word}.webm"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(b"mine")
    query = announced(b"yours", f"Chat/recordings/{word}.webm", offset=0)
    answer = await owner.put(f"/api/files/pieces/{KEY}", params=query, content=b"yours")
    assert (answer.status_code, answer.json()["key"]) == (412, "changed_meanwhile")
    assert place.read_bytes() == b"mine"


@pytest.mark.parametrize(
    ("more", "status", "key"),
    [
        ({"sha256": "0" * 64}, 422, "wrong_hash"),
        ({"offset": 2}, 409, "wrong_offset"),
        ({"size": 1 << 33}, 413, "file_too_large"),
        ({"path": ".parachute/trust.db"}, 403, None),
        ({"path": "../x"}, None, None),
        ({"path": "Notes/server.key"}, 403, None),
    ],
    ids=str,
)
async def test_what_cannot_be_is_refused(
    owner: httpx2.AsyncClient, installation: Installation, more: dict[str, Any], status: int | None, key: str | None
) -> None:
    query = {**announced(b"abc", "Chat/recordings/refused.webm", offset=0), **more}
    if query["offset"]:
        query["size"] = 5
    answer = await owner.put(f"/api/files/pieces/{KEY}", params=query, content=b"abc")
    assert 400 <= answer.status_code < 500
    assert status in (None, answer.status_code)
    assert key in (None, answer.json()["key"])
    assert not (installation.vault / "Chat/recordings/refused.webm").exists()
    assert list((installation.vault / ".parachute/pieces").glob("*")) == []
