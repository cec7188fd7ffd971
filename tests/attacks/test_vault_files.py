"""The routes of files against whoever writes into the vault, and against callers who want more than is theirs."""

import asyncio
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from parachute.base.errors import NotAllowed, ParachuteError
from parachute.files.listing import listed
from parachute.security.permissions.models import Access
from parachute.security.permissions.vault_files import may_list, vault_path
from tests.support.computer import Computer
from tests.support.waiting import SECONDS as DEADLINE
from tests.support.waiting import until

OBEYED = [
    *(".parachute/trust.db", ".claude/settings.json", ".mcp.json", ".skills/x/SKILL.md", ".modules/daily/module.py"),
    *("Projects/x/.git/config", "Projects/x/.envrc", "Projects/x/.vscode/tasks.json", "Daily/.agents/reflection.md"),
    *("\u200b.mcp.json", "\u2060.claude/x", "\ufeff.git/hooks/x", "Projects/\u200d.git/config"),
]
SECRETS = [".env", "x/.ENV", "credentials.json", "id_ed25519", "tls/server.key", "\uff49\uff44_rsa", ".\u200bssh/x"]


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """A vault with a folder, beside a secret of somebody."""
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret/passwords.md").write_text("hunter2")
    root = tmp_path / "vault"
    (root / "Notes").mkdir(parents=True)
    return root


@pytest.mark.parametrize("path", [*OBEYED, *SECRETS], ids=ascii)
@pytest.mark.parametrize("access", [Access.READ, Access.WRITE])
def test_what_programs_obey_and_what_is_secret_is_neither_read_nor_written(path: str, access: Access) -> None:
    with pytest.raises(NotAllowed):
        vault_path(path, access)


@pytest.mark.parametrize("path", SECRETS, ids=ascii)
def test_no_secret_is_listed_also_with_hidden_files(path: str) -> None:
    assert not all(may_list(part, hidden=True) for part in path.split("/"))
    with pytest.raises(NotAllowed):
        vault_path(path, Access.READ, hidden=True)


@pytest.mark.parametrize("path", ["..", "a/..", "../vault/x", "/etc", "a\0b", "\ud800", "a" * 256, "a/" * 2100 + "b"])
def test_no_path_leads_out_of_the_vault(path: str) -> None:
    with pytest.raises(ParachuteError):
        vault_path(path, Access.READ, hidden=True)


@pytest.mark.parametrize("path", ["", ".", "a\nb", "a\x1b[31mb", "a\x7f", "a\u0085b"], ids=ascii)
def test_no_file_is_made_whose_name_deceives(path: str) -> None:
    with pytest.raises(ParachuteError):
        vault_path(path, Access.WRITE)


@pytest.mark.long
@pytest.mark.parametrize("many", [10_000, pytest.param(100_000, marks=pytest.mark.long)])
def test_a_folder_of_very_many_entries_is_listed_in_parts(vault: Path, many: int) -> None:
    folder = os.open(vault / "Notes", os.O_RDONLY)
    for number in range(many):
        os.mkfifo(f"{number}", dir_fd=folder) if number % 10 == 0 else os.symlink("x", f"{number}", dir_fd=folder)
    os.close(folder)
    shown = many * 9 // 10
    found = listed(vault, ("Notes",), hidden=False, limit=100, offset=0)
    assert (len(found.entries), found.total, found.truncated) == (100, shown, True)
    last = listed(vault, ("Notes",), hidden=False, limit=100, offset=shown - 50)
    assert (len(last.entries), last.truncated) == (50, False)
    assert not {each.path for each in found.entries} & {each.path for each in last.entries}


def test_names_that_are_no_text_and_times_of_no_calendar_are_listed_around(vault: Path) -> None:
    folder = os.fsencode(vault / "Notes")
    Path(os.fsdecode(folder + b"/\xff\xfe")).write_text("x")
    (vault / "Notes/late.md").write_text("x")
    os.utime(vault / "Notes/late.md", (-5, -5))
    (vault / "Notes/link").symlink_to(os.fsdecode(b"\xff/nowhere"))
    found = listed(vault, ("Notes",), hidden=False, limit=10, offset=0)
    assert [(each.path, each.last_modified[:4]) for each in found.entries if each.type == "file"] == [
        ("Notes/late.md", "1970")
    ]
    assert [each.symlink_target for each in found.entries if each.type == "symlink"] == ["\ufffd/nowhere"]


def test_a_folder_that_becomes_a_link_shows_nothing_of_where_it_leads(vault: Path) -> None:
    """While a folder and a link change places again and again, no listing has what lies behind the link."""
    (vault / "Notes/mine.md").write_text("x")
    stop, shown, rounds = threading.Event(), set[str](), 0

    def swap() -> None:
        nonlocal rounds
        link, away = vault / "link", vault / "away"
        while not stop.is_set():
            rounds += 1
            (vault / "Notes").rename(away)
            link.symlink_to("../secret")
            link.rename(vault / "Notes")
            (vault / "Notes").unlink()
            away.rename(vault / "Notes")

    swapping = threading.Thread(target=swap)
    swapping.start()
    try:
        # A thread may be kept waiting for long: both have to have had their turns.
        looks = 0
        while looks < 2000 or rounds < 500:
            looks += 1
            try:
                shown |= {each.path for each in listed(vault, ("Notes",), hidden=True, limit=9, offset=0).entries}
            except ParachuteError:
                continue
    finally:
        stop.set()
        swapping.join(DEADLINE)
    assert shown <= {"Notes/mine.md"}
    assert [each.path for each in listed(vault, ("Notes",), hidden=True, limit=9, offset=0).entries] == [
        "Notes/mine.md"
    ]


@pytest.fixture
def notes(computer: Computer) -> Iterator[Path]:
    """A folder of the vault."""
    folder = computer.vault / "Notes"
    folder.mkdir(exist_ok=True)
    yield folder
    assert list((computer.vault / ".parachute/uploads").iterdir()) == []


async def test_nothing_is_written_through_a_link(computer: Computer, notes: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file.md").write_text("theirs")
    (notes / "way").symlink_to(outside)
    (notes / "one.md").symlink_to(outside / "file.md")
    async with computer.client() as client:
        for path in ("Notes/way/new.md", "Notes/way/file.md", "Notes/one.md", "Notes/way/a/b.md"):
            for answer in (
                await client.put("/api/write", json={"path": path, "content": "mine"}),
                await client.put(f"/api/files/upload?path={path}", content=b"mine"),
                await client.post("/api/files/folders", json={"path": f"{path}/x"}),
                await client.post("/api/files/move", json={"path": f"{path}/x", "to": "Notes/moved"}),
                await client.get(f"/api/files/download?path={path}"),
            ):
                assert answer.status_code in (404, 422), (path, answer.text)
        # A link itself can go, and what it leads to stays.
        assert (await client.delete("/api/files?path=Notes/way")).status_code == 200
    assert [(path.name, path.read_text()) for path in outside.iterdir()] == [("file.md", "theirs")]


async def test_an_upload_that_is_cut_leaves_nothing(computer: Computer, notes: Path) -> None:
    (notes / "cut.bin").write_bytes(b"before")
    uploads = computer.vault / ".parachute/uploads"
    for head in (b"content-length: 3000000", b"transfer-encoding: chunked"):
        connection = socket.create_connection(("127.0.0.1", computer.port))
        connection.sendall(
            b"PUT /api/files/upload?path=Notes/cut.bin HTTP/1.1\r\nhost: localhost\r\n" + head + b"\r\n\r\n"
        )
        connection.sendall(b"f4240\r\n" * (b"chunked" in head) + b"x" * 1_000_000)
        await asyncio.to_thread(computer.wait_until, lambda: list(uploads.iterdir()), "the upload has begun")
        connection.close()
        await asyncio.to_thread(computer.wait_until, lambda: not list(uploads.iterdir()), "it is gone")
    assert (notes / "cut.bin").read_bytes() == b"before"
    assert [path.name for path in notes.iterdir() if path.name.startswith(".")] == []


async def test_an_upload_for_which_there_is_no_room_is_refused_before_it_comes(computer: Computer, notes: Path) -> None:
    async with computer.client() as client:
        reader, writer = await asyncio.open_connection("127.0.0.1", computer.port)
        size = str(1 << 39).encode()
        writer.write(
            b"PUT /api/files/upload?path=Notes/huge HTTP/1.1\r\nhost: localhost\r\ncontent-length: "
            + size
            + b"\r\n\r\n"
        )
        try:
            assert b" 507 " in await asyncio.wait_for(reader.readline(), DEADLINE)
        finally:
            writer.close()
        assert (await client.get("/api/ls?path=Notes")).status_code == 200
    assert not (notes / "huge").exists()


async def test_a_hostile_page_in_the_vault_is_never_a_page_of_this_computer(computer: Computer, notes: Path) -> None:
    for name in ("x.html", "x.svg", "x.xhtml", "x.js", "x.pdf", "x.xml", 'a".html', "a%0d%0ax: y"):
        (notes / name).write_text("<script>alert(1)</script>")
        async with computer.client() as client:
            answer = await client.get("/api/files/download", params={"path": f"Notes/{name}"})
        assert answer.headers["content-type"] == "application/octet-stream", name
        assert answer.headers["content-disposition"].startswith("attachment; filename*=UTF-8''"), name
        assert (answer.headers["x-content-type-options"], "x" in answer.headers) == ("nosniff", False)


async def test_a_page_from_elsewhere_writes_nothing(computer: Computer, notes: Path) -> None:
    async with computer.client(headers={"origin": "https://evil.example"}) as page:
        for method, path in (
            ("GET", "/api/ls"),
            ("PUT", "/api/files/upload?path=Notes/x"),
            ("DELETE", "/api/files?path=Notes"),
        ):
            assert (await page.request(method, path)).status_code == 403
    assert notes.is_dir()


async def test_what_nobody_may_read_is_a_sentence(computer: Computer, notes: Path) -> None:
    if not os.geteuid():
        pytest.skip("root reads everything")
    (notes / "locked.md").touch(mode=0)
    async with computer.client() as client:
        answer = await client.get("/api/read?path=Notes/locked.md")
    assert (answer.status_code, "locked.md" in answer.json()["detail"]) == (403, True)


async def test_an_endless_file_is_not_read_to_its_end(computer: Computer, notes: Path) -> None:
    with (notes / "hole").open("wb") as file:
        file.truncate(1 << 40)
    async with computer.client() as client:
        part = await client.get("/api/files/download?path=Notes/hole", headers={"range": "bytes=-5"})
        assert (part.status_code, part.content) == (206, b"\0" * 5)
        async with client.stream("GET", "/api/files/download?path=Notes/hole") as whole:
            assert whole.headers["content-length"] == str(1 << 40)
            async for _ in whole.aiter_raw():
                break
        core = computer.find_process("parachute.server")
        await until(
            lambda: all(each.path != str(notes / "hole") for each in core.open_files()), "it is read no more for nobody"
        )
        # It is too much to be kept, so that nothing takes its place by mistake.
        answer = await client.delete("/api/files?path=Notes/hole")
        assert (answer.status_code, answer.json()["key"]) == (409, "too_much_to_keep")
        assert (await client.put("/api/files/upload?path=Notes/hole", content=b"x")).status_code == 409
    (notes / "hole").unlink()


@pytest.mark.long
async def test_a_folder_of_too_many_files_is_not_half_removed(computer: Computer, notes: Path) -> None:
    many = notes / "many"
    many.mkdir()
    for number in range(10_001):
        (many / f"{number}").touch()
    async with computer.client() as client:
        for answer in (
            await client.delete("/api/files?path=Notes/many"),
            await client.post("/api/files/move", json={"path": "Notes/many", "to": "Notes/more"}),
        ):
            assert (answer.status_code, answer.json()["key"]) == (422, "too_many_entries")
    assert len(list(many.iterdir())) == 10_001
    assert not (notes / "more").exists()


@pytest.mark.long
async def test_a_killed_server_leaves_the_file_of_before_or_the_whole_new_one(computer: Computer, notes: Path) -> None:
    _, writer = await asyncio.open_connection("127.0.0.1", computer.port)
    writer.write(
        b"PUT /api/files/upload?path=Notes/killed HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2000000\r\n\r\n"
    )
    writer.write(b"x" * 1_500_000)
    uploads = computer.vault / ".parachute/uploads"
    await asyncio.to_thread(computer.wait_until, lambda: list(uploads.iterdir()), "the upload has begun")
    await asyncio.to_thread(computer.kill_core)
    writer.close()
    assert list(uploads.iterdir()) == []
    assert not (notes / "killed").exists()
    async with computer.client() as client:
        assert (await client.put("/api/files/upload?path=Notes/killed", content=b"whole")).status_code == 200
    assert (notes / "killed").read_bytes() == b"whole"
