"""Declarations that nobody should follow: each is refused with a sentence that names file and key, and nothing starts."""

import json
import os
import pwd
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from parachute.config.declared import file
from parachute.config.declared.file import DEFAULT, MAXIMUM_BYTES, VARIABLE, load
from parachute.config.declared.models import NOTHING, DeclarationInvalid
from parachute.modules.registry.declared import Declarations
from tests.support.computer import free_port
from tests.support.terminal import Terminal

from .declaring import USER, write

pytestmark = pytest.mark.long

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to others")


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the path of the declaration."""
    found = tmp_path / "declared.json"
    monkeypatch.setenv(VARIABLE, str(found))
    return found


def refused(*parts: str) -> None:
    """See that there is an error with these parts."""
    with pytest.raises(DeclarationInvalid) as caught:
        load()
    for part in parts:
        assert part in caught.value.message


def test_without_a_file_nothing_is_declared() -> None:
    assert not DEFAULT.exists(), "this machine declares something itself"
    assert load() is NOTHING


def test_what_is_declared_is_read(path: Path) -> None:
    said = {"brain": {"enable": False, "source": "parachute://brain", "hash": None, "settings": {"a": 1}}}
    write(path, settings={"port": 4000}, modules=said, workspaces={"garden": {"name": "Garden"}})
    found = load()
    assert (found.path, found.settings, found.workspaces) == (path, {"port": 4000}, {"garden": {"name": "Garden"}})
    brain = found.modules["brain"]
    assert (brain.name, brain.enable, brain.source, brain.hash) == ("brain", False, "parachute://brain", None)
    assert brain.settings == {"a": 1}


def test_a_link_is_followed_as_on_nixos(path: Path) -> None:
    path.symlink_to(write(path.with_name("elsewhere.json"), settings={"port": 4000}))
    assert load().settings == {"port": 4000}


def test_what_another_user_is_told_is_not_for_us(path: Path) -> None:
    path.write_text(json.dumps({"version": 1, "user": f"not-{USER}", "settings": {"port": 1}, "what": "ever"}))
    assert load() is NOTHING


def make_link_loop(path: Path) -> None:
    path.symlink_to(path.with_name("other"))
    path.with_name("other").symlink_to(path)


HOSTILE: list[tuple[str, Callable[[Path], object], str]] = [
    ("missing", lambda path: None, "there is no such file"),
    ("dangling", lambda path: path.symlink_to("nowhere"), "there is no such file"),
    ("loop", make_link_loop, "cannot be read"),
    ("folder", lambda path: path.mkdir(), "not a regular file"),
    ("pipe", lambda path: os.mkfifo(path), "not a regular file"),
    ("open to all", lambda path: write(path).chmod(0o646), "mode 0646"),
    ("open to a group", lambda path: write(path).chmod(0o664), "mode 0664"),
    ("large", lambda path: path.write_bytes(b" " * 10 * 1024 * 1024), f"{MAXIMUM_BYTES:,} bytes"),
    ("deep", lambda path: path.write_text("[" * 500_000), "nested"),
    ("binary", lambda path: path.write_bytes(b"\xff\xfe"), "not UTF-8"),
    ("empty", lambda path: path.write_text(""), "Line 1: This is not JSON"),
    ("list", lambda path: path.write_text("[]"), "Fields with values are expected"),
    ("not a number", lambda path: path.write_text('{"version": NaN}'), "NaN is no number"),
    ("twice", lambda path: path.write_text('{"version": 1, "version": 1}'), "The field 'version' is there twice"),
]


@pytest.mark.parametrize(("make", "said"), [row[1:] for row in HOSTILE], ids=[row[0] for row in HOSTILE])
def test_what_is_no_declaration_is_refused(path: Path, make: Callable[[Path], object], said: str) -> None:
    make(path)
    refused(str(path), said)


HASH = "sha256:" + "0" * 64
WRONG = [
    ({"version": 2}, "version: 1 is expected"),
    ({"version": True}, "version: 1 is expected"),
    ({"version": None}, "version: 1 is expected"),
    ({"user": ""}, "user: "),
    ({"user": None}, "user: "),
    ({"setings": {}}, "setings: Unknown field; did you mean settings?"),
    ({"settings": []}, "settings: Fields with values are expected"),
    ({"modules": []}, "modules: Fields with values are expected"),
    ({"modules": {"brain": 1}}, "modules.brain: Fields with values are expected"),
    ({"modules": {"brain": {}}}, "modules.brain.source: "),
    (
        {"modules": {"brain": {"source": "parachute://brain", "enabled": True}}},
        "modules.brain.enabled: Unknown field; did you mean enable?",
    ),
    ({"modules": {"brain": {"source": "parachute://brain", "enable": 1}}}, "modules.brain.enable: Write true or false"),
    ({"modules": {"brain": {"source": "brain"}}}, "modules.brain.source: "),
    ({"modules": {"brain": {"source": "/brain"}}}, "modules.brain.hash: A module that did not come with this computer"),
    ({"modules": {"brain": {"source": "/brain", "hash": "0"}}}, "modules.brain.hash: `sha256:`"),
    (
        {"modules": {"brain": {"source": "/brain", "hash": HASH, "settings": 1}}},
        "modules.brain.settings: Fields with values",
    ),
    ({"workspaces": {"garden": "x"}}, "workspaces.garden: Fields with values are expected"),
]


@pytest.mark.parametrize(("parts", "said"), WRONG, ids=[said[:40] for _, said in WRONG])
def test_a_mistake_is_named_with_its_key(path: Path, parts: dict[str, object], said: str) -> None:
    write(path, **parts)
    refused(f"{path}: {said}")


@pytest.mark.parametrize("name", ["../evil", "/etc", "a/b", "", "chat\n"])
def test_a_name_that_leads_elsewhere_names_no_module(path: Path, name: str) -> None:
    write(path, modules={name: {"source": "parachute://brain"}})
    with pytest.raises(DeclarationInvalid) as caught:
        Declarations(load())
    assert (caught.value.key, "modules" in caught.value.message) == (DeclarationInvalid.key, True)


@needs_root
def test_who_may_have_written_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stranger = pwd.getpwnam("daemon").pw_uid
    write(path)
    os.chown(path, stranger, 0)
    refused(f"{path}: this belongs to the user with number {stranger}, not to root")
    # Ourselves only where we named the file: the one of the system is root's.
    monkeypatch.setattr(os, "geteuid", lambda: stranger)
    monkeypatch.setattr(file, "_user", lambda: USER)
    assert load().path == path
    monkeypatch.delenv(VARIABLE)
    monkeypatch.setattr(file, "DEFAULT", path)
    refused(f"{path}: this belongs to the user with number {stranger}, not to root")
    os.chown(path, 0, 0)
    assert load().path == path


def test_nobody_counts_as_root_only_where_only_root_writes(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file, "_overflow", lambda: 65534)
    assert not file._is_root(65534, Path("/etc/parachute/declared.json")), "root is known here"
    monkeypatch.setattr(file, "_root_is_known", lambda: False)
    assert file._is_root(65534, Path("/etc/parachute/declared.json"))
    assert file._is_root(65534, Path("/nix/store/x/declared.json"))
    assert not file._is_root(65534, path)
    assert not file._is_root(65533, Path("/etc/parachute/declared.json"))


def test_a_name_that_is_no_whole_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "declared.json")
    refused(f"{VARIABLE} must name a file by its whole path")


@pytest.mark.parametrize(
    "parts",
    [
        {"user": 1},
        {"settings": {"prot": 1}},
        {"settings": {"sandbox": {"engine": "docker"}}},
        # What only core knows of, which says it when it starts.
        {"workspaces": {"garden": {"name": "G", "nme": 1}}},
        {"workspaces": {"Garden": {"name": "G"}}},
        {"workspaces": {"garden": {"name": "G", "default_trust_level": "some"}}},
        {"modules": {"sandbox": {"source": "parachute://sandbox"}}},
    ],
)
def test_with_a_mistake_nothing_starts(
    parachute: Terminal, declared: Path, parts: dict[str, object], snapshot: SnapshotAssertion
) -> None:
    write(declared, **parts)
    parachute.fails("start", "--port", str(free_port()))
    # What ends the computer and shows it does not need it.
    parachute.ok("stop")
    assert parachute("status").code == 3
    assert parachute.screens == snapshot


LOOKING = """
import ctypes, json, os, pwd, sys
from pathlib import Path
from parachute.config.declared import document, file
user, is_confined = pwd.getpwnam(sys.argv[1]).pw_uid, sys.argv[2] == "confined"
os.setgroups([])
os.setresgid(user, user, user)
os.setresuid(user, user, user)
if is_confined:
    # A user namespace with one user in it, as a confined service of the user manager has: root is not known there.
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(4, 1, 0, 0, 0)  # PR_SET_DUMPABLE, without which nobody may write into our /proc
    if libc.unshare(0x10000000) != 0:  # CLONE_NEWUSER
        sys.exit("unshare: " + os.strerror(ctypes.get_errno()))
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
    assert os.stat("/etc/parachute/declared.json").st_uid not in (0, user)
print(file.load().settings)
"""


@needs_root
@pytest.mark.parametrize(
    ("user", "how", "mode", "said"),
    [
        ("root", "free", 0o644, "{'port': 4567}"),
        ("daemon", "confined", 0o644, "{'port': 4567}"),
        ("daemon", "confined", 0o666, "mode 0666"),
        ("daemon", "free", 0o644, "{'port': 4567}"),
    ],
    ids=["root", "confined", "confined and open", "free"],
)
def test_the_file_of_the_system_is_found(tmp_path: Path, user: str, how: str, mode: int, said: str) -> None:
    # By its real name, in a mount namespace in which /etc is another folder.
    folder = tmp_path / "etc"
    (folder / "parachute").mkdir(parents=True)
    for name in ("passwd", "group"):
        (folder / name).write_bytes(Path("/etc", name).read_bytes())
    write(folder / "parachute" / "declared.json", user=user, settings={"port": 4567}).chmod(mode)
    command = ["unshare", "-m", "sh", "-c", 'mount --bind "$1" /etc && shift && exec "$@"', "sh", str(folder)]
    command += [sys.executable, "-c", LOOKING, user, how]
    found = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[3])
    if found.stderr.startswith(("unshare: ", "mount: ")):
        pytest.skip(f"this machine does not let us: {found.stderr}")
    assert said in found.stdout + found.stderr
