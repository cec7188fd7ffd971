"""Changes in the vault, and in the copies that run: none of them runs unseen."""

import os
import re
import time
from pathlib import Path

import pytest

from parachute.base.signatures import JUST_NOW_NS
from parachute.modules.manifest.loading import ManifestInvalid
from parachute.modules.registry.models import State
from parachute.modules.registry.service import Modules, NotApproved
from parachute.modules.registry.verification import Damaged
from parachute.modules.trees.hashing import tree_hash
from tests.support.auditing import audited
from tests.support.errors import raises
from tests.support.waiting import wait_until

from .building import needing, write_module, write_wheel
from .steps import approve, install, state


def test_one_byte_waits_for_approval_and_the_diff_shows_the_line(modules: Modules, hello: Path) -> None:
    (hello / "module.py").write_text((hello / "module.py").read_text().replace('"world"', '"wOrld"'))
    status = modules.status("hello")
    assert status.state is State.PENDING
    assert status.pending_hash not in (None, modules.registry.module("hello").hash)
    with raises("approval_pending"):
        modules.runnable("hello")
    (change,) = modules.changes("hello")
    assert change.path == "module.py"
    assert '-        return {"hello": "world"}' in change.lines
    assert '+        return {"hello": "wOrld"}' in change.lines
    assert approve(modules).previous is not None
    assert state(modules) is State.READY
    assert "wOrld" in (modules.runnable("hello").code / "module.py").read_text()


def test_every_kind_of_change_is_found(modules: Modules, tmp_path: Path) -> None:
    source = write_module(
        tmp_path / "m",
        files={"prompts/agent.md": "Be kind.\n", "run.sh": "true\n", "old.txt": "x\n", "native.so": "\0a"},
    )
    install(modules, source)
    hello = modules.places.source("hello")
    (hello / "prompts/agent.md").write_text("Be cruel.\n")
    (hello / "run.sh").chmod(0o755)
    (hello / "native.so").write_bytes(b"\0b")
    (hello / "old.txt").rename(hello / "new.txt")
    (hello / "link.py").symlink_to("module.py")
    assert state(modules) is State.PENDING
    found = {change.path: (change.kind, change.note) for change in modules.changes("hello")}
    assert found == {
        "prompts/agent.md": ("changed", None),
        "run.sh": ("changed", "is executable now"),
        "native.so": ("changed", "binary, 2 bytes before, 2 bytes now"),
        "old.txt": ("removed", None),
        "new.txt": ("added", None),
        "link.py": ("added", None),
    }


def test_a_change_with_the_old_times_is_found(modules: Modules, hello: Path) -> None:
    assert state(modules) is State.READY
    before = (hello / "module.py").stat()
    (hello / "module.py").write_text((hello / "module.py").read_text().replace('"world"', '"wOrld"'))
    os.utime(hello / "module.py", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert state(modules) is State.PENDING


def test_changes_that_follow_at_once_are_all_found(modules: Modules, hello: Path) -> None:
    for number in range(50):
        (hello / f"{number}.py").write_text("")
        assert modules.status("hello").pending_hash == tree_hash(hello)


def test_files_are_not_read_again_while_they_stay(modules: Modules, hello: Path) -> None:
    made = time.time_ns()
    wait_until(lambda: time.time_ns() - made > 2 * JUST_NOW_NS, "a change would have another time")
    opened = list[str]()
    with audited(lambda event, arguments: opened.append(str(arguments[0])) if event == "open" else None):
        assert state(modules) is State.READY
        assert "module.py" in opened
        opened.clear()
        assert state(modules) is State.READY
        assert "module.py" not in opened
        (hello / "new.py").write_text("")
        assert state(modules) is State.PENDING


def test_caches_are_no_change(modules: Modules, hello: Path) -> None:
    (hello / "__pycache__").mkdir()
    (hello / "__pycache__/module.cpython-311.pyc").write_bytes(b"compiled")
    (hello / ".git").mkdir()
    (hello / ".git/config").write_text("")
    assert state(modules) is State.READY
    assert modules.changes("hello") == []


def test_a_folder_that_cannot_be_hashed_waits_for_approval(modules: Modules, hello: Path) -> None:
    os.mkfifo(hello / "pipe")
    status = modules.status("hello")
    assert status.state is State.PENDING
    assert "pipe is neither" in (status.reason or "")
    with pytest.raises(NotApproved):
        modules.runnable("hello")


def test_a_broken_manifest_in_the_vault_changes_nothing(modules: Modules, hello: Path) -> None:
    (hello / "manifest.yaml").write_text("name: [")
    with pytest.raises(ManifestInvalid):
        approve(modules)
    assert "mistake" in (modules.permission_changes("hello")[1] or "")
    write_module(hello, name="other")
    with raises("other_name"):
        approve(modules)
    write_module(hello)
    assert state(modules) is State.READY


def test_an_approval_shows_the_rights_that_come(modules: Modules, hello: Path) -> None:
    write_module(hello, more="permissions:\n  write:\n    - Brain/**\n")
    difference, problem = modules.permission_changes("hello")
    assert problem is None
    assert difference is not None
    assert any("Brain/**" in line for line in difference.added)
    with modules.approving("hello") as installation:
        assert "+ " in installation.question.as_text()
        # What comes after the user looked is not what was approved.
        (hello / "late.py").write_text("")
        installation.finish()
    assert state(modules) is State.PENDING
    assert [change.path for change in modules.changes("hello")] == ["late.py"]


@pytest.mark.parametrize("what", ["edited", "added", "compiled", "cache", "removed", "executable"])
def test_an_edited_copy_does_not_start_and_can_be_made_anew(modules: Modules, hello: Path, what: str) -> None:
    code = modules.runnable("hello").code
    match what:
        case "edited":
            (code / "module.py").chmod(0o644)
            (code / "module.py").write_text("evil")
        case "added":
            (code / "json.py").write_text("evil")
        case "compiled":
            (code / "json.pyc").write_text("evil")
        case "cache":
            (code / "__pycache__").mkdir()
            (code / "__pycache__/module.cpython-311.pyc").write_text("evil")
        case "removed":
            (code / "module.py").unlink()
        case "executable":
            (code / "module.py").chmod(0o555)
    with raises("module_damaged"):
        modules.runnable("hello")
    approve(modules)
    assert "Module" in (modules.runnable("hello").code / "module.py").read_text()


@pytest.mark.long  # pip runs four times
def test_packages_are_verified_before_every_start(
    modules: Modules, tmp_path: Path, wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_wheel(wheels, "greeting", "1.0")
    source = write_module(tmp_path / "m", more=needing("greeting"))
    installation = install(modules, source)
    assert "Packages, exactly: greeting 1.0" in installation.question.as_text()
    packages = modules.runnable("hello").packages
    assert (packages / "greeting/__init__.py").read_text() == 'VERSION = "1.0"\n'

    def undamaged() -> str:
        return (modules.runnable("hello").packages / "greeting/__init__.py").read_text()

    (packages / "greeting/__init__.py").write_text("evil")
    with raises("module_damaged", names="packages"):
        modules.runnable("hello")
    # Made anew from the kept wheels, without a network.
    monkeypatch.setenv("PIP_FIND_LINKS", "/nonexistent")
    approve(modules)
    assert undamaged() == 'VERSION = "1.0"\n'
    (packages / "greeting/other.pyc").write_text("evil")
    with pytest.raises(Damaged):
        modules.runnable("hello")
    (packages / "greeting/other.pyc").unlink()
    (packages / "greeting/__pycache__").mkdir()
    with pytest.raises(Damaged):
        modules.runnable("hello")
    (packages / "greeting/__pycache__").rmdir()

    # Another interpreter than the one that they were unpacked for.
    lock = packages.parent / "lock.txt"
    lock.write_text(lock.read_text().replace("cpython-", "pypy-"))
    assert undamaged() == 'VERSION = "1.0"\n'
    assert "cpython-" in lock.read_text()


def test_packages_that_nobody_approved_do_not_start(modules: Modules, hello: Path) -> None:
    (modules.runnable("hello").packages / "json.py").write_text("evil")
    with raises("module_damaged", names="not approved"):
        modules.runnable("hello")


def test_what_runs_in_place_gets_no_rights_that_nobody_agreed_to(modules: Modules, tmp_path: Path) -> None:
    source = write_module(tmp_path / "m", more="permissions:\n  read:\n    - Notes/**\n")
    install(modules, source, dev=True)
    (source / "more.py").write_text("")
    assert state(modules) is State.READY, "its code is its author's"
    write_module(source, more='permissions:\n  write:\n    - "**"\n  network:\n    - example.org\n')
    status = modules.status("hello")
    assert status.state is State.PENDING
    assert "Read and write: **" in (status.reason or "")
    assert "Reach example.org" in (status.reason or "")
    for attempt in (modules.runnable, modules.approved):
        with raises("approval_pending", names=re.escape(f"parachute modules install {source} --dev")):
            attempt("hello")
    install(modules, source, dev=True)
    assert state(modules) is State.READY
    assert modules.approved("hello").code == source
