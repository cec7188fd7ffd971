"""The consent screen, and what changes with an update."""

import json
from typing import Any

import pytest
from msgspec import convert, to_builtins
from msgspec.structs import replace

from parachute.base.errors import InvalidInput
from parachute.modules.manifest.consents import Consent, ScheduledConsent, consent, difference
from parachute.modules.manifest.loading import parse
from tests.modules.manifest.test_loading import COMPLETE, EVERYTHING, MINIMAL

REFLECTION = ScheduledConsent(
    "reflection", "Reflection", "Looks back at the day", "04:00", True, "Daily/reflections/{date}.md", ("Read", "Glob")
)
BY_HAND = ScheduledConsent("tidy", "Tidy", "", "03:00", False, "Contacts/{date}.md", (), "a-model", ("brain",))
SCHEDULED = (REFLECTION, BY_HAND)


def stored(asked: Consent) -> dict[str, Any]:
    """Return a consent as it comes back from a file."""
    document: dict[str, Any] = json.loads(json.dumps(to_builtins(asked)))
    return document


def test_the_screen_says_everything() -> None:
    assert consent(parse(EVERYTHING.encode()), SCHEDULED).as_text() == [
        "contacts 2.1.0-rc.1",
        "“Contacts with everything.”",
        "",
        "This module requests access to:",
        "  Create folder: Contacts/",
        "  Read and write: Contacts/**",
        "  Read: Brain/**",
        "  Read: .skills/contacts.md",
        "  Start programs of this computer, which reach what the module reaches (git)",
        "  Use the tool: brain_*",
        "  Read all that Brain knows, with journal entries about it, and note what else is about it",
        "  Read all of your journal",
        "",
        "Sets the prompt of:",
        "  conversations without a folder",
        "  conversations that run on the computer itself",
        "",
        "Network:",
        "  Reach *.example.org",
        "  Reach api.example.com",
        "",
        "Agents this module can run:",
        "  enricher: “Fetches public information”",
        "    - Network access: api.example.com",
        "    - File access: Contacts/, ~/Work/contacts (outside of the vault) (read and write)",
        "    - Commands: git, npm",
        "    - Tools: Read, Write",
        "    - Skills: all of yours, with their files and programs",
        "    - Can suggest: changes in brain",
        "    - Limits: 64 processes; in a container also 1g of memory and 2 processors",
        "  short:",
        "    - Network access: none",
        "    - File access: Brain/ (read only)",
        "    - Commands: none",
        "    - Tools: Read",
        "    - Limits: 256 processes; in a container also 512m of memory and 1 processor",
        "  free:",
        "    - Runs WITHOUT a sandbox, with all of your rights, after you approve it each time",
        "    - Network access: everything",
        "    - File access: everything that you can open",
        "    - Commands: none",
        "    - Limits: none",
        "",
        "Scheduled agents:",
        "  Runs by itself each day at 04:00: Reflection — “Looks back at the day”",
        "    - Writes: Daily/reflections/{date}.md",
        "    - Tools: Read, Glob",
        "  Runs when you say so: Tidy",
        "    - Writes: Contacts/{date}.md",
        "    - Tools: none",
        "    - Can suggest: changes in brain",
        "    - Model: a-model",
        "",
        "MCP tools provided:",
        "  contacts_search: “Search contacts”",
        "",
        "Reacts to:",
        "  daily.entry.created",
        "  brain.mention.detected",
        "",
        "Interfaces provided:",
        "  ContactsInterface@2.3",
        "",
        "Packages it brings:",
        "  vobject>=0.9",
        "  httpx[http2] ~= 0.28 ; python_version >= '3.11'",
        "",
        "Process:",
        "  Runs all the time (128m of memory, 32 processes)",
        "",
        "Asks for what has no effect here:",
        "  agents.enricher.sandbox.allowed_paths: ${CWD}/out: an agent of a module has no working directory of yours",
        "  hooks: async of daily.entry.created: events are always asynchronous",
        "  ui.entry: no app shows a module's own page",
    ]


def test_a_module_that_asks_for_nothing() -> None:
    lines = consent(parse(MINIMAL.encode()), ()).as_text()
    assert "  nothing in the vault" in lines
    assert lines[lines.index("Network:") + 1] == "  none"


def test_fields_without_effect_are_named_with_the_reason() -> None:
    """Every switch of an agent that changes nothing, and none that does."""
    agent = """
agents:
  one:
    sandbox: {workspace_access: rw, allowed_paths: [A/], read_only_root: false, cap_drop: [NET_RAW]}
    capabilities: [read, Skill, Computer, AskUserQuestion, WebFetch]
    load_cwd_claude_md: true
    allow_workspace_skills: true
    requires_explicit_approval: true
"""
    found = consent(parse((MINIMAL + agent).encode()), ()).without_effect
    assert [line.removeprefix("agents.one.").partition(": ")[0] for line in found] == [
        *["capabilities"] * 3,
        "load_cwd_claude_md",
        "allow_workspace_skills",
        "sandbox.read_only_root",
        "sandbox.cap_drop",
    ]
    allowed = agent.replace("requires", "allow_user_skills: true\n    requires")
    assert not any("Skill:" in line for line in consent(parse((MINIMAL + allowed).encode()), ()).without_effect)


def test_a_consent_survives_json() -> None:
    for text in (EVERYTHING, MINIMAL, COMPLETE.read_text()):
        asked = consent(parse(text.encode()), SCHEDULED)
        assert convert(stored(asked), Consent) == asked


def test_an_update_shows_only_what_changes() -> None:
    old = consent(parse(EVERYTHING.encode()), SCHEDULED)
    assert not difference(old, old)
    text = (
        EVERYTHING.replace("2.1.0-rc.1", "3.0.0").replace("Brain/**", "Daily/**").replace("[api.example.com]", "bridge")
    )
    change = difference(old, consent(parse(text.replace("pids_limit: 64", "pids_limit: 65").encode()), SCHEDULED))
    assert change.as_text() == [
        "+ This module requests access to: Read: Daily/**",
        "+ Agent enricher: Network access: the hosts that you allow in the settings (sandbox.hosts)",
        "+ Agent enricher: Limits: 65 processes; in a container also 1g of memory and 2 processors",
        "- This module requests access to: Read: Brain/**",
        "- Agent enricher: Network access: api.example.com",
        "- Agent enricher: Limits: 64 processes; in a container also 1g of memory and 2 processors",
    ]
    assert change.removed[0] == "This module requests access to: Read: Brain/**"


def test_the_same_right_for_another_agent_is_a_change() -> None:
    one = MINIMAL + "agents: {a: {paths: [X/], capabilities: [read]}, b: {}}\n"
    other = MINIMAL + "agents: {a: {}, b: {paths: [X/], capabilities: [read]}}\n"
    added = difference(consent(parse(one.encode()), ()), consent(parse(other.encode()), ())).added
    assert "Agent b: File access: X/ (read only)" in added


def test_a_consent_that_was_stored_without_scheduled_agents_is_read() -> None:
    old = consent(parse(MINIMAL.encode()), ())
    document = stored(old)
    del document["scheduled"]
    assert convert(document, Consent) == old
    with_agent = consent(parse(MINIMAL.encode()), (REFLECTION,))
    assert difference(convert(document, Consent), with_agent).as_text() == [
        "+ Agent file reflection: Runs by itself each day at 04:00: Reflection — “Looks back at the day”",
        "+ Agent file reflection: Writes: Daily/reflections/{date}.md",
        "+ Agent file reflection: Tools: Read, Glob",
    ]


def test_each_change_of_a_scheduled_agent_is_told() -> None:
    manifest = parse(MINIMAL.encode())
    old = consent(manifest, SCHEDULED)
    for field, value, said in (
        (
            "time",
            "every weekday at 7",
            "reflection: Runs by itself every weekday at 7: Reflection — “Looks back at the day”",
        ),
        ("time", "05:00", "reflection: Runs by itself each day at 05:00: Reflection — “Looks back at the day”"),
        ("by_itself", False, "reflection: Runs when you say so: Reflection — “Looks back at the day”"),
        ("output", "Daily/{date}.md", "reflection: Writes: Daily/{date}.md"),
        ("tools", ("Read", "Bash"), "reflection: Tools: Read, Bash"),
        ("model", "other", "reflection: Model: other"),
    ):
        change: dict[str, Any] = {field: value}
        new = consent(manifest, (replace(REFLECTION, **change), BY_HAND))
        assert difference(old, new).added == (f"Agent file {said}",)
    # What one agent may do already is new for the other.
    assert difference(old, consent(manifest, (REFLECTION, replace(BY_HAND, tools=("Read", "Glob"))))).added == (
        "Agent file tidy: Tools: Read, Glob",
    )


def test_what_a_module_says_of_itself_looks_like_nothing_else() -> None:
    faked = '"Finds things.\\n\\nNetwork:\\n  none"'
    text = f"{MINIMAL}description: {faked}\nmcp_tools:\n  - name: find\n    description: {faked}\n"
    asked = consent(parse(f"{text}permissions:\n  network: [example.org]\n".encode()), ())
    shown = "\n".join(asked.as_text()).splitlines()
    assert shown.count("Network:") == 1
    assert shown[shown.index("Network:") + 1] == "  Reach example.org"
    assert "  find: “Finds things. Network: none”" in shown
    changes = difference(consent(parse(MINIMAL.encode()), ()), asked).as_text()
    assert all(line[0] in "+-" for line in "\n".join(changes).splitlines())


def test_the_author_and_the_reasons_are_shown_and_are_no_rights() -> None:
    permissions = (
        'permissions: {read: [{path: "Brain/**", reason: to link contacts}], network: '
        '[{host: api.example.com, reason: "“public” information"}]}'
    )
    about = "author: The Makers\nui: {title: Contacts, icon: 📇}\n"
    asked = consent(parse(f"{MINIMAL}\n{about}{permissions}\n".encode()), ())
    lines = asked.as_text()
    assert "By “The Makers”, as it says" in lines
    assert "  Read: Brain/** (“to link contacts”)" in lines
    assert '  Reach api.example.com (“"public" information”)' in lines
    assert (asked.title, asked.icon) == ("Contacts", "📇")
    assert asked.reasons["Brain/**"] == "to link contacts"
    assert convert(stored(asked), Consent) == asked
    assert not difference(replace(asked, reasons={}, author="", title="", icon=""), asked)
    # As an earlier version has stored it.
    document = {
        name: value for name, value in stored(asked).items() if name not in ("author", "reasons", "title", "icon")
    }
    assert not difference(convert(document, Consent), asked)


@pytest.mark.parametrize(
    "entry",
    ["{path: Brain/**}", "{reason: because}", "{path: /etc, reason: x}", "{path: A/**, reason: x, more: y}", "[A]"],
)
def test_a_reason_stands_with_what_it_is_for(entry: str) -> None:
    with pytest.raises(InvalidInput):
        parse(f"{MINIMAL}\npermissions: {{read: [{entry}]}}\n".encode())
