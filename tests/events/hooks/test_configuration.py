"""hooks.yaml, and what the app is shown."""

from pathlib import Path

import pytest
import yaml
from fastapi import FastAPI
from fastapi.testclient import TestClient

from parachute.base.services import ServiceRegistry
from parachute.events.hooks import configuration
from parachute.events.hooks.api import router
from parachute.events.hooks.memory_makers import HookMemory

from .conftest import Place

pytestmark = pytest.mark.long

# As the specification shows it.
EXAMPLE = """\
hooks:
  daily.entry.created:
    - type: "command"
      command: "python -m parachute_brain.hooks.detect_mentions"
      timeout: 30
    - type: "command"
      command: "/path/to/custom/backup-script.sh"
      async: true  # Non-blocking

  session.end:
    - type: "command"
      command: "python -m parachute.hooks.activity_summary"
"""


def problems(place: Place, text: str) -> str:
    (place.home.root / "hooks.yaml").write_text(text)
    found = configuration.read(place.home.root)
    assert found.hooks == ()
    return " ".join(found.problems)


async def test_the_example_of_the_specification_is_read(place: Place) -> None:
    (place.home.root / "hooks.yaml").write_text(EXAMPLE)
    listed = await place.hooks.list()
    assert [(each.hook.name, each.hook.event, each.hook.timeout, each.hook.is_async) for each in listed] == [
        ("detect_mentions", "daily.entry.created", 30, False),
        ("backup-script", "daily.entry.created", 30, True),
        ("activity_summary", "session.end", 30, False),
    ]
    assert listed[0].problem == "There is no Python module 'parachute_brain.hooks.detect_mentions'."
    assert listed[1].problem == "/path/to/custom/backup-script.sh does not exist."
    assert listed[2].is_approved


@pytest.mark.parametrize(
    ("entry", "line", "says"),
    [
        (
            "{type: command, command: a, shell: true}",
            3,
            "hooks.session.end[0].shell: Unknown field; allowed are type, command",
        ),
        ("{type: prompt, command: a}", 3, "hooks.session.end[0].type: Only `command`"),
        ("{type: command}", 3, "hooks.session.end[0].command: This is required"),
        ("{command: ''}", 3, "hooks.session.end[0].command"),
        ("{command: [a, b]}", 3, "hooks.session.end[0].command: A command line"),
        ("{command: a, timeout: 0}", 3, "hooks.session.end[0].timeout"),
        ("{command: a, timeout: 601}", 3, "hooks.session.end[0].timeout"),
        ("{command: a, timeout: soon}", 3, "hooks.session.end[0].timeout"),
        ("{command: a, timeout: .nan}", 3, "hooks.session.end[0].timeout"),
        ("{command: a, timeout: true}", 3, "hooks.session.end[0].timeout"),
        ("{command: a, async: 1}", 3, "hooks.session.end[0].async: Write true or false"),
        ("{command: a, command: b}", 3, "'command' is there twice"),
        ("{command: !!python/name:os.system x}", 3, "The tag"),
        ("just text", 3, "hooks.session.end[0]: Fields with values"),
    ],
)
def test_a_wrong_entry_is_told_with_its_line(place: Place, entry: str, line: int, says: str) -> None:
    text = problems(place, f"hooks:\n  session.end:\n    - {entry}\n")
    assert says in text
    assert f"line {line}:" in text


@pytest.mark.parametrize(
    "text",
    [
        "hooks: [",
        "hook: {}",
        "- a",
        "hooks: {session: [{command: a}]}",
        "hooks: {session.end: {command: a}}",
        "hooks: {'*': [{command: a}]}",
        "a" * 300_000,
        "[" * 5000,
        "hooks: &a {x.y: *a}",
        "a: b: c",
        "\x00",
    ],
)
def test_a_file_that_is_something_else_brings_no_hook_and_says_why(place: Place, text: str) -> None:
    assert "hooks.yaml" in problems(place, text)


def test_all_wrong_entries_are_told_at_once(place: Place) -> None:
    text = problems(place, "hooks:\n  session.end:\n    - {command: a, x: 1}\n    - {command: a, y: 1}\n")
    assert "line 3" in text
    assert "line 4" in text


@pytest.mark.parametrize("text", ["", "# nothing", "hooks:", "hooks: {}", "hooks: {session.end: }"])
def test_an_empty_file_is_no_error(place: Place, text: str) -> None:
    (place.home.root / "hooks.yaml").write_text(text)
    assert configuration.read(place.home.root) == configuration.Configuration()


async def test_a_broken_file_leaves_the_scripts(place: Place) -> None:
    (place.home.root / "hooks.yaml").write_text("hooks: [")
    (place.folder / "on-session-end.py").write_text("")
    assert [each.hook.name for each in await place.hooks.list()] == ["on-session-end"]
    assert place.hooks.errors()[0].hook == "hooks.yaml"


async def test_a_script_whose_name_means_nothing_is_told(place: Place) -> None:
    for name in ("on-.py", "on-Session-End.py", "on-once.py", "helper.py", ".on-session-end.py.swp"):
        (place.folder / name).write_text("")
    assert [problem.partition(":")[0].rpartition("/")[2] for problem in place.hooks.problems()] == [
        "on-.py",
        "on-Session-End.py",
        "on-once.py",
    ]


async def test_a_change_of_the_file_holds_at_once(place: Place) -> None:
    assert list(place.hooks.patterns()) == []
    place.write(daily__entry__created="true")
    assert list(place.hooks.patterns()) == ["daily.entry.created"]
    (place.folder / "on-session-end.py").write_text("")
    assert list(place.hooks.patterns()) == ["daily.entry.created", "session.end"]
    place.write(session__start="true")
    # What is asked before it happens does not come by the bus.
    assert list(place.hooks.patterns()) == ["session.end"]


def test_the_first_file_is_written_once(tmp_path: Path) -> None:
    configuration.install(tmp_path)
    file = tmp_path / "hooks.yaml"
    assert list(yaml.safe_load(file.read_text())["hooks"]) == [
        "session.start",
        "session.end",
        "context.review",
        "context.limit.approaching",
    ]
    assert file.stat().st_mode & 0o777 == 0o600
    file.unlink()
    configuration.install(tmp_path)
    assert not file.exists()


async def test_the_app_is_shown_hooks_and_errors_in_its_own_words(place: Place) -> None:
    async def has_model() -> None:
        return None

    app = FastAPI()
    app.include_router(router)
    app.state.services = ServiceRegistry(place.hooks, HookMemory(place.hooks, has_model))
    place.write(
        session__start={"command": "false", "name": "guard", "description": "Says no."},
        session__end=[
            {"command": "false", "name": "guard", "description": "Says no."},
            {"command": "true", "async": True},
        ],
    )
    await place.approve()
    await place.fire("session.end")
    client = TestClient(app)
    shown = client.get("/api/hooks").json()
    assert shown["health"] == {"recent_errors_count": 1}
    assert shown["problems"] == []
    assert sorted(
        (each["name"], tuple(each["events"]), each["blocking"], each["description"]) for each in shown["hooks"]
    ) == [
        ("guard", ("session.end", "session.start"), True, "Says no."),
        ("true", ("session.end",), False, None),
    ]
    (error,) = client.get("/api/hooks/errors").json()["errors"]
    assert (error["hook"], error["message"]) == ("guard", "It ended with exit code 1.")
    assert error["timestamp"].endswith("Z")
