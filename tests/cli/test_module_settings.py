"""`parachute modules settings`, `set` and `unset`."""

import json
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from parachute.config.settings.home import Home
from tests.modules.registry.building import write_module
from tests.support.terminal import Terminal

from .scripted_core import ScriptedCore

SETTINGS = """\
settings:
  order: {type: choice, choices: [name, city], default: name, description: How the list is sorted}
  interval: {type: integer, default: 15}
  title: {type: string}
  password: {type: secret}
"""


@pytest.fixture
def hello(parachute: Terminal, home: Home) -> Path:
    """The source of an installed module with settings."""
    source = write_module(Path(parachute.environment["HOME"]) / "source", more=SETTINGS)
    parachute.ok("modules", "install", str(source), "--yes")
    parachute.screens.clear()
    return source


def shown(parachute: Terminal) -> dict[str, tuple[bool, object]]:
    """Of each setting whether it is set, and its value, None of a secret."""
    rows = json.loads(parachute.ok("modules", "settings", "hello", "--json"))
    return {row["name"]: (row["is_set"], row["value"]) for row in rows}


@pytest.mark.long
def test_values_have_the_type_of_their_setting(parachute: Terminal, hello: Path, snapshot: SnapshotAssertion) -> None:
    assert shown(parachute) == {
        "order": (False, "name"),
        "interval": (False, 15),
        "title": (False, None),
        "password": (False, None),
    }
    parachute.ok("modules", "set", "hello", "interval", "-5")
    parachute.ok("modules", "set", "hello", "order", "city")
    parachute.ok("modules", "set", "hello", "title", "-", stdin="5\n6\n")
    assert shown(parachute) == {
        "order": (True, "city"),
        "interval": (True, -5),
        "title": (True, "5\n6"),
        "password": (False, None),
    }
    table = [" ".join(line.split()) for line in parachute.ok("modules", "settings", "hello").splitlines()]
    assert table == [
        "Name Value From Type Meaning",
        "order city you name | city How the list is sorted",
        "interval -5 you integer",
        "title 5 6 you string",
        "password not set secret",
    ]
    parachute.ok("modules", "unset", "hello", "interval")
    assert shown(parachute)["interval"] == (False, 15)
    assert parachute.screens == snapshot


@pytest.mark.long
def test_what_cannot_be_is_refused(parachute: Terminal, hello: Path, home: Home, snapshot: SnapshotAssertion) -> None:
    for arguments in (
        ["set", "hello", "interval", "often"],
        ["set", "hello", "order", "street"],
        ["set", "hello", "order"],
        ["set", "hello", "colour", "red"],
        ["unset", "hello", "colour"],
        ["set", "nothing", "order", "city"],
        ["settings", "nothing"],
        ["set", "hello", "title", "\udcff"],
    ):
        parachute.fails("modules", *arguments)
    assert not (home.root / "module-settings").exists()
    assert parachute.screens == snapshot


@pytest.mark.long
def test_a_secret_is_neither_on_the_command_line_nor_on_the_screen(
    parachute: Terminal, hello: Path, home: Home, snapshot: SnapshotAssertion
) -> None:
    file = home.root / "module-settings/hello.json"
    said = parachute.fails("modules", "set", "hello", "password", "hunter2")
    assert ("hunter2" in said, file.exists()) == (False, False)
    parachute.fails("modules", "set", "hello", "password")
    with parachute.screen("modules", "set", "hello", "password") as screen:
        screen.until("password of hello: ")
        screen.type("hunter2\n")
        assert "hunter2" not in screen.until("password of hello is set.")
        assert screen.end() == 0
        assert "hunter2" not in screen.seen
    assert '"hunter2"' in file.read_text()
    for keys, code in (("\x03", 130), ("\x04", 1)):
        with parachute.screen("modules", "set", "hello", "password") as screen:
            screen.until("password of hello: ")
            assert screen.end(pressing=keys) == code
    parachute.ok("modules", "set", "hello", "password", "-", stdin="correct horse\n")
    assert '"correct horse"' in file.read_text()
    assert "correct horse" not in parachute.ok("modules", "settings", "hello")
    assert shown(parachute)["password"] == (True, None)
    parachute.ok("modules", "unset", "hello", "password")
    assert "correct horse" not in file.read_text()
    assert parachute.screens == snapshot


def test_a_running_computer_is_told(parachute: Terminal, hello: Path, home: Home) -> None:
    with ScriptedCore(home) as core:
        core.answers["POST", "/api/modules/reload"] = 200, {}
        parachute.ok("modules", "set", "hello", "interval", "30")
        parachute.ok("modules", "unset", "hello", "interval")
        assert core.paths() == ["POST /api/modules/reload"] * 2
        assert core.calls[0].body == {}


@pytest.mark.long
def test_settings_go_with_a_module_only_when_they_are_purged(
    parachute: Terminal, hello: Path, home: Home, snapshot: SnapshotAssertion
) -> None:
    file = home.root / "module-settings/hello.json"
    parachute.ok("modules", "set", "hello", "interval", "30")
    parachute("modules", "remove", "hello")
    parachute("modules", "remove", "hello", "--yes")
    parachute.ok("modules", "install", str(hello), "--yes")
    assert shown(parachute)["interval"] == (True, 30)
    with parachute.screen("modules", "remove", "hello") as screen:
        screen.until("Remove the module hello? [y/N]")
        screen.type("y\n")
        screen.until(f"Delete its private data in {file}, too? [y/N]")
        screen.type("y\n")
        assert screen.end() == 0
    assert not file.exists()
    assert parachute.screens == snapshot


def test_a_file_that_is_not_understood_is_told(
    parachute: Terminal, hello: Path, home: Home, snapshot: SnapshotAssertion
) -> None:
    parachute.ok("modules", "set", "hello", "interval", "30")
    file = home.root / "module-settings/hello.json"
    file.write_text("{")
    for arguments in (["settings", "hello"], ["set", "hello", "interval", "5"], ["unset", "hello", "interval"]):
        parachute.fails("modules", *arguments)
    assert file.read_text() == "{"
    assert parachute.screens == snapshot
