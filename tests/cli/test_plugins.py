"""`parachute plugins`."""

import json
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.capabilities.plugins.building import repository, write_files
from tests.modules.registry.building import Repository
from tests.support.terminal import Terminal

pytestmark = pytest.mark.long


@pytest.fixture
def demo(parachute: Terminal, tmp_path: Path) -> Repository:
    parachute.ok("vault", "set", "--create", str(tmp_path / "vault"))
    return repository(tmp_path / "demo-plugin")


def test_a_plugin_is_installed_shown_approved_updated_and_removed(
    parachute: Terminal, demo: Repository, snapshot: SnapshotAssertion
) -> None:
    asked = parachute("plugins", "install", demo.url)
    assert asked.code == 3
    assert json.loads(parachute.ok("plugins", "list", "--json")) == {"plugins": [], "left_out": []}
    shown = json.loads(parachute("plugins", "install", demo.url, "--json").out)
    assert set(shown) == {"texts", "programs"}
    installed = json.loads(parachute.ok("plugins", "install", demo.url, "--yes", "--json"))
    assert installed["approved"] == {"texts": True, "programs": True}
    parachute.ok("plugins", "list")
    page = parachute.ok("plugins", "show", "demo-plugin")
    assert all(word in page for word in ("skill    greet", "/demo:deploy", "output-styles", "Not used here"))
    detail = json.loads(parachute.ok("plugins", "show", "demo-plugin", "--json"))
    assert [server["name"] for server in detail["contents"]["servers"]] == ["demo-plugin/words"]
    parachute.ok("mcp", "list")
    (skill,) = json.loads(parachute.ok("skills", "list", "--json"))
    assert (skill["name"], skill["source"], skill["approved"]) == ("demo:greet", "plugin", True)
    parachute.ok("skills", "show", "demo:greet")
    listed = {each["name"]: each["source"] for each in json.loads(parachute.ok("agents", "list", "--json"))}
    assert listed["demo:reviewer"] == "plugin"
    parachute.ok("agents", "show", "demo:reviewer")
    parachute.ok("plugins", "check", "demo-plugin")
    parachute.ok("plugins", "update", "demo-plugin")
    write_files(demo.folder, {"scripts/hook.sh": "#!/bin/sh\necho \x1b[2J other\n"})
    demo.commit()
    assert json.loads(parachute.ok("plugins", "check", "demo-plugin", "--json"))["update_available"]
    asked = parachute("plugins", "update", "demo-plugin")
    assert asked.code == 3
    parachute.ok("plugins", "update", "demo-plugin", "--yes")
    # Conversations without a workspace have the servers that the settings name, and it is said how.
    approved, command = parachute("plugins", "approve", "demo-plugin", "--yes"), "config add default_capabilities.mcps"
    assert ("is approved" in approved.out, f"{command} demo-plugin/words" in approved.err) == (True, True)
    parachute.ok(*command.split(), "demo-plugin/words")
    assert command not in parachute("plugins", "approve", "demo-plugin", "--yes").err
    parachute.ok("plugins", "remove", "demo-plugin")
    assert parachute("plugins", "show", "demo-plugin").code == 1
    assert "demo-plugin-words" not in parachute("mcp", "list").out
    assert parachute.screens == snapshot
