"""The vault's files as the app asks for them (contract, sections 6 and 13), and what the console adds."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.contract.files import File, Folder, Written
from tests.contract.responses import check_error, check_response
from tests.support.installation import Installation
from tests.support.server import Server

from .conftest import state_of, vault_text

HERE = Server

PRESENT = ["entries.name", "entries.type", "entries.path", "entries.relativePath", "entries.isDirectory"]


@pytest.fixture(scope="module")
def garden(installation: Installation) -> Path:
    """A folder of the vault with some of everything."""
    folder = installation.vault / "Garden"
    (folder / "beds/.git").mkdir(parents=True)
    (folder / "beds/CLAUDE.md").write_text("Sow in rows.")
    (folder / "notes.md").write_bytes("Pe\u0301as\r\nbeans\r\n".encode())
    (folder / "seeds.bin").write_bytes(bytes(range(256)) * 16)
    (folder / "way").symlink_to("/etc")
    (folder / ".hidden.md").write_text("hidden")
    (folder / ".env").write_text("SECRET=1")
    os.mkfifo(folder / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        place = os.open(folder, os.O_RDONLY)
        listener.bind(f"/proc/self/fd/{place}/socket")
        os.close(place)
    return folder


async def test_a_fresh_vault_lists_the_folder_that_the_app_asks_for_first(owner: httpx2.AsyncClient) -> None:
    found = check_response(Folder, await owner.get("/api/ls?path=Chat/contexts"))
    assert found.entries == []
    check_error(await owner.get("/api/ls?path=Chat/nothing"), 404, "Chat/nothing")


async def test_a_folder_is_listed(owner: httpx2.AsyncClient, garden: Path) -> None:
    found = check_response(Folder, await owner.get("/api/ls?path=Garden"))
    assert [entry.name for entry in found.entries] == ["beds", "notes.md", "seeds.bin", "way"]
    beds, notes, _, way = found.entries
    assert (beds.type, beds.is_directory, beds.has_claude_md, beds.has_agents_md) == ("directory", True, True, False)
    assert beds.is_git_repo
    assert (notes.path, notes.relative_path, notes.size, notes.type) == ("Garden/notes.md",) * 2 + (15, "file")
    assert (way.type, way.is_directory, way.is_symlink, way.symlink_target) == ("symlink", False, True, "/etc")
    hidden = check_response(Folder, await owner.get("/api/ls?path=Garden&includeHidden=true"))
    assert [entry.name for entry in hidden.entries] == ["beds", ".hidden.md", "notes.md", "seeds.bin", "way"]
    root = check_response(Folder, await owner.get("/api/ls"))
    assert "Garden" in [entry.name for entry in root.entries]
    assert [entry.name for entry in root.entries if entry.name.startswith(".")] == []
    everything = check_response(Folder, await owner.get("/api/ls?includeHidden=true"))
    assert ".claude" in [entry.name for entry in everything.entries]
    assert ".parachute" not in [entry.name for entry in everything.entries]


async def test_times_are_those_of_the_files_whatever_the_zone_is(owner: httpx2.AsyncClient, garden: Path) -> None:
    moment = datetime(2026, 1, 31, 23, 30, 15, 123456, UTC)
    os.utime(garden / "notes.md", ns=(0, int(moment.timestamp()) * 10**9 + 123456789))
    found = check_response(File, await owner.get("/api/read?path=Garden/notes.md"))
    listed = check_response(Folder, await owner.get("/api/ls?path=Garden"))
    assert found.last_modified == "2026-01-31T23:30:15.123456Z"
    assert found.last_modified in [entry.last_modified for entry in listed.entries]


async def test_a_text_is_read_as_it_is(owner: httpx2.AsyncClient, garden: Path) -> None:
    found = check_response(File, await owner.get("/api/read?path=Garden/notes.md"))
    assert (found.path, found.content, found.size) == ("Garden/notes.md", "Pe\u0301as\r\nbeans\r\n", 15)
    check_error(await owner.get("/api/read?path=Garden/no.md"), 404, "Garden/no.md")


async def test_the_last_writer_wins_and_the_version_before_is_kept(
    owner: httpx2.AsyncClient, installation: Installation
) -> None:
    path = installation.vault / "Chat/contexts/mine.md"
    for text in ("first", "second ü\n"):
        written = await owner.put("/api/write", json={"path": "Chat/contexts/mine.md", "content": text})
        check_response(Written, written)
        assert path.read_text() == text
    assert (await owner.put("/api/write", json={"path": "Chat/contexts/mine.md", "content": text})).json()[
        "change"
    ] is None
    changes = (await owner.get("/api/files/changes?path=Chat/contexts")).json()["changes"]
    assert [(each["files"][0]["change"], each["files"][0]["path"]) for each in changes] == [
        ("changed", "Chat/contexts/mine.md"),
        ("created", "Chat/contexts/mine.md"),
    ]
    undone = (await owner.post("/api/files/undo", json={})).json()
    assert (undone["restored"], undone["conflicts"], path.read_text()) == (["Chat/contexts/mine.md"], [], "first")
    redone = (await owner.post("/api/files/undo", json={"change": undone["change"]})).json()
    assert (redone["restored"], path.read_text()) == (["Chat/contexts/mine.md"], "second ü\n")
    path.write_text("of an editor")
    left = (await owner.post("/api/files/undo", json={"change": changes[0]["change"]})).json()
    assert (left["conflicts"], path.read_text()) == (["Chat/contexts/mine.md"], "of an editor")
    check_error(await owner.post("/api/files/undo", json={"change": 1 << 50}), 404)


async def test_a_write_that_names_what_it_read_replaces_nothing_else(
    owner: httpx2.AsyncClient, installation: Installation
) -> None:
    body = {"path": "Garden/plan.md", "content": "mine"}
    first = await owner.put("/api/write", json=body, headers={"if-none-match": "*"})
    assert first.status_code == 200
    check_error(await owner.put("/api/write", json=body, headers={"if-none-match": "*"}), 412, "Garden/plan.md")
    read = await owner.get("/api/read?path=Garden/plan.md")
    assert read.headers["etag"] == read.json()["etag"] == first.json()["etag"]
    file = installation.vault / "Garden/plan.md"
    status = file.stat()
    file.write_text("thei")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))  # as a program may that hides what it did
    stale = {"if-match": read.headers["etag"]}
    check_error(await owner.put("/api/write", json=body, headers=stale), 412, "Garden/plan.md")
    check_error(await owner.put("/api/files/upload?path=Garden/plan.md", content=b"x", headers=stale), 412)
    os.utime(file)
    timed = {**body, "lastModified": read.json()["lastModified"]}
    assert (await owner.put("/api/write", json=timed)).json()["key"] == "changed_meanwhile"
    assert file.read_text() == "thei"
    again = (await owner.get("/api/read?path=Garden/plan.md")).json()
    assert (await owner.put("/api/write", json={**body, "lastModified": again["lastModified"]})).status_code == 200
    gone = {**body, "path": "Garden/gone.md", "lastModified": again["lastModified"]}
    check_error(await owner.put("/api/write", json=gone), 412)
    for wrong in ({"lastModified": "yesterday"}, {"lastModified": "2026-01-01T00:00:00"}, {"lastModified": 3}):
        check_error(await owner.put("/api/write", json={**body, **wrong}), 422, "lastModified")


async def test_of_many_writers_who_read_the_same_one_wins(
    owner: httpx2.AsyncClient, installation: Installation
) -> None:
    etag = (await owner.put("/api/write", json={"path": "Garden/race.md", "content": "start"})).json()["etag"]
    answers = await asyncio.gather(
        *(
            owner.put("/api/write", json={"path": "Garden/race.md", "content": f"{number}"}, headers={"if-match": etag})
            for number in range(8)
        )
    )
    statuses = [answer.status_code for answer in answers]
    assert sorted(statuses) == [200] + [412] * 7
    assert (installation.vault / "Garden/race.md").read_text() == str(statuses.index(200))


async def test_files_of_any_kind_travel_in_both_directions(
    owner: httpx2.AsyncClient, installation: Installation
) -> None:
    data = os.urandom(5 << 20)

    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(data), 300_000):
            yield data[start : start + 300_000]

    put = await owner.put("/api/files/upload?path=Garden/new/f%C3%BClm%20.bin", content=pieces())
    assert (put.status_code, put.json()["size"]) == (200, len(data)), put.text
    got = await owner.get("/api/files/download?path=Garden/new/f%C3%BClm%20.bin")
    assert (got.content == data, got.headers["etag"]) == (True, put.json()["etag"])
    assert got.headers["content-disposition"] == "attachment; filename*=UTF-8''f%C3%BClm%20.bin"
    assert got.headers["content-type"] == "application/octet-stream"
    assert got.headers["x-content-type-options"] == "nosniff"
    assert got.headers["content-security-policy"].startswith("sandbox")
    unchanged = await owner.get(got.request.url, headers={"if-none-match": got.headers["etag"]})
    assert (unchanged.status_code, unchanged.content) == (304, b"")
    replaced = await owner.put("/api/files/upload?path=Garden/new/f%C3%BClm%20.bin", content=b"")
    assert (replaced.json()["size"], (await owner.get(got.request.url)).content) == (0, b"")
    await owner.post("/api/files/undo", json={"change": replaced.json()["change"]})
    assert (installation.vault / "Garden/new/fülm .bin").read_bytes() == data
    assert list((installation.vault / ".parachute/uploads").iterdir()) == []


@pytest.mark.parametrize(
    ("asked", "status", "part"),
    [
        ("bytes=0-9", 206, slice(0, 10)),
        ("bytes=4090-", 206, slice(4090, None)),
        ("bytes=-6", 206, slice(-6, None)),
        ("bytes=-9999", 206, slice(None)),
        ("bytes=4000-999999", 206, slice(4000, None)),
        ("bytes=4096-", 416, slice(0, 0)),
        ("bytes=-0", 416, slice(0, 0)),
        ("bytes=9-2", 416, slice(0, 0)),
        ("bytes=-", 416, slice(0, 0)),
        ("bytes=0-1,4-5", 200, slice(None)),
        ("lines=1-2", 200, slice(None)),
    ],
)
async def test_a_part_of_a_file(owner: httpx2.AsyncClient, garden: Path, asked: str, status: int, part: slice) -> None:
    whole = (garden / "seeds.bin").read_bytes()
    path = "/api/files/download?path=Garden/seeds.bin"
    found = await owner.get(path, headers={"range": asked})
    assert (found.status_code, found.content) == (status, whole[part])
    if status == 206:
        start, _, _ = part.indices(len(whole))
        assert found.headers["content-range"] == f"bytes {start}-{start + len(found.content) - 1}/4096"
    other = await owner.get(path, headers={"range": "bytes=0-9", "if-range": '"another"'})
    assert (other.status_code, other.content) == (200, whole)


async def test_what_is_no_text_is_not_read_as_one(
    owner: httpx2.AsyncClient, garden: Path, installation: Installation
) -> None:
    refused = await owner.get("/api/read?path=Garden/seeds.bin")
    check_error(refused, 422, "UTF-8")
    assert (refused.json()["key"], "/api/files/download" in refused.json()["hint"]) == ("not_text", True)
    with (garden / "large.txt").open("wb") as file:
        file.truncate(200 << 30)
    refused = await owner.get("/api/read?path=Garden/large.txt")
    assert (refused.status_code, refused.json()["key"]) == (413, "text_too_large")
    (garden / "large.txt").unlink()
    full = {"path": "Garden/full.md", "content": '"\n' * (1 << 20)}
    assert (await owner.put("/api/write", json=full)).status_code == 200
    assert (await owner.get("/api/read?path=Garden/full.md")).json()["content"] == full["content"]
    more = {**full, "content": full["content"] + "x"}
    assert (await owner.put("/api/write", json=more)).json()["key"] == "text_too_large"


async def test_folders_are_made_moved_and_deleted_and_all_of_it_is_undone(
    owner: httpx2.AsyncClient, installation: Installation
) -> None:
    shed = installation.vault / "Shed"
    made = await owner.post("/api/files/folders", json={"path": "Shed/tools/old"})
    assert (made.status_code, (shed / "tools/old").is_dir()) == (200, True)
    assert (await owner.post("/api/files/folders", json={"path": "Shed/tools"})).json()["change"] is None
    (shed / "tools/old/rake.md").write_text("A rake.")
    (shed / "tools/old/rake.md").chmod(0o600)
    (shed / "tools/link").symlink_to("old")
    moved = await owner.post("/api/files/move", json={"path": "Shed/tools", "to": "Shed/kept/here"})
    assert moved.status_code == 200, moved.text
    assert sorted(path.name for path in shed.iterdir()) == ["kept"]
    assert (shed / "kept/here/old/rake.md").read_text() == "A rake."
    assert (shed / "kept/here/old/rake.md").stat().st_mode & 0o777 == 0o600
    assert (shed / "kept/here/link").readlink() == Path("old")
    check_error(await owner.post("/api/files/move", json={"path": "Shed/kept", "to": "Garden"}), 409, "Garden")
    check_error(await owner.post("/api/files/move", json={"path": "Shed", "to": "Shed/kept/x"}), 422)
    check_error(await owner.post("/api/files/move", json={"path": "Shed/no", "to": "Shed/yes"}), 404)
    deleted = await owner.delete("/api/files?path=Shed")
    assert (deleted.status_code, shed.exists()) == (200, False)
    check_error(await owner.delete("/api/files?path=Shed"), 404)
    for change in (deleted, moved):
        undone = await owner.post("/api/files/undo", json={"change": change.json()["change"]})
        assert undone.json()["conflicts"] == []
    assert (shed / "tools/old/rake.md").read_text() == "A rake."
    assert (shed / "tools/link").readlink() == Path("old")


async def test_a_key_for_other_things_reaches_no_file(owner: httpx2.AsyncClient, installation: Installation) -> None:
    async def with_scope(scope: str) -> httpx2.AsyncClient:
        made = await owner.post("/api/auth/keys", json={"label": scope, "scopes": [scope]})
        return installation.client(headers={"x-api-key": made.json()["key"]})

    async with await with_scope("chat:write") as phone:
        for path in ("/api/ls", "/api/read?path=a", "/api/files/download?path=a", "/api/files/changes"):
            check_error(await phone.get(path), 403, "vault")
        assert (await phone.get("/api/chat/:files/changes")).status_code == 404
        assert (await phone.post("/api/chat/:files/undo", json={})).status_code == 404
    async with await with_scope("vault:read") as phone:
        check_response(Folder, await phone.get("/api/ls"))
        check_error(await phone.put("/api/write", json={"path": "a.md", "content": "x"}), 403, "vault")
        check_error(await phone.put("/api/files/upload?path=a.md", content=b"x"), 403, "vault")
        check_error(await phone.delete("/api/files?path=Garden"), 403, "vault")
    async with await with_scope("vault:write") as phone:
        check_response(Written, await phone.put("/api/write", json={"path": "of a phone.md", "content": "x"}))
        check_response(File, await phone.get("/api/read?path=of%20a%20phone.md"))

    def is_audited() -> bool:
        return '"write of a phone.md"' in vault_text(installation, "audit/*.jsonl")

    await asyncio.to_thread(installation.wait_until, is_audited, "the change is in the audit log")


REFUSED = [
    *("..", "../x", "a/../../x", "/etc/passwd", ".hidden.md", ".parachute/trust.db", ".claude/x.md", ".mcp.json"),
    *("Garden/.env", "Garden/.git/config", "Garden/id_rsa", "Garden/server.key", "Garden/\u200b.mcp.json"),
    *("Garden/way/passwd", "Garden/notes.md/x", "Garden/pipe", "Garden/socket", "Garden/beds"),
    *("x" * 256, "ü" * 128, "/".join(["long"] * 900), "a\0b", "\ud800"),
]


@pytest.mark.parametrize("path", REFUSED, ids=lambda path: ascii(path)[:30])
async def test_what_is_hidden_secret_outside_or_no_file_is_refused(
    owner: httpx2.AsyncClient, installation: Installation, garden: Path, path: str
) -> None:
    before = state_of(installation)
    calls: list[tuple[str, str, Any]] = [("PUT", "/api/write", {"path": path, "content": "x"})]
    if path != "\ud800":
        calls += [("GET", each, None) for each in ("/api/read", "/api/files/download")]
        calls += [("PUT", "/api/files/upload", None)]
    for method, route, body in calls:
        query = None if body else {"path": path}
        content = httpx2.Request(method, installation.url, json=body).content if body and path != "\ud800" else None
        if path == "\ud800":
            content = b'{"path": "\\ud800", "content": "x"}'
        response = await owner.request(
            method, route, params=query, content=content, headers={"content-type": "application/json"}
        )
        assert 400 <= response.status_code < 500, (route, response.text)
        check_error(response, response.status_code)
    assert state_of(installation) == before


async def test_nothing_of_this_failed_inside(installation: Installation, owner: httpx2.AsyncClient) -> None:
    assert (await owner.get("/api/ls")).status_code == 200
    assert "Traceback" not in installation.logs()
