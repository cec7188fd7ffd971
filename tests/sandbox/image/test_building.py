"""Builds of the image: what is used afterwards, and what is left of one that failed, was ended, or was cut off."""

import asyncio
import errno
import os
import signal
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from parachute.base.errors import InvalidInput
from parachute.sandbox.image import building, recipe
from parachute.sandbox.image.models import Image, changed
from tests.sandbox.engines.sandboxes import marker
from tests.sandbox.image.conftest import DATABASE, Programs
from tests.supervisor.launching import with_argument
from tests.support.errors import raises
from tests.support.waiting import wait_until

pytestmark = pytest.mark.process


async def works(image: str) -> None:
    """A container of any image is as it has to be."""


async def fails(image: str) -> None:
    """No container is."""
    raise InvalidInput("The container is not shut in.")


def silent(line: str) -> None:
    """Nobody listens."""


async def test_an_image_is_imported_tried_and_remembered(home: Path, programs: Programs) -> None:
    lines: list[str] = []
    tried: list[str] = []

    async def attempt(image: str) -> None:
        assert Image.load(home) is None, "not before it works"
        tried.append(image)

    image = await building.build(home, lines.append, attempt)
    assert Image.load(home) == image
    assert tried == [image.id] == list(programs.images)
    assert programs.images[image.id] == [image.tag] == [f"localhost/parachute-sandbox:{recipe.digest()}"]
    assert "retrieving packages" in lines
    assert "what a package says" not in lines
    assert not building.workplace_of(home).exists()
    assert f"--change=LABEL=org.parachute.recipe={recipe.digest()}" in programs.calls[1]


async def test_one_that_does_not_work_leaves_the_one_before(home: Path, programs: Programs) -> None:
    image = await building.build(home, silent, works)
    stamp = changed(home)
    # The same root gives the same image: then it is the one before. Another one is tried by the contract with Podman.
    with pytest.raises(InvalidInput, match="not shut in"):
        await building.build(home, silent, fails)
    assert (Image.load(home), changed(home), list(programs.images)) == (image, stamp, [image.id])


@pytest.mark.long
async def test_one_that_a_container_still_runs_from_is_removed_by_a_later_build(
    home: Path, programs: Programs, tmp_path: Path
) -> None:
    first = await building.build(home, silent, works)
    (programs.folder / "runs").write_text(first.id)
    images = []
    for mark in (b"second\n", b"third\n", b"fourth\n"):
        write_root(tmp_path / "root.tar", mark)
        images.append(await building.build(home, silent, works, tmp_path / "root.tar"))
        if mark == b"third\n":
            assert set(programs.images) == {first.id, images[1].id}
            (programs.folder / "runs").unlink()
    assert list(programs.images) == [images[2].id]


async def test_a_disk_that_takes_nothing_is_named(
    home: Path, programs: Programs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    image = await building.build(home, silent, works)
    write_root(tmp_path / "root.tar", b"other\n")

    with monkeypatch.context() as full:

        async def fills(identifier: str) -> None:
            full.setattr(os, "fsync", no_space)

        def no_space(descriptor: int) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        with raises("image_not_kept", names="No space left on device"):
            await building.build(home, silent, fills, tmp_path / "root.tar")
    assert (Image.load(home), list(programs.images)) == (image, [image.id])
    with raises("image_not_kept", names="missing"):
        await building.write_root(tmp_path / "missing/root.tar", silent)


@pytest.mark.long
async def test_versions_of_packages_are_noted_and_a_new_build_says_what_changed(
    home: Path, programs: Programs, tmp_path: Path
) -> None:
    image = await building.build(home, silent, works)
    assert image.packages == {"curl": "8.14.1-2", "git": "1:2.47.3-0+deb13u1"}
    assert Image.load(home) == image
    lines: list[str] = []
    other = tmp_path / "other.tar"
    write_root(other, b"other\n", DATABASE.replace("8.14.1-2", "8.14.1-3").replace("git", "jq"))
    replaced = await building.build(home, lines.append, works, other)
    assert replaced.packages == {"curl": "8.14.1-3", "jq": "1:2.47.3-0+deb13u1"}
    assert lines[-4:-1] == [
        "curl is 8.14.1-3 now, and was 8.14.1-2.",
        "git 1:2.47.3-0+deb13u1 has gone.",
        "jq 1:2.47.3-0+deb13u1 is new.",
    ]
    bare = tmp_path / "bare.tar"
    write_root(bare, b"bare\n")
    lines.clear()
    assert (await building.build(home, lines.append, works, bare)).packages == {}
    assert not any(" has gone." in line for line in lines), "it is not known what is in it"


async def test_what_mmdebstrap_says_last_is_told(home: Path, programs: Programs) -> None:
    (programs.folder / "fails").touch()
    with raises("program_failed", names="no such mirror"):
        await building.build(home, silent, works)
    assert (Image.load(home), programs.images) == (None, {})


async def test_there_is_one_build_at_a_time(home: Path, programs: Programs) -> None:
    trying, go_on = asyncio.Event(), asyncio.Event()

    async def attempt(image: str) -> None:
        trying.set()
        await go_on.wait()

    first = asyncio.create_task(building.build(home, silent, attempt))
    await trying.wait()
    with raises("under_way"):
        await building.build(home, silent, works)
    go_on.set()
    assert await first == Image.load(home)
    await building.build(home, silent, works)


async def test_one_that_is_ended_leaves_nothing(home: Path, programs: Programs) -> None:
    mark = marker()
    (programs.folder / "hangs").write_text(mark)
    task = asyncio.create_task(building.build(home, silent, works))
    await asyncio.to_thread(wait_until, lambda: with_argument(mark), "it works")
    assert building.workplace_of(home).exists()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    # They were killed, which is done a moment after it was asked for.
    await asyncio.to_thread(wait_until, lambda: not with_argument(mark), "all has ended")
    assert not building.workplace_of(home).exists()
    (programs.folder / "hangs").unlink()
    assert await building.build(home, silent, works) == Image.load(home)


@pytest.mark.skipif(os.geteuid() != 0, reason="Only root's mounts are seen by others.")
async def test_what_root_has_mounted_goes_with_it(
    home: Path, programs: Programs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    mark, kept = marker(), tmp_path / "kept"
    kept.mkdir()
    (kept / "file").touch()
    program = programs.folder / "bin/mmdebstrap"
    program.write_text(f'#!/bin/sh\nmkdir "$TMPDIR/m" && mount --bind {kept} "$TMPDIR/m" && sleep {mark}\n')
    task = asyncio.create_task(building.write_root(tmp_path / "root.tar", silent))
    await asyncio.to_thread(wait_until, lambda: with_argument(mark), "it works")
    place = building.workplace_of(tmp_path / "root.tar")
    assert str(place) not in Path("/proc/self/mountinfo").read_text()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not place.exists()
    assert (kept / "file").exists()


async def test_one_whose_process_is_killed_ends_and_the_next_tidies_up(home: Path, programs: Programs) -> None:
    mark = marker()
    (programs.folder / "hangs").write_text(mark)
    code = (
        "import asyncio, os, pathlib, sys; os.geteuid = lambda: 1000; from parachute.sandbox.image import building; "
        "asyncio.run(building.build(pathlib.Path(sys.argv[1]), print, None))"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(home)], stdout=subprocess.DEVNULL) as process:
        await asyncio.to_thread(wait_until, lambda: with_argument(mark), "it works")
        process.send_signal(signal.SIGKILL)
    await asyncio.to_thread(wait_until, lambda: not with_argument(mark), "all has ended")
    (programs.folder / "hangs").unlink()
    await building.build(home, silent, works)
    assert not building.workplace_of(home).exists()


async def test_a_file_that_is_no_root_is_refused(home: Path, programs: Programs, tmp_path: Path) -> None:
    path = tmp_path / "root.tar"
    for content in (b"", b"no tarball", b"\x1f\x8b broken"):
        path.write_bytes(content)
        with raises("unreadable", names=r"root\.tar"):
            await building.build(home, silent, works, path)
        assert programs.images == {}


async def test_a_root_of_something_else_is_refused(home: Path, programs: Programs, tmp_path: Path) -> None:
    path = tmp_path / "root.tar"
    for mark in (None, b"", b"two words\n", b"../../x\n", b"x" * 99):
        write_root(path, mark)
        with raises("no_image"):
            await building.build(home, silent, works, path)
        with raises("unreadable"):
            await building.build(home, silent, works, tmp_path / "missing.tar")
        assert programs.images == {}


async def test_root_builds_no_image(home: Path, programs: Programs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with raises("started_by_root"):
        await building.build(home, silent, works)
    assert programs.calls == []


async def test_a_program_that_is_missing_is_named(
    home: Path, programs: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    (programs.folder / "bin/mmdebstrap").unlink()
    monkeypatch.setenv("PATH", str(programs.folder / "bin"))
    with raises("program_missing", names="mmdebstrap") as caught:
        await building.build(home, silent, works)
    assert "--from-tar" in (caught.value.hint or "")
    (programs.folder / "bin/podman").unlink()
    with raises("program_missing", names="Podman"):
        await building.build(home, silent, works)


async def test_a_root_for_another_machine(home: Path, programs: Programs, tmp_path: Path) -> None:
    path = tmp_path / "made.tar"
    await building.write_root(path, silent)
    assert recipe.read_root(path)[0] == recipe.digest()
    assert programs.images == {}
    written = path.read_bytes()
    with raises("output_exists"):
        await building.write_root(path, silent)
    assert path.read_bytes() == written
    image = await building.build(home, silent, works, path)
    assert image.recipe == recipe.digest()
    assert path.exists()


def write_root(path: Path, mark: bytes | None, database: str | None = None) -> None:
    """A tarball whose mark is this, or which has none, and with dpkg's database."""
    content = path.with_name("content")
    content.write_bytes(mark or b"")
    with tarfile.open(path, "w") as root:
        root.add(content, "etc/hostname" if mark is None else "etc/parachute-recipe")
        if database is not None:
            content.write_text(database)
            root.add(content, "var/lib/dpkg/status")
