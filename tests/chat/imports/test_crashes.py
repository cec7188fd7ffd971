"""Imports that are killed, cancelled, or meet a full disk: each conversation is there whole or not at all, and again brings the rest."""

import asyncio
import contextlib
import json
import shutil
from pathlib import Path
from typing import Any

import httpx2
import psutil
import pytest

from tests.support.computer import Computer, command_line
from tests.support.making import Make
from tests.support.official import install
from tests.support.small_disk import small_disk
from tests.support.waiting import until

from . import exports, journals
from .conftest import over, signed, undone, upload
from .exports import node, tree

pytestmark = pytest.mark.long

COUNT = 1500


@pytest.fixture
def computer(make_computer: Make[Computer]) -> Computer:
    """A computer with the module."""
    found = make_computer()
    install(found, "imports")
    return found


def many(count: int = COUNT) -> bytes:
    """An export of conversations with a word that only they have."""
    talks = [
        tree(
            node("a", None, text=f"Zanzibar {n}"),
            node("b", "a", "assistant", "Yes. " * 200),
            name=f"many-{n}",
            title=f"Talk {n}",
        )
        for n in range(count)
    ]
    return exports.packed({"conversations.json": json.dumps(talks)})


async def begun(client: httpx2.AsyncClient, data: bytes, least: int = 40) -> str:
    """Begin an import, and wait until it has brought some conversations."""
    answer = await client.post("/api/imports", content=data)
    import_id = str(answer.json()["id"])

    async def some() -> bool:
        return int((await client.get(f"/api/imports/{import_id}")).json()["imported"]) >= least

    await until(some, "some conversations have come")
    return import_id


async def here(client: httpx2.AsyncClient) -> set[str]:
    """The conversations that a list shows."""
    found: set[str] = set()
    while page := (await client.get(f"/api/chat?limit=1000&offset={len(found)}")).json()["sessions"]:
        found |= {each["id"] for each in page}
    return found


def transcripts(computer: Computer) -> set[str]:
    """The conversations whose transcript is in its place."""
    folder = computer.vault / ".parachute" / "imports" / "transcripts"
    return {path.name.removesuffix(".imported.jsonl") for path in folder.iterdir()}


def left(computer: Computer) -> list[Path]:
    """Return the files that exist only while an import runs."""
    return [*(computer.vault / ".parachute" / "imports").glob("*/staged"), *computer.home.root.rglob("uploads/*")]


def host(computer: Computer) -> list[psutil.Process]:
    """The processes of the module."""
    return [each for each in computer.processes() if "parachute.modules.host_process" in " ".join(command_line(each))]


async def is_interrupted(client: httpx2.AsyncClient, import_id: str) -> bool:
    """Return whether an import is shown as interrupted."""
    answer = await client.get(f"/api/imports/{import_id}")
    return answer.status_code == 200 and bool(answer.json()["state"] == "interrupted")


async def whole(computer: Computer, client: httpx2.AsyncClient) -> None:
    """See that every conversation has its transcript and no transcript lies about, then import the rest."""
    found = await here(client)
    assert found == transcripts(computer)
    assert left(computer) == []
    session = next(iter(found))
    assert len((await client.get(f"/api/chat/{session}")).json()["messages"]) == 2
    again = await upload(client, many())
    assert (again["imported"], again["skipped"]) == (COUNT - len(found), len(found))
    assert len(await here(client)) == COUNT


async def test_the_module_is_killed(computer: Computer) -> None:
    async with computer.client(headers=signed(computer)) as client:
        import_id = await begun(client, many())
        for process in host(computer):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        await until(lambda: is_interrupted(client, import_id), "another process of the module tells of it")
        await whole(computer, client)


async def test_the_server_is_killed(computer: Computer) -> None:
    async with computer.client(headers=signed(computer)) as client:
        import_id = await begun(client, many())
    await asyncio.to_thread(computer.kill_core)
    async with computer.client(headers=signed(computer)) as client:

        async def is_settled() -> bool:
            return await is_interrupted(client, import_id) and not left(computer)

        await until(is_settled, "what was left is removed")
        assert (await client.get(f"/api/imports/{import_id}")).json()["imported"] == len(await here(client)) > 0
        await whole(computer, client)
        assert (await undone(client, import_id))["state"] == "undone"
        assert 0 < len(await here(client)) < COUNT


async def test_entries_that_were_changed_after_a_crash_outlive_its_undo(computer: Computer) -> None:
    install(computer, "daily")
    count = 400
    days = [
        journals.dayone_entry(f"{n:032X}", f"20{10 + n % 10}-01-{n % 28 + 1:02}T10:00:00Z", text=f"Zanzibar {n}")
        for n in range(count)
    ]
    data = journals.dayone_zip(*days)

    async def there(client: httpx2.AsyncClient) -> list[dict[str, Any]]:
        asked: dict[str, str | int] = {"q": "zanzibar", "limit": 1000}
        return list((await client.get("/api/daily/search", params=asked)).json()["entries"])

    async with computer.client(headers=signed(computer)) as client:
        import_id = str((await client.post("/api/imports", content=data)).json()["id"])

        async def some() -> bool:
            return int((await client.get(f"/api/imports/{import_id}")).json()["entriesImported"]) >= 50

        await until(some, "some entries have come")
    await asyncio.to_thread(computer.kill_core)
    async with computer.client(headers=signed(computer)) as client:
        await until(lambda: is_interrupted(client, import_id), "the import is known as interrupted")
        found = await there(client)
        assert 50 <= len(found) < count
        mine = [each["id"] for each in (found[0], found[-1])]
        for each in mine:
            await client.put(f"/api/daily/entries/{each}", json={"content": "Zanzibar is mine."})
        again = await upload(client, data)
        assert again["entriesImported"] == count - len(found)
        assert len(await there(client)) == count
        gone = await undone(client, import_id)
        assert set(mine) <= set(gone["kept"])
        assert {each["id"] for each in await there(client)} >= set(mine)
        assert (await undone(client, again["id"]))["state"] == "undone"
        assert {each["id"] for each in await there(client)} == set(mine)


async def test_one_that_is_cancelled_keeps_what_came(computer: Computer) -> None:
    async with computer.client(headers=signed(computer)) as client:
        import_id = await begun(client, many())
        assert (await client.delete(f"/api/imports/{import_id}")).json()["state"] == "cancelled"
        await whole(computer, client)


async def test_two_at_once_come_one_after_the_other(computer: Computer) -> None:
    data = many()
    async with computer.client(headers=signed(computer)) as client:
        both = await asyncio.gather(*(upload(client, data) for _ in range(2)))
        assert sorted((each["imported"], each["skipped"]) for each in both) == [(0, COUNT), (COUNT, 0)]
        assert len(await here(client)) == COUNT


async def test_an_upload_that_breaks_off_leaves_nothing(computer: Computer) -> None:
    async def half() -> Any:
        yield b"PK"
        raise ConnectionResetError("the telephone is gone")

    async with computer.client(headers=signed(computer)) as client:
        with pytest.raises(ConnectionResetError):
            await client.post("/api/imports", content=half())

        async def is_gone() -> bool:
            return (await client.get("/api/imports")).json()["imports"] == [] and not left(computer)

        await until(is_gone, "what had come is removed")


async def test_hundreds_of_imports_do_not_hold_the_api_up(computer: Computer) -> None:
    async with computer.client(headers=signed(computer)) as client:
        import_id = await begun(client, many(), least=1)
        for _ in range(20):
            assert (await client.get("/api/chat?limit=5")).status_code == 200
        assert (await over(client, import_id))["imported"] == COUNT


async def test_a_disk_that_becomes_full_keeps_whole_conversations(make_computer: Make[Computer]) -> None:
    computer = make_computer()
    await asyncio.to_thread(computer.stop)
    name = (computer.vault / ".parachute" / "vault-id").read_text()
    shutil.rmtree(computer.vault)
    computer.vault.mkdir()
    with small_disk(computer.vault, 700) as disk:
        (computer.vault / ".parachute").mkdir(mode=0o700)
        (computer.vault / ".parachute" / "vault-id").write_text(name)
        await asyncio.to_thread(computer.start)
        await asyncio.to_thread(install, computer, "imports")
        try:
            async with computer.client(headers=signed(computer)) as client:
                import_id = await begun(client, many())
                await asyncio.to_thread(disk.fill)
                found = await over(client, import_id)
                assert found["state"] == "failed"
                # Who reads and who stores may both meet the end of the disk.
                assert len(found["errors"]) in (1, 2)
                refused = await client.post("/api/imports", content=many())
                assert (refused.status_code, refused.json()["key"]) == (507, "disk_full")
                disk.make_room()
                await whole(computer, client)
        finally:
            await asyncio.to_thread(computer.stop)
