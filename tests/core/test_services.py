"""Files, storage and settings of a module."""

import asyncio
import errno
import os
from pathlib import Path

import pytest

from parachute.core import InvalidInput, Module, ModuleError, NotAllowed, NotFound
from parachute.core.files import Files
from parachute.core.patterns import Pattern
from parachute.core.storage import LARGEST_VALUE, Storage
from parachute.core.testing import run
from tests.support.errors import raises


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    vault = tmp_path / "vault"
    for name in ("Notes/a.md", "Notes/deep/b.md", "Notes/.hidden/c.md", "Notes/[x].md", "Brain/kevin.md"):
        (vault / name).parent.mkdir(parents=True, exist_ok=True)
        (vault / name).write_text(name)
    (vault / ".parachute").mkdir()
    (vault / ".parachute" / "token").write_text("secret")
    (tmp_path / "outside.md").write_text("secret")
    return vault


@pytest.mark.parametrize("links", [True, False])
async def test_a_file_is_moved_only_where_there_is_nothing(
    vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool
) -> None:
    if not links:  # as on a card with FAT

        def refuse(*_: object, **__: object) -> None:
            raise OSError(errno.EPERM, "no links here")

        monkeypatch.setattr("parachute.base.replacing.os.link", refuse)
    files, folder = Files(vault, write=["Notes/**"]), vault / "Notes" / "taken"
    folder.mkdir()
    (folder / "file.md").write_text("mine")
    (folder / "link.md").symlink_to(tmp_path / "nowhere.md")
    (folder / "folder.md").mkdir()
    for name in ("file.md", "link.md", "folder.md"):
        assert await files.rename("Notes/a.md", f"Notes/taken/{name}", replacing=False) is False
    assert (folder / "file.md").read_text() == "mine"
    assert (folder / "link.md").is_symlink()
    assert (vault / "Notes/a.md").read_text() == "Notes/a.md"
    assert await files.rename("Notes/a.md", "Notes/new/b.md", replacing=False) is True
    assert (vault / "Notes/new/b.md").read_text() == "Notes/a.md"
    assert not (vault / "Notes/a.md").exists()


async def test_files_are_read_and_written_within_the_permissions(vault: Path) -> None:
    files = Files(vault, read=["Brain/*.md"], write=["Notes/**"])
    assert await files.read("Brain/kevin.md") == "Brain/kevin.md"
    assert await files.read("Notes/./deep//b.md") == "Notes/deep/b.md"
    await files.write("Notes/new/folder/ä.md", "Grüße")
    assert (vault / "Notes/new/folder/ä.md").read_text() == "Grüße"
    (vault / "Notes/a.md").chmod(0o640)
    await files.write("Notes/a.md", b"\xff")
    assert (vault / "Notes/a.md").read_bytes() == b"\xff"
    assert (vault / "Notes/a.md").stat().st_mode & 0o777 == 0o640
    with raises("not_text"):
        await files.read("Notes/a.md")
    await files.rename("Notes/a.md", "Notes/moved/a.md")
    assert await files.exists("Notes/moved/a.md")
    assert not await files.exists("Notes/a.md")
    await files.delete("Notes/moved/a.md")
    with pytest.raises(NotFound):
        await files.read("Notes/moved/a.md")
    assert [path.name for path in (vault / "Notes").iterdir() if path.name.endswith(("tmp", "~"))] == []
    assert [entry.name for entry in await files.list("Notes/new")] == ["folder"]
    assert [(entry.path, entry.kind) for entry in await files.list("")] == [("Brain", "folder"), ("Notes", "folder")]
    assert await files.glob("**/*.md") == [
        "Brain/kevin.md",
        "Notes/.hidden/c.md",
        "Notes/[x].md",
        "Notes/deep/b.md",
        "Notes/new/folder/ä.md",
    ]
    assert await files.glob("Notes/[x].md") == ["Notes/[x].md"]


async def test_paths_that_lead_out_are_refused(vault: Path) -> None:
    for path in (
        "../outside.md",
        "Notes/../../outside.md",
        "Notes/../.parachute/token",
        "/etc/passwd",
        "~/x",
        ".parachute/token",
        "./.parachute/token",
        "Brain/kevin.md",
        "notes/a.md",
        "Notes2/a.md",
        "",
        ".",
        "Notes\0/a.md",
        "Notes\\..\\a.md",
    ):
        files = Files(vault, write=["Notes/**"])
        for attempt in (files.read(path), files.write(path, "x"), files.delete(path), files.rename(path, "Notes/z.md")):
            with pytest.raises((InvalidInput, NotAllowed)):
                await attempt
        assert (vault / ".parachute/token").read_text() == "secret", path
        assert (vault / "Brain/kevin.md").exists(), path


async def test_everything_does_not_mean_what_the_computer_hides(vault: Path) -> None:
    files = Files(vault, write=["**"])
    with pytest.raises(NotAllowed):
        await files.read(".parachute/token")
    with pytest.raises(NotAllowed):
        await files.write(".parachute/x", "x")
    assert ".parachute" not in [entry.name for entry in await files.list()]
    assert await files.glob(".parachute/*") == []


async def test_links_are_not_followed(vault: Path, tmp_path: Path) -> None:
    files = Files(vault, write=["Notes/**"])
    (vault / "Notes/file.md").symlink_to(tmp_path / "outside.md")
    (vault / "Notes/folder").symlink_to(tmp_path)
    (vault / "Notes/inner.md").symlink_to("a.md")
    for path in ("Notes/file.md", "Notes/folder/outside.md", "Notes/inner.md"):
        with raises("not_as_expected"):
            await files.read(path)
    with raises("not_as_expected"):
        await files.write("Notes/folder/new.md", "x")
    # A link in the place of the file is replaced, and what it led to stays.
    await files.write("Notes/file.md", "x")
    assert (tmp_path / "outside.md").read_text() == "secret"
    assert not (vault / "Notes/file.md").is_symlink()
    assert not (tmp_path / "new.md").exists()
    assert {entry.name for entry in await files.list("Notes")} == {".hidden", "[x].md", "a.md", "deep", "file.md"}
    assert "Notes/folder/outside.md" not in await files.glob("**")


async def test_what_is_no_file_is_refused(vault: Path) -> None:
    files = Files(vault, write=["Notes/**"])
    os.mkfifo(vault / "Notes/pipe")
    for path in ("Notes/pipe", "Notes/deep"):
        with pytest.raises(InvalidInput):
            await asyncio.wait_for(files.read(path), 60)
    with pytest.raises(InvalidInput):
        await files.write("Notes/deep", "x")
    assert sorted(path.name for path in (vault / "Notes").iterdir()) == [".hidden", "[x].md", "a.md", "deep", "pipe"]
    with pytest.raises(InvalidInput):
        await files.list("Notes/a.md")
    with raises("invalid_name"):
        await files.write("Notes/" + "x" * 300, "x")


def test_patterns() -> None:
    for pattern, path, expected in (
        ("Daily/**", "Daily/a/b.md", True),
        ("Daily/**", "Daily", True),
        ("Daily/", "Daily/a/b.md", True),
        ("Daily/**", "Dailyx/a.md", False),
        ("Daily/*.md", "Daily/a.md", True),
        ("Daily/*.md", "Daily/a/b.md", False),
        ("**/notes.md", "a/b/notes.md", True),
        ("**/notes.md", "notes.md", True),
        ("a?c", "abc", True),
        ("a.c", "abc", False),
        ("[ab]", "a", False),
        ("**", ".git/config", False),
        ("*/config", ".git/config", False),
        (".skills/**", ".skills/a.md", True),
        ("Daily/**", "Daily/.agents/x.md", True),
    ):
        assert Pattern.parse(pattern).matches(tuple(path.split("/"))) is expected


class Keeper(Module):
    name = "keeper"


async def test_storage_keeps_json_values(tmp_path: Path) -> None:
    storage = Storage(tmp_path / "data" / "storage.db")
    await storage.set("a/1", {"x": [1, None, "ä"]})
    await storage.set("a/2", 2)
    await storage.set("a/2", 3)
    await storage.set("b%", True)
    assert await storage.get("a/1") == {"x": [1, None, "ä"]}
    assert await storage.get("a/2") == 3
    assert await storage.get("none", "default") == "default"
    assert await storage.keys("a/") == ["a/1", "a/2"]
    assert await storage.keys("b%") == ["b%"]
    assert await storage.delete("a/1") is True
    assert await storage.delete("a/1") is False
    storage.close()
    assert await Storage(tmp_path / "data" / "storage.db").keys() == ["a/2", "b%"]
    assert (tmp_path / "data" / "storage.db").stat().st_mode & 0o077 == 0
    with raises("storage_key_invalid"):
        await storage.set("", 1)
    with raises("value_too_large"):
        await storage.set("big", "x" * LARGEST_VALUE)
    with pytest.raises(ModuleError):
        await storage.set("odd", object())
    assert await storage.keys() == ["a/2", "b%"]
    storage.close()


async def test_many_writers_at_once(tmp_path: Path) -> None:
    first, second = Storage(tmp_path / "storage.db"), Storage(tmp_path / "storage.db")
    await asyncio.gather(*(store.set(f"{n}", n) for n in range(20) for store in (first, second)))
    assert len(await first.keys()) == 20
    first.close()
    second.close()


async def test_settings_know_their_names() -> None:
    async with run(Keeper, settings={"city": "Rome", "days": 3}) as keeper:
        settings = keeper.core.settings
        assert await settings.all() == {"city": "Rome", "days": 3}
        await settings.set("city", "Oslo")
        assert await settings.get("city") == "Oslo"
        await settings.delete("city")
        assert await settings.get("city") == "Rome"
        with raises("unknown_setting"):
            await settings.get("town")


async def test_an_agent_is_run_by_its_name() -> None:
    async with run(Keeper, agents={"writer": "done"}) as keeper:
        assert await keeper.module.run_agent("writer", "Write.") == "done"
        assert keeper.fake.prompts == [("writer", "Write.")]
        with pytest.raises(NotFound):
            await keeper.module.run_agent("reader", "Read.")
