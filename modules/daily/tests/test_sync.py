"""The app's file sync: two devices and this computer see one journal."""

import asyncio
import base64
import hashlib
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import pytest
from module import DailyModule

from parachute.core import Caller
from parachute.core.testing import Running, run

TODAY = date.today().isoformat()
"""The day of all entries of a test, also of one that runs over midnight."""

PATH = f"journals/{TODAY}.md"


@pytest.fixture
async def daily() -> AsyncIterator[Running]:
    async with run(DailyModule) as running:
        yield running


@dataclass
class Device:
    """Device as the app is: it compares hashes, pushes its changes and pulls the rest."""

    daily: Running
    key: str = "shared"
    files: dict[str, bytes] = field(default_factory=dict)
    changed: set[str] = field(default_factory=set)

    def write(self, path: str, text: str) -> None:
        self.files[path] = text.encode()
        self.changed.add(path)

    def add(self, name: str, text: str) -> None:
        before = self.files.get(PATH, f"---\ndate: {TODAY}\n---\n".encode()).decode()
        self.write(PATH, f"{before.rstrip()}\n\n# para:daily:{name} 10:00\n\n{text}\n\n---\n")

    def edit(self, old: str, new: str) -> None:
        self.write(PATH, self.files[PATH].decode().replace(old, new))

    async def sync(self) -> dict[str, Any]:
        theirs = {file["path"]: file["hash"] for file in await manifest(self.daily)}
        files = [{"path": path, "content": self.files[path].decode()} for path in sorted(self.changed)]
        answer = await push(self.daily, *files, key=self.key)
        self.changed.clear()
        theirs = {file["path"]: file["hash"] for file in await manifest(self.daily)}
        wanted = [p for p, digest in theirs.items() if digest != hashlib.sha256(self.files.get(p, b"")).hexdigest()]
        body = {"root": "Daily", "paths": wanted}
        pulled = await self.daily.request("POST", "/sync/pull", body, caller=Caller("key", self.key))
        for file in pulled.json()["files"]:
            assert hashlib.sha256(file["content"].encode()).hexdigest() == theirs[file["path"]]
            self.files[file["path"]] = file["content"].encode()
        for path in [path for path in self.files if path not in theirs]:
            del self.files[path]
        return answer


async def manifest(daily: Running, **query: Any) -> list[dict[str, Any]]:
    answer = await daily.get("/sync/manifest", **{"root": "Daily", "pattern": "*.md", "quick": False, **query})
    assert answer.status == 200, answer.text
    files: list[dict[str, Any]] = answer.json()["files"]
    return files


async def push(daily: Running, *files: dict[str, Any], key: str = "") -> dict[str, Any]:
    body = {"root": "Daily", "files": list(files)}
    answer = await daily.request("POST", "/sync/push", body, caller=Caller("key", key))
    assert answer.status == 200, answer.text
    document: dict[str, Any] = answer.json()
    return document


async def texts(daily: Running) -> list[str]:
    return [entry["content"] for entry in (await daily.get("/entries", date=TODAY)).json()["entries"]]


async def test_two_devices_and_the_computer_come_to_the_same(daily: Running) -> None:
    phone, tablet = Device(daily), Device(daily)
    phone.add("aaaaaaaaaaaa", "of the phone")
    await phone.sync()
    await tablet.sync()
    assert tablet.files == phone.files
    phone.add("bbbbbbbbbbbb", "phone again")
    tablet.add("cccccccccccc", "of the tablet")
    tablet.edit("of the phone", "changed on the tablet")
    await daily.post("/entries", {"content": "of the computer", "date": TODAY})
    for device in (phone, tablet, phone):
        answer = await device.sync()
        assert answer["conflicts"] == []
    assert phone.files == tablet.files == {PATH: (daily.vault / "Daily" / PATH).read_bytes()}
    assert sorted(await texts(daily)) == ["changed on the tablet", "of the computer", "of the tablet", "phone again"]
    await daily.module.journal.publisher.settled()
    assert sorted(name for name, _ in daily.published) == [*["daily.entry.created"] * 4, "daily.entry.updated"]
    tablet.edit("of the tablet\n", "x\n")
    await tablet.sync()
    assert "of the tablet" not in await texts(daily)


async def test_what_one_device_removes_is_removed(daily: Running) -> None:
    phone = Device(daily)
    phone.add("aaaaaaaaaaaa", "one")
    phone.add("bbbbbbbbbbbb", "two")
    await phone.sync()
    block = "# para:daily:aaaaaaaaaaaa 10:00\n\none\n\n---\n\n"
    assert block in phone.files[PATH].decode()
    await daily.post("/entries", {"content": "of the computer", "date": TODAY})
    await daily.module.journal.mention("para:daily:aaaaaaaaaaaa", {"para:brain:aaaaaaaaaaaa"})
    await daily.module.journal.mention("para:daily:bbbbbbbbbbbb", {"para:brain:aaaaaaaaaaaa"})
    phone.edit(block, "")
    phone.edit("two", "two, changed")
    await phone.sync()
    assert sorted(await texts(daily)) == ["of the computer", "two, changed"]
    entry = (await daily.get("/entries/para:daily:bbbbbbbbbbbb")).json()
    assert entry["mentions"] == ["para:brain:aaaaaaaaaaaa"]


async def test_an_entry_that_was_just_pushed_can_be_removed(daily: Running) -> None:
    phone = Device(daily)
    phone.add("aaaaaaaaaaaa", "one")
    await phone.sync()
    before = phone.files[PATH]
    phone.add("bbbbbbbbbbbb", "two")
    await phone.sync()
    for left in (["one", "two"], ["one"]):  # the first time it could be another device that does not know it yet
        phone.write(PATH, before.decode())
        await phone.sync()
        assert await texts(daily) == left


@pytest.mark.parametrize("key", ["shared", "key of the tablet"])
async def test_both_change_the_same_entry(daily: Running, key: str) -> None:
    phone, tablet = Device(daily), Device(daily, key)
    phone.add("aaaaaaaaaaaa", "Met Kevin today.")
    await phone.sync()
    await tablet.sync()
    phone.edit("today.", "today. He looked tired.")
    tablet.edit("today.", "today. We spoke about the garden.")
    for device in (phone, tablet, phone, tablet):
        await device.sync()
    assert sorted(await texts(daily)) == [
        "Met Kevin today. He looked tired.",
        "Met Kevin today. We spoke about the garden.",
    ]
    assert phone.files == tablet.files


async def test_a_text_is_not_lost_to_a_change_that_says_it_is_newer(daily: Running) -> None:
    """The app sends back the `updated` that it has read, whatever it has changed since."""
    phone = Device(daily)
    phone.add("aaaaaaaaaaaa", "Met Kevin.")
    await phone.sync()
    await daily.put("/entries/para:daily:aaaaaaaaaaaa", {"content": "Met Kevin. He is well."})
    await phone.sync()
    phone.edit("He is well.", "He is well, and grows beans.")
    await daily.put("/entries/para:daily:aaaaaaaaaaaa", {"content": "Met Kevin. He is fine."})
    await phone.sync()
    assert sorted(await texts(daily)) == ["Met Kevin. He is fine.", "Met Kevin. He is well, and grows beans."]


async def test_one_device_changes_an_entry_again_and_again(daily: Running) -> None:
    phone = Device(daily)
    phone.add("aaaaaaaaaaaa", "Met")
    await phone.sync()
    for before, after in (
        ("Met", "Met Kevin"),
        ("Kevin", "Kevin, who sends regards"),
        ("regards", "his regards. Fine."),
    ):
        phone.edit(before, after)
        await daily.post("/entries", {"content": f"computer {len(after)}", "date": TODAY})
        await phone.sync()
    assert len(await texts(daily)) == 4
    assert (await texts(daily))[0] == "Met Kevin, who sends his regards. Fine."


async def test_a_clock_that_is_wrong_does_no_harm(daily: Running) -> None:
    """Times of change on the server lie in the future or long ago; what is known of contents decides."""
    phone, tablet = Device(daily), Device(daily)
    phone.add("aaaaaaaaaaaa", "one")
    await phone.sync()
    for skew in (3600, -86400 * 400):
        path = daily.vault / "Daily" / PATH
        os.utime(path, (path.stat().st_mtime + skew,) * 2)
        await tablet.sync()
        tablet.add(f"{'b' * 11}{abs(skew) % 7}", f"skew {skew}")
        await tablet.sync()
        await phone.sync()
    assert await texts(daily) == ["one", "skew 3600", "skew -34560000"]
    assert phone.files == tablet.files
    changed = (await daily.get("/sync/changes", root="Daily", since=path.stat().st_mtime + 60)).json()
    assert [file["path"] for file in changed["files"]] == [PATH]
    changed = (await daily.get("/sync/changes", root="Daily", since=path.stat().st_mtime + 600)).json()
    assert changed["files"] == []


async def test_equal_content_leaves_the_file_alone(daily: Running) -> None:
    file = {"path": PATH, "content": "# para:abc123 10:00\r\n\r\nText\r\n"}
    assert (await push(daily, file))["pushed"] == 1
    path = daily.vault / "Daily" / PATH
    assert path.read_bytes() == file["content"].encode()
    before = path.stat()
    assert (await push(daily, file))["pushed"] == 1
    assert path.stat() == before
    pulled = (await daily.post("/sync/pull", {"root": "Daily", "paths": [PATH]})).json()["files"][0]
    assert (pulled["content"], pulled["is_binary"]) == (file["content"], False)


async def test_other_files_keep_both_versions(daily: Running) -> None:
    reflection = daily.vault / f"Daily/reflections/{TODAY}.md"
    reflection.parent.mkdir(parents=True)
    reflection.write_text("by hand")
    file = {"path": f"reflections/{TODAY}.md", "content": "of the phone"}
    answer = await push(daily, file)
    assert reflection.read_text() == "of the phone"
    (copy,) = answer["conflicts"]
    assert (daily.vault / "Daily" / copy).read_text() == "by hand"
    again = await push(daily, {**file, "content": "of the phone, later"})
    assert again["conflicts"] == []
    versions = (await daily.request("GET", "/versions", query={"path": file["path"]})).json()["versions"]
    contents = [(await daily.get(f"/versions/{version['id']}")).body for version in versions]
    assert contents == [b"of the phone", b"by hand"]


@pytest.mark.parametrize("content", ["---\ndate: [\n---\n# para:daily:aaaaaaaaaaaa 1\n\nx\n", "---\nno end\n"])
async def test_a_day_that_cannot_be_merged_keeps_both_versions(daily: Running, content: str) -> None:
    await daily.post("/entries", {"content": "of the computer", "date": TODAY})
    answer = await push(daily, {"path": PATH, "content": content})
    (copy,) = answer["conflicts"]
    assert "of the computer" in (daily.vault / "Daily" / copy).read_text()
    assert (daily.vault / "Daily" / PATH).read_text() == content
    paths = [problem["path"] for problem in (await daily.get("/problems")).json()["problems"]]
    assert paths == [f"Daily/{PATH}", f"Daily/{copy}"]


async def test_binary_files_and_signs_that_are_no_text(daily: Running) -> None:
    data = bytes(range(256))
    content = base64.b64encode(data).decode()
    sound = {"path": f"assets/{TODAY}/Ton ♪ 1.wav", "content": content, "is_binary": True}
    assert (await push(daily, sound))["pushed"] == 1
    (daily.vault / "Daily/notes.md").write_bytes(b"caf\xe9")
    assert [file["path"] for file in await manifest(daily)] == ["notes.md"]
    assert [file["path"] for file in await manifest(daily, pattern="*", include_binary=True)] == [
        sound["path"],
        "notes.md",
    ]
    assert [file["path"] for file in await manifest(daily, date=TODAY, include_binary=True)] == [sound["path"]]
    answer = await daily.post("/sync/pull", {"root": "Daily", "paths": [sound["path"], "notes.md", "none.md"]})
    files = answer.json()["files"]
    assert [base64.b64decode(file["content"]) for file in files] == [data, b"caf\xe9"]
    assert [file["hash"] for file in files] == [hashlib.sha256(d).hexdigest() for d in (data, b"caf\xe9")]
    assert len(answer.json()["errors"]) == 1
    wrong = await push(daily, {**sound, "content": "no base64!"}, {"path": "a.md", "content": "x"})
    assert (wrong["pushed"], len(wrong["errors"])) == (1, 1)


async def test_deleted_files_can_be_brought_back(daily: Running) -> None:
    await push(daily, {"path": PATH, "content": "# para:abc123 10:00\n\nText\n"}, {"path": "x.md", "content": "y"})
    answer = await daily.delete("/sync/files", root="Daily", paths=[PATH, "x.md", "none.md"])
    assert (answer.status, answer.json()["deleted"]) == (200, 2)
    assert await manifest(daily) == []
    assert await texts(daily) == []
    for version in (await daily.get("/versions")).json()["versions"]:
        await daily.post(f"/versions/{version['id']}/restore")
    assert await texts(daily) == ["Text"]
    await daily.post("/entries", {"content": "nobody has seen this", "date": TODAY})
    answer = await daily.delete("/sync/files", root="Daily", paths=[PATH])
    assert answer.json()["deleted"] == 0
    assert await texts(daily) == ["Text", "nobody has seen this"]


async def test_an_entry_that_comes_while_its_day_is_deleted_stays(daily: Running) -> None:
    """The file is deleted only as a device has seen it."""
    await push(daily, {"path": PATH, "content": "# para:abc123 10:00\n\nText\n"})
    seen = daily.module.versions.has_seen
    writing: list[asyncio.Task[Any]] = []

    async def has_seen(path: str, digest: str) -> bool:
        answer: bool = await seen(path, digest)
        writing.append(asyncio.create_task(daily.post("/entries", {"content": "just now", "date": TODAY})))
        # Whoever does not wait for the deletion has written by then.
        await asyncio.wait(writing, timeout=0.3)
        return answer

    daily.module.versions.has_seen = has_seen
    await daily.delete("/sync/files", root="Daily", paths=[PATH])
    await asyncio.gather(*writing)
    assert await texts(daily) == ["just now"]


async def test_files_of_a_clock_that_is_ahead_are_not_read_again_and_again(daily: Running) -> None:
    path = daily.vault / "Daily/journals/2025-03-04.md"
    path.parent.mkdir(parents=True)
    path.write_text("# para:abc123 10:00\n\nText\n")
    os.utime(path, (path.stat().st_mtime + 86400,) * 2)
    reads: list[str] = []
    reading = daily.core.files.read_bytes

    async def read_bytes(path: str) -> bytes:
        reads.append(path)
        data: bytes = await reading(path)
        return data

    daily.core.files.read_bytes = read_bytes  # type: ignore[method-assign]
    for _ in range(3):
        await manifest(daily)
        assert (await daily.get("/entries/para:abc123")).status == 200
    assert len(reads) == 2  # for its hash, and for its entries


@pytest.mark.parametrize("size", [100, 9_000_000])
async def test_a_large_recording_comes_back(daily: Running, size: int) -> None:
    path = daily.vault / "Daily/assets/x.wav"
    path.parent.mkdir(parents=True)
    data = os.urandom(size)
    path.write_bytes(data)
    assert (await daily.delete("/sync/files", root="Daily", paths=["assets/x.wav"])).json()["deleted"] == 1
    assert not path.exists()
    assert (await daily.get("/versions/1")).body == data
    assert (await daily.post("/versions/1/restore")).status == 200
    assert path.read_bytes() == data


async def test_nothing_else_can_be_reached(daily: Running) -> None:
    vault = daily.vault
    (vault / "Daily/.agents").mkdir(parents=True)
    (vault / "Daily/.hidden").mkdir()
    for path in ("outside.md", "Daily/.env", "Daily/.hidden/a.md", "Daily/server.key", "Daily/.agents/.secret.md"):
        (vault / path).write_text("secret")
    (vault / "Daily/link.md").symlink_to(vault / "outside.md")
    (vault / "Daily/folder").symlink_to(vault)
    (vault / "Daily/.agents/reflection.md").write_text("agent")
    assert [file["path"] for file in await manifest(daily, pattern="*", include_binary=True)] == [
        ".agents/reflection.md"
    ]
    paths = [
        "../outside.md",
        "journals/../../outside.md",
        "/etc/passwd",
        "..\\outside.md",
        ".env",
        ".hidden/a.md",
        "server.key",
        "ID_RSA",
        ".agents",
        ".agents/.secret.md",
        "journals/.agents/x.md",
        "link.md",
        "folder/outside.md",
        "journals//x.md",
        "./x.md",
        "a\0b.md",
        "a\nb.md",
        "",
        "x" * 300,
    ]
    pulled = (await daily.post("/sync/pull", {"root": "Daily", "paths": paths})).json()
    assert (pulled["files"], len(pulled["errors"])) == ([], len(paths))
    pushed = await push(daily, *({"path": path, "content": "changed"} for path in paths))
    assert (pushed["pushed"], len(pushed["errors"])) == (0, len(paths))
    assert (vault / "outside.md").read_text() == "secret"
    deleted = (await daily.delete("/sync/files", root="Daily", paths=paths)).json()
    assert deleted["deleted"] == 1  # the link itself
    assert (vault / "outside.md").read_text() == "secret"
    assert (await push(daily, {"path": ".agents/new.md", "content": "agent"}))["pushed"] == 1
    # What agents are told is read by devices, and changed by none.
    (daily.vault / "Daily/AGENTS.md").write_text("Be kind.")
    told = await push(daily, *({"path": path, "content": "Obey."} for path in ("AGENTS.md", "prompt.md", "a/SKILL.md")))
    assert (told["pushed"], len(told["errors"])) == (0, 3)
    gone = await daily.request("DELETE", "/sync/files", {"root": "Daily", "paths": ["AGENTS.md"]})
    assert (gone.json()["deleted"], (daily.vault / "Daily/AGENTS.md").read_text()) == (0, "Be kind.")
    for root in ("", "Brain", "Daily/journals", "../Daily", "/", "."):
        assert (await daily.get("/sync/manifest", root=root)).status == 403
        assert (await daily.post("/sync/push", {"root": root, "files": []})).status == 403
        assert (await daily.post("/sync/pull", {"root": root, "paths": []})).status == 403
        assert (await daily.delete("/sync/files", root=root, paths=["x.md"])).status == 403
    for body in (b"[]", b"{", b'{"root": "Daily"}', b'{"root": "Daily", "files": [{"path": "x.md"}]}'):
        assert (await daily.post("/sync/push", body)).status in (400, 422)


async def test_old_days_are_taken_over_without_events(daily: Running) -> None:
    await push(daily, {"path": "journals/2019-05-05.md", "content": "# para:abc123 10:00\n\nLong ago\n"})
    await daily.module.journal.publisher.settled()
    assert daily.published == []
    assert [e["date"] for e in (await daily.get("/search", q="ago")).json()["entries"]] == ["2019-05-05"]
