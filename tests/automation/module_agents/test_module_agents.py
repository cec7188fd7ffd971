"""Agents of modules: prompt, tools and folders as the manifest says, and no more."""

import json
from typing import Any

import pytest

from parachute.modules.registry.models import Trust
from tests.automation.module_agents.conftest import MakePlace, Place
from tests.support.errors import raises
from tests.support.messages_api import MessagesAPI, several, text, tool_use
from tests.support.recorded import RecordedRequest

pytestmark = pytest.mark.long

INDEXER = {
    "description": "Indexes letters",
    "sandbox": {"workspace_access": "rw", "allowed_paths": ["Letters/", "Brain/people/ann.md"], "network": "none"},
    "system_prompt": "prompts/agent.md",
    "capabilities": ["Read", "Write", "Glob"],
    "bash": ["ls", "cat", "grep"],
}
READER = {"paths": ["Letters/**", "Brain/people/ann.md"], "capabilities": ["read", "glob", "grep"], "bash": True}


def results(events: list[dict[str, Any]]) -> list[tuple[bool, str]]:
    """(whether it is an error, content) of every tool call, in order."""
    return [(event["isError"], event["content"]) for event in events if event["type"] == "tool_result"]


def tools_of(request: RecordedRequest) -> list[str]:
    """The names of the tools that the model was offered."""
    return sorted(tool["name"] for tool in request.body["tools"])


def furnish(place: Place) -> None:
    """A vault with more in it than any agent may see."""
    for path in (
        "Letters/one.md",
        "Brain/people/ann.md",
        "Brain/people/bob.md",
        "Daily/today.md",
        ".skills/x/SKILL.md",
    ):
        place.write(path, f"text of {path}")
    (place.vault / "Letters/link.md").symlink_to(place.vault / "Daily/today.md")


async def test_an_agent_runs_to_its_end_with_its_own_prompt_and_tools(place: Place, api: MessagesAPI) -> None:
    furnish(place)
    place.write("AGENTS.md", "Instructions of the vault.")
    module = place.module(agents={"indexer": INDEXER})
    api.script(
        several(text("Let me look."), tool_use("Read", {"file_path": "/vault/Letters/one.md"})), text("All sorted.")
    )
    assert await place.agents.run_agent(module, "indexer", "Sort them!\nPlease.") == "All sorted."
    first = api.conversation[0]
    system = json.dumps(first.body["system"])
    assert "You sort letters." in system
    assert "Instructions of the vault" not in str(first.body)
    assert "/vault/Letters (read and write)" in system
    assert tools_of(first) == ["Bash", "Glob", "Read", "Write"]
    assert "text of Letters/one.md" in str(api.conversation[1].body["messages"])
    listed = json.loads((await place.core.services.sessions.listing.page())[1])["sessions"]
    (session,) = listed
    assert (session["title"], session["agentType"], session["agentName"]) == ("Sort them!", "module", "indexer")
    assert session["metadata"]["module"] == "letters"
    assert session["archived"] is False
    assert session["effectiveExecutionMode"] == "sandboxed"
    last = (await place.core.services.sessions.messages(session["id"]))[-1]
    assert last["content"][-1] == {"type": "text", "text": "All sorted."}


async def test_an_agent_sees_its_paths_and_nothing_else(place: Place, api: MessagesAPI) -> None:
    furnish(place)
    elsewhere = place.vault / "Daily/today.md"
    api.script(
        tool_use("Bash", {"command": "find /vault | sort; ls -a /attachments /outside"}),
        tool_use("Read", {"file_path": "/vault/Brain/people/ann.md"}),
        tool_use("Read", {"file_path": "/vault/Brain/people/bob.md"}),
        tool_use("Read", {"file_path": str(elsewhere)}),
        tool_use("Read", {"file_path": "/vault/Letters/link.md"}),
        tool_use("Glob", {"pattern": "**/*.md", "path": "/vault"}),
        tool_use("Bash", {"command": f"cat {elsewhere}"}),
        tool_use("Bash", {"command": f"cat {place.core.services.home.trust_database}"}),
        tool_use("Bash", {"command": "echo changed > /vault/Letters/one.md"}),
        tool_use("Bash", {"command": "echo changed > /vault/Brain/people/ann.md"}),
        text("done"),
    )
    events = await place.events(place.module(agents={"reader": READER}), agent="reader")
    found = results(events)
    seen = [line for line in found[0][1].splitlines() if line.startswith("/vault")]
    folders = ["/vault", "/vault/Brain", "/vault/Brain/people", "/vault/Letters"]
    files = ["/vault/Brain/people/ann.md", "/vault/Letters/link.md", "/vault/Letters/one.md"]
    assert sorted(seen) == sorted(folders + files)
    assert found[0][1].count("No such file or directory") == 2
    assert found[1][0] is False
    assert "text of Brain/people/ann.md" in found[1][1]
    assert [is_error for is_error, _ in found[2:5]] == [True] * 3
    assert "bob" not in found[5][1]
    assert all(is_error for is_error, _ in found[6:])
    assert "text of Daily" not in str(events)
    assert (place.vault / "Letters/one.md").read_text() == "text of Letters/one.md"
    assert (place.vault / "Brain/people/ann.md").read_text() == "text of Brain/people/ann.md"


async def test_what_is_given_for_writing_can_be_written_and_new_folders_are_made(
    place: Place, api: MessagesAPI
) -> None:
    agent = {**INDEXER, "sandbox": {"workspace_access": "rw", "allowed_paths": ["Letters/sorted/", "Note.md"]}}
    place.write("Note.md")
    api.script(
        tool_use("Write", {"file_path": "/vault/Letters/sorted/a.md", "content": "a"}),
        tool_use("Bash", {"command": "touch /vault/Letters/sorted/b"}),
        text("done"),
    )
    events = await place.events(place.module(agents={"indexer": agent}), agent="indexer")
    assert (place.vault / "Letters/sorted/a.md").read_text() == "a"
    (warning,) = (event["message"] for event in events if event["type"] == "warning")
    assert warning.startswith("/vault/Note.md was given to the agent only for reading")
    # `touch` is none of the commands that the manifest names.
    assert [event["toolName"] for event in events if event["type"] == "permission_denied"] == ["Bash"]
    assert not (place.vault / "Letters/sorted/b").exists()


async def test_without_commands_there_is_no_shell_and_a_call_of_it_is_refused(place: Place, api: MessagesAPI) -> None:
    agent = {**READER, "bash": False, "capabilities": ["read", "askuserquestion", "computer"]}
    api.script(tool_use("Bash", {"command": "id"}), text("done"))
    events = await place.events(place.module(agents={"reader": agent}), agent="reader")
    assert tools_of(api.conversation[0]) == ["Read"]
    assert [is_error for is_error, _ in results(events)] == [True]
    assert "uid" not in str(results(events))


async def test_interfaces_narrow_the_tools_that_it_gets(place: Place, api: MessagesAPI) -> None:
    permissions = {"mcp": ["brain_*", "other_tool"]}
    for interfaces, names in (
        (["BrainInterface@1.0"], ["brain_search"]),
        ([], ["brain_link", "brain_search", "other_tool"]),
    ):
        agent = {"sandbox": {}, "allowed_interfaces": interfaces}
        api.script(text("done"))
        module = place.module(permissions=permissions, agents={"asker": agent})
        assert await place.agents.run_agent(module, "asker", "Go!") == "done"
        shown = [name for name in tools_of(api.conversation[-1]) if name.startswith("mcp__")]
        assert shown == [f"mcp__parachute__{name}" for name in names]


async def test_the_default_agent_reads_what_the_module_may_read_and_has_no_network(
    place: Place, api: MessagesAPI
) -> None:
    furnish(place)
    permissions = {"read": ["Brain/**"], "write": ["Letters/**"], "network": ["api.example.org"]}
    api.script(
        tool_use("Bash", {"command": "ls /vault; echo x >> /vault/Letters/one.md; env | grep -i proxy"}), text("done")
    )
    events = await place.events(place.module(permissions=permissions))
    ((_, output),) = results(events)
    assert "Brain\nLetters\n" in output
    assert "Read-only file system" in output
    assert "proxy" not in output.lower()
    assert (place.vault / "Letters/one.md").read_text() == "text of Letters/one.md"
    assert [event["promptSource"] for event in events if event["type"] == "prompt_metadata"] == ["default"]


async def test_tools_of_modules_are_those_of_the_manifest_and_of_the_call(place: Place, api: MessagesAPI) -> None:
    module = place.module(permissions={"mcp": ["brain_*"]}, agents={"reader": {"capabilities": ["read"]}})
    api.script(tool_use("mcp__parachute__brain_search", {}), tool_use("mcp__parachute__other_tool", {}), text("done"))
    events = await place.events(module, agent="reader")
    shown = ["Read", "mcp__parachute__brain_link", "mcp__parachute__brain_search"]
    assert tools_of(api.conversation[0]) == shown
    assert results(events)[0] == (False, "answer of brain_search")
    assert results(events)[1][0] is True
    api.script(text("done"))
    await place.events(module, agent="reader", mcp_servers=["brain_link"])
    assert tools_of(api.conversation[-1]) == shown[:2]
    with raises("tool_not_permitted", names="other_tool"):
        await place.events(module, agent="reader", mcp_servers=["brain_link", "other_tool"])


async def test_agents_of_an_untrusted_module_get_nothing_of_the_user(place: Place, api: MessagesAPI) -> None:
    furnish(place)
    permissions = {"mcp": ["brain_*"], "read": ["Brain/**"]}
    agent = {"paths": ["Letters/"], "bash": True, "network": ["web.example.org"]}
    module = place.module(trust=Trust.UNTRUSTED, permissions=permissions, agents={"reader": agent})
    api.script(tool_use("Bash", {"command": "ls /vault; env | grep -i proxy"}), text("done"))
    events = await place.events(module, agent="reader")
    assert tools_of(api.conversation[0]) == ["Bash"]
    ((_, output),) = results(events)
    assert "No such file or directory" in output
    assert "proxy" not in output.lower()
    assert "Untrusted module" in [event["title"] for event in events if event["type"] == "warning"]


async def test_bridge_without_a_list_of_the_user_is_no_network_and_says_so(place: Place, api: MessagesAPI) -> None:
    api.script(text("done"))
    events = await place.events(place.module(agents={"caller": {"network": True}}), agent="caller")
    assert "No network" in [event["title"] for event in events if event["type"] == "warning"]


@pytest.mark.parametrize(
    ("agent", "key", "named"),
    [
        ("nobody", "no_such_agent", "asked, called, free, linked, lost"),
        ("free", "approval_needed", "free"),
        ("asked", "approval_needed", "asked"),
        ("called", "approval_needed", "called"),
        ("lost", "no_file", "prompts/none.md"),
        ("linked", "no_file", "prompts/link.md"),
    ],
)
async def test_what_cannot_be_run_is_refused_before_anything_is_stored(
    place: Place, api: MessagesAPI, agent: str, key: str, named: str
) -> None:
    module = place.module(
        agents={
            "free": {"sandbox": None, "requires_explicit_approval": True},
            "asked": {"requires_explicit_approval": True},
            "called": {"requires_explicit_invocation": True},
            "lost": {"system_prompt": "prompts/none.md"},
            "linked": {"system_prompt": "prompts/link.md"},
        }
    )
    (module.code / "prompts/link.md").symlink_to("/etc/hostname")
    with raises(key, names=named):
        await place.agents.run_agent(module, agent, "Go!")
    assert await place.core.services.sessions.count() == 0
    assert api.requests == []


async def test_folders_of_the_computer_itself_are_never_given(place: Place, api: MessagesAPI) -> None:
    module = place.module(agents={"spy": {"paths": [".parachute/**"], "capabilities": ["read"]}})
    with raises("service_error", names=r"\.parachute"):
        await place.agents.run_agent(module, "spy", "Go!")
    assert api.requests == []


async def test_without_a_sandbox_engine_nothing_runs(
    place: Place, api: MessagesAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with raises("no_sandbox", names="bubblewrap"):
        await place.agents.run_agent(place.module(agents={"reader": READER}), "reader", "Go!")
    assert await place.core.services.sessions.count() == 0


async def test_a_folder_outside_of_the_vault_needs_the_users_list(make_place: MakePlace, api: MessagesAPI) -> None:
    place = await make_place(project_folders=["~/Work"])
    for name in ("Work/client/a.md", "Else/b.md"):
        (place.folder / name).parent.mkdir(parents=True)
        (place.folder / name).write_text(f"text of {name}")
    (place.folder / "Work/link").symlink_to(place.folder / "Work/client")
    agent = {"paths": ["~/Work/client/", "~/Else/", "~/Work/link/"], "bash": True}
    api.script(tool_use("Bash", {"command": "cd /outside && find . | sort && cat Work/client/a.md"}), text("done"))
    events = await place.events(place.module(agents={"reader": agent}), agent="reader")
    ((_, output),) = results(events)
    assert output.splitlines()[:5] == [".", "./Work", "./Work/client", "./Work/client/a.md", "text of Work/client/a.md"]
    left_out = [event["message"] for event in events if event["type"] == "warning"]
    assert [sentence.split()[0] for sentence in left_out] == ["~/Else/", "~/Work/link/"]


@pytest.mark.parametrize(
    ("message", "key"),
    [
        ("", "message_length"),
        ("  \n", "message_length"),
        ("x" * 100_001, "message_length"),
        ("half \ud800", "message_missing"),
    ],
)
async def test_a_message_that_is_none_is_refused(place: Place, message: str, key: str) -> None:
    with raises(key):
        await place.events(place.module(), message)


async def test_what_goes_wrong_in_a_run_is_the_error_of_run_agent(place: Place, api: MessagesAPI) -> None:
    module = place.module(agents={"reader": READER})
    with raises("service_error", names="scripted no reply"):
        await place.agents.run_agent(module, "reader", "Go!")
