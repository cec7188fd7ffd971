"""`parachute modules`."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from parachute.config.settings.home import Home
from tests.modules.registry.building import Repository, names, needing, write_module, write_source_package, write_wheel
from tests.support.terminal import Terminal

from .scripted_core import ScriptedCore

pytestmark = pytest.mark.long


@pytest.fixture
def folder(parachute: Terminal) -> Path:
    """Return the folder in which the person works."""
    return Path(parachute.environment["HOME"])


@pytest.fixture
def source(folder: Path) -> Path:
    """A folder with a module."""
    return write_module(folder / "source", more="permissions:\n  write:\n    - Hello/**\n")


@pytest.fixture
def vault(folder: Path) -> Path:
    """The vault of the command."""
    return folder / "Parachute"


def install(parachute: Terminal, source: Path) -> None:
    """Install a module; what that shows is for other tests."""
    parachute.ok("modules", "install", str(source), "--yes")
    parachute.screens.pop()


def test_a_repository_is_installed_with_the_steps_shown(
    parachute: Terminal, folder: Path, vault: Path, snapshot: SnapshotAssertion
) -> None:
    repository = Repository(folder / "parachute-hello")
    write_module(repository.folder / "python", more="provides:\n  - BrainInterface\n")
    repository.commit()
    out = parachute.ok("modules", "install", repository.url, "--path", "python/", "--yes")
    lines = [line for line in out.splitlines() if line]
    assert lines[:5] == [
        "Cloning parachute-hello...",
        "Validating manifest.yaml...",
        "  Name: hello",
        "  Version: 1.0.0",
        "  Provides: BrainInterface",
    ]
    digest = next(line for line in lines if line.startswith("Computing hash: sha256:"))
    assert lines[-3:] == [
        "✓ Module 'hello' installed and approved",
        f"  Path: {vault}/.modules/hello",
        "Start the computer to load it: parachute start",
    ]
    (listed,) = json.loads(parachute.ok("modules", "list", "--json"))
    assert (listed["name"], listed["trust_level"], listed["state"]) == ("hello", "trusted", "ready")
    assert listed["hash"] == digest.removeprefix("Computing hash: ")
    assert json.loads(parachute.ok("modules", "status", "hello", "--json")) == listed
    assert repository.url in parachute.ok("modules", "list")
    parachute.ok("modules", "install", repository.url, "--path", "python/")
    assert parachute.screens == snapshot


def test_without_a_terminal_the_consent_is_printed_and_nothing_is_left(
    parachute: Terminal, source: Path, vault: Path, home: Home, snapshot: SnapshotAssertion
) -> None:
    plain = parachute("modules", "install", str(source))
    assert plain.code == 3
    as_json = parachute("modules", "install", str(source), "--json")
    assert as_json.code == 3
    consent = json.loads(as_json.out)
    assert (consent["name"], consent["permissions"]["write"], consent["changes"]) == ("hello", ["Hello/**"], None)
    assert json.loads(parachute.ok("modules", "list", "--json")) == []
    assert names(home.root / "modules") == [".lock"]
    assert names(vault / ".modules") == []
    assert not (home.root / "modules.yaml").exists()
    installed = json.loads(parachute.ok("modules", "install", str(source), "--json", "--yes"))
    assert installed["state"] == "ready"
    assert parachute.screens == snapshot


def test_a_person_at_a_terminal_is_asked(parachute: Terminal, source: Path, snapshot: SnapshotAssertion) -> None:
    with parachute.screen("modules", "install", str(source)) as screen:
        assert "Read and write: Hello/**" in screen.until("Install the module hello? [y/N]")
        screen.type("no\n")
        assert screen.end() == 1
    assert json.loads(parachute.ok("modules", "list", "--json")) == []
    with parachute.screen("modules", "install", str(source)) as screen:
        screen.until("Install the module hello? [y/N]")
        screen.type("\x03")
        assert screen.end() == 130
    assert json.loads(parachute.ok("modules", "list", "--json")) == []
    with parachute.screen("modules", "install", str(source)) as screen:
        screen.until("Install the module hello? [y/N]")
        screen.type("yes\n")
        screen.until("installed and approved")
        assert screen.end() == 0
    parachute.ok("modules", "list")
    assert parachute.screens == snapshot


def test_one_byte_waits_for_approval_and_diff_shows_it(
    parachute: Terminal, source: Path, vault: Path, snapshot: SnapshotAssertion
) -> None:
    install(parachute, source)
    parachute("modules", "diff", "hello")
    code = vault / ".modules/hello/module.py"
    code.write_text(code.read_text().replace("world", "wOrld"))
    manifest = vault / ".modules/hello/manifest.yaml"
    manifest.write_text(manifest.read_text().replace("Hello/**", "Brain/**"))
    parachute.ok("modules", "status")
    parachute.ok("modules", "diff", "hello")
    document = json.loads(parachute.ok("modules", "diff", "hello", "--json"))
    assert [change["path"] for change in document["files"]] == ["manifest.yaml", "module.py"]
    assert any("Brain" in line for line in document["permissions"]["added"])
    waiting = parachute("modules", "approve", "hello")
    assert waiting.code == 3
    parachute.ok("modules", "approve", "hello", "--yes")
    (listed,) = json.loads(parachute.ok("modules", "list", "--json"))
    assert (listed["state"], listed["permissions"]["write"]) == ("ready", ["Brain/**"])
    assert parachute.screens == snapshot


def test_what_an_agent_writes_into_a_file_does_not_drive_the_terminal(
    parachute: Terminal, source: Path, vault: Path
) -> None:
    install(parachute, source)
    (vault / ".modules/hello/module.py").write_text("\x1b[2J\x1b]0;owned\x07x = 1\n")
    assert "\x1b" not in parachute.ok("modules", "diff", "hello")
    (vault / ".modules/hello/manifest.yaml").write_text('name: "\\e[2J"\n')
    assert "\x1b" not in parachute.fails("modules", "approve", "hello")


def test_dependencies_come_as_wheels_or_not_at_all(
    parachute: Terminal, folder: Path, vault: Path, home: Home, snapshot: SnapshotAssertion
) -> None:
    wheels, touched = folder / "wheels", folder / "touched"
    write_source_package(wheels, "evil", touched)
    write_wheel(wheels, "greeting")
    parachute.environment |= {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels)}
    parachute.fails("modules", "install", str(write_module(folder / "bad", more=needing("evil"))), "--yes")
    assert not touched.exists()
    assert names(vault / ".modules") == []
    assert names(home.root / "modules") == [".lock"]
    out = parachute.ok("modules", "install", str(write_module(folder / "good", more=needing("greeting"))), "--yes")
    assert out.index("Resolving dependencies...") < out.index("Packages, exactly: greeting 1.0")
    assert out.index("Packages, exactly: greeting 1.0") < out.index("Installing dependencies...")
    assert len(list((home.root / "modules/hello").glob("*/packages/greeting/__init__.py"))) == 1
    assert parachute.screens == snapshot


def test_a_removal_asks_and_keeps_data(
    parachute: Terminal, source: Path, vault: Path, home: Home, snapshot: SnapshotAssertion
) -> None:
    install(parachute, source)
    data = home.root / "module-data/hello"
    data.mkdir(parents=True)
    (vault / "Hello").mkdir()
    waiting = parachute("modules", "remove", "hello")
    assert waiting.code == 3
    assert (vault / ".modules/hello").is_dir()
    with parachute.screen("modules", "remove", "hello") as screen:
        screen.until("Remove the module hello? [y/N]")
        screen.type("y\n")
        screen.until(f"Delete its private data in {data}, too? [y/N]")
        screen.type("n\n")
        screen.until("is removed")
        assert screen.end() == 0
    assert not (vault / ".modules/hello").exists()
    assert data.is_dir()
    assert (vault / "Hello").is_dir()
    install(parachute, source)
    parachute("modules", "remove", "hello", "--yes")
    install(parachute, source)
    parachute.ok("modules", "remove", "hello", "--yes", "--purge")
    assert not data.exists()
    assert (vault / "Hello").is_dir()
    parachute.fails("modules", "remove", "hello", "--yes")
    assert parachute.screens == snapshot


def test_a_module_runs_in_place(parachute: Terminal, source: Path, vault: Path, snapshot: SnapshotAssertion) -> None:
    parachute.ok("modules", "install", str(source), "--dev", "--yes")
    (listed,) = json.loads(parachute.ok("modules", "list", "--json"))
    assert (listed["dev"], listed["folder"]) == (True, str(source))
    parachute.ok("modules", "list")
    inside = write_module(vault / "Projects/inside", "inside")
    parachute.fails("modules", "install", str(inside), "--dev", "--yes")
    assert parachute.screens == snapshot


def test_modules_are_switched_off_and_on(parachute: Terminal, source: Path, snapshot: SnapshotAssertion) -> None:
    install(parachute, source)
    parachute.ok("modules", "disable", "hello")
    parachute.ok("modules", "status")
    parachute.ok("modules", "enable", "hello")
    assert json.loads(parachute.ok("modules", "status", "hello", "--json"))["state"] == "ready"
    for command in ("status", "enable", "disable", "diff", "approve"):
        parachute.fails("modules", command, "nothing")
    assert parachute.screens == snapshot


def test_a_running_computer_is_told(parachute: Terminal, source: Path, home: Home, snapshot: SnapshotAssertion) -> None:
    with ScriptedCore(home) as core:
        core.answers["POST", "/api/modules/reload"] = 200, {}
        core.answers["POST", "/api/modules/hello/enable"] = 200, {}
        install(parachute, source)
        parachute.ok("modules", "enable", "hello")
        parachute.ok("modules", "disable", "hello")
        parachute.ok("modules", "remove", "hello", "--yes")
        reload = "POST /api/modules/reload"
        # What became of it is asked for, too.
        enable = "POST /api/modules/hello/enable"
        assert core.paths() == [reload, "GET /api/modules", enable, reload, reload]
        core.answers["POST", "/api/modules/reload"] = 500, {"detail": "It broke."}
        result = parachute("modules", "install", str(source), "--yes")
        assert result.code == 0
    assert parachute.screens == snapshot


def test_what_modules_do_is_told_while_the_computer_runs(
    parachute: Terminal, source: Path, home: Home, snapshot: SnapshotAssertion
) -> None:
    install(parachute, source)
    parachute.ok("modules", "status")
    with ScriptedCore(home) as core:

        def runs(**unit: object) -> None:
            row = {"name": "hello", "unit": unit or None, "confinement": ["Nothing limits its memory."]}
            core.answers["GET", "/api/modules"] = 200, {"modules": [row, {"name": "gone", "unit": None}]}

        runs()
        parachute.ok("modules", "status")
        for state in ("listening", "starting", "running"):
            runs(state=state, reason=None, restarts=0, process=None, backlog=0)
            parachute.ok("modules", "status")
            parachute.ok("modules", "list")
        runs(state="running", reason=None, restarts=2, process=4711, backlog=3, more=1)
        printed = [" ".join(line.split()) for line in parachute.ok("modules", "status", "hello").splitlines()]
        assert printed[-4:] == [
            "Process 4711",
            "Restarts 2",
            "Events waiting 3",
            "Not enforced Nothing limits its memory.",
        ]
        listed = json.loads(parachute.ok("modules", "status", "hello", "--json"))
        assert listed["unit"] == {"state": "running", "reason": None, "restarts": 2, "process": 4711, "backlog": 3}
        assert json.loads(parachute.ok("modules", "list", "--json")) == [listed]
        runs(state="failed", reason="It failed five times.", restarts=5)
        for command in (["list"], ["status"], ["status", "hello"]):
            result = parachute("modules", *command)
        parachute.ok("modules", "status")
        # What was approved goes on running while a change waits.
        (source.parent / "Parachute/.modules/hello/new.py").write_text("")
        runs(state="running", process=4711)
        parachute.ok("modules", "status")
        core.answers["GET", "/api/modules"] = 500, {"detail": "It broke."}
        result = parachute("modules", "status")
        assert result.code == 0
    assert parachute.screens == snapshot


def test_two_modules_that_do_not_fit_are_not_enabled_together(
    parachute: Terminal, folder: Path, home: Home, snapshot: SnapshotAssertion
) -> None:
    provides = "provides:\n  - BrainInterface\n"
    parachute.ok("modules", "install", str(write_module(folder / "brain", "brain", more=provides)), "--yes")
    mind = str(write_module(folder / "mind", "mind", more=provides))
    parachute.fails("modules", "install", mind, "--yes")
    parachute.ok("modules", "disable", "brain")
    parachute.ok("modules", "install", mind, "--yes")
    parachute.fails("modules", "enable", "brain")
    assert json.loads(parachute.ok("modules", "status", "brain", "--json"))["state"] == "disabled"
    assert parachute.screens == snapshot


def test_a_broken_list_is_told_with_its_line(
    parachute: Terminal, source: Path, home: Home, snapshot: SnapshotAssertion
) -> None:
    (home.root / "modules.yaml").write_text("modules:\n  hello: nonsense\n...\n")
    (home.root / "modules.yaml").chmod(0o600)
    for command in (["list"], ["status"], ["install", str(source), "--yes"], ["remove", "hello", "--yes"]):
        parachute.fails("modules", *command)
    assert parachute.screens == snapshot


def test_check_names_every_mistake(
    parachute: Terminal, folder: Path, source: Path, snapshot: SnapshotAssertion
) -> None:
    parachute.ok("modules", "check", str(source))
    (source / "manifest.yaml").write_text("name: Hello!\nmodule: module.py\nunknown: 1\n")
    wrong = parachute("modules", "check", str(source))
    assert wrong.code == 1
    assert all(field in wrong.out for field in ("name", "version", "unknown", "line 1"))
    problems = json.loads(parachute("modules", "check", str(source), "--json").out)["problems"]
    assert len(problems) == len(wrong.out.splitlines()) >= 3
    touched = folder / "touched"
    write_module(source, "json", files={"tools.py": "def f(:\n", "other.py": f"open({str(touched)!r}, 'w')\n"})
    (source / "module.py").write_text(f"open({str(touched)!r}, 'w')\n")
    assert parachute("modules", "check", str(source)).code == 1
    assert not touched.exists()
    parachute("modules", "check", str(folder / "nothing"))
    assert parachute.screens == snapshot


def test_a_new_module_works(parachute: Terminal, folder: Path, snapshot: SnapshotAssertion) -> None:
    parachute.ok("modules", "new", "my-notes")
    made = folder / "my-notes"
    parachute.ok("modules", "check", str(made))
    tests = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-c",
            os.devnull,
            "--rootdir",
            ".",
            "-W",
            "error",
        ],
        cwd=made,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert "3 passed" in tests.stdout, tests.stdout + tests.stderr
    parachute.ok("modules", "install", "./my-notes", "--yes")
    parachute.fails("modules", "new", "my-notes")
    parachute.fails("modules", "new", "json")
    assert not (folder / "json").exists()
    assert parachute.screens == snapshot
