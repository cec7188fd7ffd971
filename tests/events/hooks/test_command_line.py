"""`parachute hooks`."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

from parachute.base.errors import Unavailable
from parachute.cli.main import application
from tests.support.errors import raises

pytestmark = pytest.mark.long


class CommandLine:
    """The command, in a home of its own."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / ".parachute"
        self.home.mkdir(mode=0o700)
        self._environment = {"PARACHUTE_HOME": str(self.home), "PARACHUTE_VAULT": str(folder / "Parachute")}

    def write(self, hooks: dict[str, Any]) -> None:
        """Write hooks.yaml."""
        (self.home / "hooks.yaml").write_text(yaml.safe_dump({"hooks": hooks}))

    def run(self, *arguments: str) -> Result:
        """Run; an error of ours is raised."""
        result = CliRunner().invoke(application(), ["hooks", *arguments], env=self._environment)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    def json(self, *arguments: str, code: int = 0) -> Any:
        """Return the output with --json."""
        result = self.run(*arguments, "--json")
        assert result.exit_code == code
        return json.loads(result.stdout)


@pytest.fixture
def hooks(tmp_path: Path) -> CommandLine:
    """See CommandLine."""
    return CommandLine(tmp_path)


def test_a_hook_is_listed_approved_and_tried(hooks: CommandLine, tmp_path: Path) -> None:
    script = tmp_path / "tell.sh"
    script.write_text("echo '{\"told\": true}'")
    hooks.write({"session.end": [{"type": "command", "command": f"bash {script}"}]})
    (listed,) = hooks.json("list")["hooks"]
    assert (listed["name"], listed["events"], listed["approved"]) == ("bash", ["session.end"], False)
    assert "not approved" in hooks.run("list").stdout

    refused = hooks.run("approve")
    assert refused.exit_code == 3
    assert str(script) in refused.stdout
    assert hooks.json("approve", code=3) == {"approved": [], "waiting": ["bash"]}
    assert hooks.json("list")["hooks"][0]["approved"] is False
    assert hooks.json("test", "session.end", code=1)[0]["exit_code"] is None

    assert hooks.json("approve", "--yes") == {"approved": ["bash"], "waiting": []}
    assert hooks.json("list")["hooks"][0]["approved"] is True
    (tried,) = hooks.json("test", "session.end")
    assert (tried["exit_code"], json.loads(tried["stdout"])) == (0, {"told": True})
    assert "output: " in hooks.run("test", "session.end").stdout
    assert hooks.run("approve").stdout == "Nothing waits for approval.\n"

    script.write_text("exit 4")
    assert hooks.json("list")["hooks"][0]["approved"] is False
    assert "bash" in hooks.run("approve", "bash", "--yes").stdout
    assert hooks.json("test", "session.end", code=1)[0]["exit_code"] == 4


def test_approving_shows_the_text_and_after_a_change_the_difference(hooks: CommandLine, tmp_path: Path) -> None:
    script = tmp_path / "do.sh"
    script.write_text("echo one\necho two\n")
    hooks.write({"session.end": [{"command": f"bash {script}"}]})
    assert "+echo one\n+echo two" in hooks.run("approve").stdout
    hooks.run("approve", "--yes")
    script.write_text("echo one\necho three\n")
    shown = hooks.run("approve").stdout
    assert "-echo two\n+echo three" in shown
    assert "+echo one" not in shown


def test_only_the_named_hook_is_approved(hooks: CommandLine) -> None:
    hooks.write({"session.end": [{"command": "true", "name": "one"}, {"command": "false", "name": "two"}]})
    hooks.run("approve", "two", "--yes")
    assert {each["name"]: each["approved"] for each in hooks.json("list")["hooks"]} == {"one": False, "two": True}
    with raises("no_hook", names="three"):
        hooks.run("approve", "three", "--yes")


def test_what_cannot_run_is_said(hooks: CommandLine) -> None:
    hooks.write({"session.end": [{"command": "a | b", "name": "piped"}]})
    assert "needs a shell" in hooks.run("list").stderr
    with raises("hook_cannot_run"):
        hooks.run("approve", "piped", "--yes")
    hooks.write({"session.end": [{"command": "true", "shell": "bash"}]})
    assert "line 4: hooks.session.end[0].shell: Unknown field" in hooks.run("list").stderr


def test_without_hooks_it_says_how_to_write_one(hooks: CommandLine) -> None:
    assert "hooks.yaml" in hooks.run("list").stderr
    assert hooks.json("list") == {"hooks": [], "problems": []}
    assert hooks.json("test", "session.end") == []
    with raises("event_name_invalid"):
        hooks.run("test", "session")


def test_errors_are_those_of_the_running_computer(hooks: CommandLine) -> None:
    with pytest.raises(Unavailable):
        hooks.run("errors")
