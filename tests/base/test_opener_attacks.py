"""Attacks on the opener of folders by a writer below them: with links, pipes, devices, mounts, names, depth and a lack of descriptors."""

import ctypes
import errno
import os
import resource
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from parachute.base import openat2
from parachute.base.errors import InvalidInput
from parachute.base.folders import Folder, TooMany
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.usefixtures("way"), pytest.mark.process]

SECRET = b"the secret"
PATH = "a/b/c"
_EXCHANGE = """
import ctypes, os, sys
exchange = ctypes.CDLL(None).renameat2
print("begun", flush=True)
while os.getppid() == int(sys.argv[3]):
    exchange(-100, sys.argv[1].encode(), -100, sys.argv[2].encode(), 2)
"""


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """Create a folder that must neither be read nor changed, laid out as the folder itself is."""
    (tmp_path / "outside/b").mkdir(parents=True)
    for name in ("c", "b/c"):
        (tmp_path / "outside" / name).write_bytes(SECRET)
    return tmp_path / "outside"


@pytest.fixture
def place(tmp_path: Path, outside: Path) -> Path:
    (tmp_path / "root/a/b").mkdir(parents=True)
    (tmp_path / "root/a/b/c").write_bytes(b"mine")
    return tmp_path / "root"


@pytest.fixture
def root(place: Path) -> Iterator[Folder]:
    with Folder.open(place) as folder:
        yield folder


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _write_in_pieces(root: Folder, path: str) -> None:
    with root.replacement(path) as new:
        new.write(b"new")
        new.commit()


def _read(root: Folder, path: str) -> bytes:
    with root.file(path) as file:
        return file.read()


def _walked(root: Folder, path: str) -> list[str]:
    with root.folder(path) as folder:
        return [f"{place}/{each.name}" for place, _, entries in folder.walk() for each in entries]


def _descriptor(root: Folder, path: str, flags: int) -> None:
    os.close(root.descriptor(path, flags))


READING: dict[str, Callable[[Folder, str], object]] = {
    "read": lambda root, path: root.read(path, 100),
    "file": _read,
    "descriptor": lambda root, path: _descriptor(root, path, os.O_RDONLY | os.O_NONBLOCK),
    "a hold on a file": lambda root, path: _descriptor(root, path, os.O_PATH),
    "identity": lambda root, path: root.identity(path),
    "folder": lambda root, path: root.folder(path).close(),
    "walk": _walked,
}
WRITING: dict[str, Callable[[Folder, str], object]] = {
    "write": lambda root, path: root.write(path, b"new"),
    "write in pieces": _write_in_pieces,
    "append": lambda root, path: _descriptor(root, path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_TRUNC),
    "make folders": lambda root, path: root.folder(f"{path}/made", make=True).close(),
    "remove": lambda root, path: root.remove(path),
    "remove a tree": lambda root, path: root.remove_tree(path),
    "remove a folder": lambda root, path: root.remove_folder(path),
    "rename": lambda root, path: root.rename(path, root, "moved"),
    "rename to": lambda root, path: root.rename("other", root, path),
    "rename to what is free": lambda root, path: root.rename("other", root, path, replacing=False),
}


@pytest.mark.parametrize("position", ["a", "a/b", "a/b/c"])
def test_nothing_is_read_behind_a_link(root: Folder, place: Path, outside: Path, position: str) -> None:
    _put_link(place, position, outside)
    for operation, does in READING.items():
        with pytest.raises(OSError) as refused:
            does(root, PATH)
        assert refused.value.errno in (errno.ELOOP, errno.ENOTDIR), operation


@pytest.mark.parametrize("position", ["a", "a/b", "a/b/c"])
@pytest.mark.parametrize("operation", WRITING)
def test_nothing_is_changed_behind_a_link(
    root: Folder, place: Path, outside: Path, position: str, operation: str
) -> None:
    before = contents(outside)
    (place / "other").write_text("other")
    _put_link(place, position, outside)
    with suppress(OSError):
        WRITING[operation](root, PATH)
    assert contents(outside) == before
    assert sorted(path.name for path in outside.rglob("*")) == ["b", "c", "c"]


def _put_link(place: Path, position: str, outside: Path) -> None:
    below = {"a": outside, "a/b": outside / "b", "a/b/c": outside / "b/c"}
    (place / position).rename(place / "away")
    (place / position).symlink_to(below[position])


@contextmanager
def exchanging(one: Path, other: Path) -> Iterator[None]:
    """A process that puts each of two in the place of the other, again and again, at once."""
    command = [sys.executable, "-c", _EXCHANGE, str(one), str(other), str(os.getpid())]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            yield
        finally:
            process.kill()


def test_a_folder_that_is_exchanged_with_a_link_all_the_time_leads_nowhere(
    root: Folder, place: Path, outside: Path, tmp_path: Path
) -> None:
    before = contents(outside)
    (tmp_path / "link").symlink_to(outside)
    refused = 0
    with exchanging(place / "a", tmp_path / "link"):
        for _ in range(60):
            for operation in ({**READING, **WRITING}).values():
                try:
                    assert operation(root, PATH) != SECRET
                except (OSError, InvalidInput):
                    refused += 1
    assert refused
    assert contents(outside) == before
    assert sorted(path.name for path in outside.rglob("*")) == ["b", "c", "c"]


def test_a_walk_never_enters_a_link_that_is_put_there_meanwhile(
    root: Folder, place: Path, outside: Path, tmp_path: Path
) -> None:
    (outside / "b/secret").write_bytes(SECRET)
    (tmp_path / "link").symlink_to(outside)
    found: set[str] = set()
    refused: list[str] = []
    walks = 0

    def seen() -> bool:
        """Walk once more; a busy machine may let the other process rest, and all walks see the same."""
        nonlocal walks
        walks += 1
        for _, _, entries in root.walk(unreadable=lambda path, _: refused.append(path)):
            found.update(entry.name for entry in entries)
        return walks >= 100 and "c" in found and bool(refused)

    with exchanging(place / "a", tmp_path / "link"):
        wait_until(seen, "a walk came before the link and another one after it", seconds_between=0)
    assert found == {"a", "b", "c"}


def test_a_tree_is_removed_without_what_links_lead_to_that_are_put_there_meanwhile(
    root: Folder, place: Path, outside: Path, tmp_path: Path
) -> None:
    before = contents(outside)
    (tmp_path / "link").symlink_to(outside)
    with exchanging(place / "a/b", tmp_path / "link"):
        for _ in range(60):
            for number in range(5):
                with suppress(OSError):
                    (place / f"a/b/inner{number}").mkdir(parents=True)
            with suppress(OSError):
                root.remove_tree("a")
            (place / "a").mkdir(exist_ok=True)
            for path in outside.glob("inner*"):
                path.rmdir()  # the making above follows links
            if not os.path.lexists(tmp_path / "link"):
                (tmp_path / "link").symlink_to(outside)
            with suppress(OSError):
                (place / "a/b").mkdir()
    assert contents(outside) == before


@pytest.mark.timeout(20)
def test_pipes_sockets_and_devices_are_no_files_and_nobody_waits_for_them(root: Folder, place: Path) -> None:
    os.mkfifo(place / "pipe")
    with socket.socket(socket.AF_UNIX) as listening, Folder.open(Path("/dev")) as devices:
        listening.bind(str(place / "socket"))
        for folder, name in ((root, "pipe"), (root, "socket"), (root, "a"), (devices, "zero"), (devices, "tty")):
            with pytest.raises((InvalidInput, OSError)) as refused:
                folder.read(name, 100)
            error = refused.value
            assert isinstance(error, OSError | InvalidInput)
            assert error.errno == errno.ENXIO if isinstance(error, OSError) else error.key == "not_a_file"
    root.write("pipe", b"a file now")
    assert root.read("pipe", 100) == b"a file now"
    root.remove_tree("socket")
    assert root.status("socket") is None


def test_a_name_that_leads_out_or_that_no_file_has_is_refused(root: Folder) -> None:
    for operation, does in ({**READING, **WRITING}).items():
        for name in ("..", "a/../..", "/etc", "//etc", "a\0b", "\0", "\ud800", "a/\udfff"):
            with pytest.raises(InvalidInput) as refused:
                does(root, name)
            assert refused.value.key == "path_leads_out", (operation, name)


def test_strange_names_are_names(root: Folder) -> None:
    for name in ("two\nlines", "\x1b[2J", " ", "...", "..a", "-rf", "*", os.fsdecode(b"\xff\xfe"), "ü" * 127):
        root.folder(name, make=True).close()
        root.write(f"{name}/{name}", name.encode(errors="surrogateescape"))
        assert root.read(f"{name}/{name}", 1000) == name.encode(errors="surrogateescape")
        found = {f"{place}/{entry.name}" for place, _, entries in root.walk() for entry in entries}
        assert f"{name}/{name}" in found
        root.remove_tree(name)
        assert root.status(name) is None


def test_a_name_that_is_too_long_is_an_error_of_the_system(root: Folder) -> None:
    root.write("other", b"other")
    for operation in ({**READING, **WRITING}).values():
        with pytest.raises(OSError) as refused:
            operation(root, "x" * 256)
        assert refused.value.errno == errno.ENAMETOOLONG


def test_what_lies_deeper_than_a_path_is_long_is_reached_and_removed(root: Folder) -> None:
    path = "/".join(["d" * 200] * 40)
    with root.folder(path, make=True) as folder:
        folder.write("file", b"deep")
    assert root.read(f"{path}/file", 100) == b"deep"
    assert max(place.count("/") for place, _, _ in root.walk()) == 39
    root.remove_tree("d" * 200)
    assert [entry.name for entry in root.entries()] == ["a"]


def test_a_walk_ends_at_its_bounds(root: Folder, place: Path) -> None:
    root.folder("/".join("d" * 20), make=True).close()
    with pytest.raises(OSError) as refused:
        list(root.walk(deepest=10))
    assert refused.value.errno == errno.ENAMETOOLONG
    too_deep: list[str] = []
    assert len([place for place, _, _ in root.walk(deepest=10, unreadable=lambda path, _: too_deep.append(path))]) == 13
    assert too_deep == ["/".join("d" * 11)]
    for number in range(50):
        (place / f"a/{number}").write_text("")
    seen: list[str] = []
    walk = (entry.name for _, _, entries in root.walk(most=30) for entry in entries)
    with pytest.raises(TooMany):
        seen.extend(walk)
    assert len(seen) == 30


@pytest.mark.parametrize("operation", [*READING, *WRITING])
def test_without_descriptors_nothing_is_left_behind(root: Folder, place: Path, operation: str) -> None:
    target = "a/b" if operation in ("folder", "walk", "make folders", "remove a tree") else PATH
    for spare in range(6):
        for left in place.iterdir():
            shutil.rmtree(left) if left.is_dir() else left.unlink()
        (place / "a/b/d").mkdir(parents=True)
        (place / "a/b/c").write_bytes(b"mine")
        (place / "other").write_text("other")
        before = len(open_descriptors())
        with few_descriptors(spare):
            number = error_of({**READING, **WRITING}[operation], root, target)
        # Of a folder that is to be removed there is a file.
        assert number in (0, errno.EMFILE, errno.ENOTDIR), spare
        # A collection of garbage may close what another test has left.
        assert len(open_descriptors()) <= before, spare
        assert {path.name for path in place.rglob("*")} <= {"a", "b", "c", "d", "other", "moved", "made"}, spare


def error_of(operation: Callable[[Folder, str], object], root: Folder, path: str) -> int:
    try:
        operation(root, path)
    except OSError as error:
        return error.errno or -1
    return 0


def open_descriptors() -> list[int]:
    return [int(path.name) for path in Path("/proc/self/fd").iterdir()]


@contextmanager
def few_descriptors(spare: int) -> Iterator[None]:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    taken: list[int] = []
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(open_descriptors()) + 20, limits[1]))
    try:
        with suppress(OSError):
            while True:
                taken.append(os.open("/dev/null", os.O_RDONLY))
        for _ in range(spare):
            os.close(taken.pop())
        yield
    finally:
        for descriptor in taken:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


_IN_A_NAMESPACE = """
import errno, sys
from pathlib import Path
from parachute.base import openat2
from parachute.base.folders import Folder, TooMany
from tests.support.waiting import wait_until
openat2._available = sys.argv[2] == "openat2"
with Folder.open(Path(sys.argv[1])) as root:
    assert root.read("a/b/mounted/kept", 100) == b"kept"
    for name in ("a", "a/b/mounted"):
        try:
            root.remove_tree(name)
        except OSError as error:
            assert error.errno == errno.EXDEV, error
            assert "mounted" in str(error), error
        else:
            raise AssertionError(name)
    assert root.read("a/b/mounted/kept", 100) == b"kept"
print("kept")
"""


@pytest.mark.parametrize(
    "mount", ["mount --bind {outside} {point}", "mount -t tmpfs none {point} && echo -n kept > {point}/kept"]
)
def test_a_tree_is_not_removed_across_a_mount(place: Path, outside: Path, way: str, mount: str) -> None:
    if shutil.which("unshare") is None or subprocess.run(["unshare", "-rm", "true"], check=False).returncode:
        pytest.skip("no namespaces here")
    (outside / "kept").write_text("kept")
    (place / "a/b/mounted").mkdir()
    command = mount.format(outside=outside, point=place / "a/b/mounted")
    script = f'{command} && exec "$0" -c "$1" "$2" "$3"'
    arguments = [sys.executable, _IN_A_NAMESPACE, str(place), way]
    ended = subprocess.run(
        ["unshare", "-rm", "sh", "-c", script, *arguments], capture_output=True, text=True, check=False
    )
    assert (ended.stdout, ended.stderr) == ("kept\n", "")
    assert (outside / "kept").read_text() == "kept"


def test_a_kernel_without_the_call_is_noticed_at_its_first_answer(
    root: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Old:
        """A library whose kernel knows no openat2."""

        def syscall(self, *_: Any) -> int:
            ctypes.set_errno(errno.ENOSYS)
            return -1

    monkeypatch.setattr(openat2, "_available", True)
    monkeypatch.setattr(openat2, "_libc", Old())
    assert root.read(PATH, 100) == b"mine"
    assert not openat2._available
