"""Agents of the vault, of projects and of the user: found, written, removed, approved, and named by messages."""

from pathlib import Path

import pytest

from parachute.base.errors import Conflict, InvalidInput, NotAllowed, NotFound, ParachuteError, Unavailable
from parachute.capabilities.agents.store import MOST, AgentStore
from parachute.capabilities.texts import etag_of
from parachute.config.vault.service import Vault
from tests.capabilities.agents.stores import agent_store
from tests.support.bad_names import BAD_NAMES
from tests.support.errors import raises

SAILOR = "---\nname: sailor\ndescription: Knows the sea.\n---\nYou are a sailor.\n"


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    made = Vault(tmp_path.resolve() / "vault")
    made.prepare()
    return made


@pytest.fixture
def store(vault: Vault) -> AgentStore:
    return agent_store(vault)


def write(path: Path, text: str = SAILOR) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_agents_are_found_in_all_places_and_the_vaults_win(vault: Vault, tmp_path: Path) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    for number, root in enumerate((vault.root, home, project)):
        write(root / ".claude/agents/sailor.md", SAILOR.replace("sailor.", f"sailor {number}."))
        write(root / f".claude/agents/own-{number}.md", f"Number {number}.")
    write(vault.root / ".agents/other.md")
    write(vault.root / "agents/pirate.md", "You are a pirate.")
    write(vault.root / "agents/README.md", "No agent.")
    found = {agent.name: (agent.source, agent.path) for agent in agent_store(vault, home).found(project)}
    assert found == {
        "sailor": ("vault", ".claude/agents/sailor.md"),
        "own-0": ("vault", ".claude/agents/own-0.md"),
        "own-1": ("user", str(home / ".claude/agents/own-1.md")),
        "own-2": ("project", str(project / ".claude/agents/own-2.md")),
        "pirate": ("vault", "agents/pirate.md"),
    }
    assert {agent.source for agent in agent_store(vault).found()} == {"vault"}


def test_a_change_is_seen_at_once(vault: Vault, store: AgentStore) -> None:
    path = write(vault.root / ".claude/agents/sailor.md")
    for text in ("You are a cook.", "You are a poet.", "You are a monk."):
        path.write_text(text)
        assert store.get("sailor").prompt == text
    path.unlink()
    assert store.found() == ()


def test_a_written_agent_is_approved_until_its_words_change(vault: Vault, store: AgentStore) -> None:
    made = store.create(
        "sailor", "You are a sailor.\n---\nhooks: no", "Knows the sea: all of it.", ("Read", "Bash"), "haiku"
    )
    assert (made.name, made.tools, made.model, made.source) == ("sailor", ("Read", "Bash"), "haiku", "vault")
    assert made.description == "Knows the sea: all of it."
    assert store.is_approved(made)
    path = vault.root / made.path
    path.write_text(path.read_text() + "Obey me.")
    assert not store.is_approved(store.get("sailor"))
    assert store.is_known(store.get("sailor"))
    store.delete("sailor")
    assert not path.exists()
    write(path)
    assert not store.is_known(store.get("sailor"))


@pytest.mark.parametrize(
    "wrong",
    [
        *({"name": name} for name in (*BAD_NAMES, "Sailor", "claude", "a" * 65)),
        {"description": "x" * 1025},
        {"description": "<b>x</b>"},
        {"prompt": " "},
        {"prompt": "x" * 300_000},
        {"model": "a b"},
        {"tools": ("Read", "Raed")},
        {"tools": ("Bash(git:*)",)},
    ],
)
def test_what_cannot_be_written_changes_nothing(vault: Vault, store: AgentStore, wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        store.create(**{"name": "sailor", "prompt": "You are a sailor.", **wrong})  # type: ignore[arg-type]
    assert not (vault.root / ".claude/agents").exists()


def test_a_name_that_is_taken_is_a_conflict(vault: Vault, store: AgentStore) -> None:
    write(vault.root / "agents/sailor.md")
    for name in ("sailor", "general-purpose"):
        with pytest.raises(Conflict):
            store.create(name, "You are a sailor.")
    assert not (vault.root / ".claude/agents").exists()


def test_only_the_vaults_own_are_removed(vault: Vault, tmp_path: Path) -> None:
    path = write(tmp_path / "home/.claude/agents/sailor.md")
    store = agent_store(vault, tmp_path / "home")
    for name in ("sailor", "Explore"):
        with pytest.raises(NotAllowed):
            store.delete(name)
    with pytest.raises(NotFound):
        store.delete("nobody")
    assert path.exists()


def test_a_link_in_place_of_the_folder_is_neither_read_nor_written_through(
    vault: Vault, store: AgentStore, tmp_path: Path
) -> None:
    path = write(tmp_path / "elsewhere/sailor.md")
    (vault.root / ".claude/agents").symlink_to(tmp_path / "elsewhere")
    assert store.found() == ()
    with pytest.raises(Unavailable):
        store.create("cook", "You are a cook.")
    assert list((tmp_path / "elsewhere").iterdir()) == [path]


def test_a_message_names_an_agent_by_its_name_or_the_path_of_its_file(vault: Vault, tmp_path: Path) -> None:
    project, home = tmp_path.resolve() / "project", tmp_path.resolve() / "home"
    write(vault.root / ".claude/agents/sailor.md")
    write(vault.root / "Projects/boat/.claude/agents/cook.md", "You are a cook.")
    for root in (project, home, tmp_path / "else"):
        write(root / ".claude/agents/poet.md", "You are a poet.")
    store = agent_store(vault, home, (project,))
    for named, path in {
        "sailor": ".claude/agents/sailor.md",
        ".claude/agents/sailor.md": ".claude/agents/sailor.md",
        "Projects/boat/.claude/agents/cook.md": "Projects/boat/.claude/agents/cook.md",
        f"{project}/.claude/agents/poet.md": f"{project}/.claude/agents/poet.md",
        f"{home}/.claude/agents/poet.md": f"{home}/.claude/agents/poet.md",
    }.items():
        assert store.find(named).path == path
    for named in ("nobody", f"{tmp_path}/else/.claude/agents/poet.md", "/etc/passwd", ".claude/settings.md"):
        with raises("no_such_agent"):
            store.find(named)
    with raises("no_such_agent"):
        agent_store(vault).find(f"{home}/.claude/agents/poet.md")


@pytest.mark.parametrize("path", ["../outside.md", "missing.md", "Chat/agent.txt", ".claude/agent.md", "Chat", ".md"])
def test_an_agent_that_is_none(vault: Vault, store: AgentStore, path: str) -> None:
    (vault.root.parent / "outside.md").write_text("x")
    for inside in ("Chat/agent.txt", ".claude/agent.md", ".hidden/.claude/agents/x.md"):
        write(vault.root / inside, "x")
    for named in (path, ".hidden/.claude/agents/x.md"):
        with raises("no_such_agent"):
            store.find(named)


def test_an_agent_through_a_linked_folder(vault: Vault, store: AgentStore, tmp_path: Path) -> None:
    write(tmp_path / "elsewhere/agent.md", "You are a spy.")
    (vault.root / "linked").symlink_to(tmp_path / "elsewhere")
    with raises("no_such_agent"):
        store.find("linked/agent.md")


def test_an_agent_whose_limits_cannot_be_read_does_not_answer(vault: Vault, store: AgentStore) -> None:
    write(vault.root / "agent.md", "---\npermissions: [all]\n---\nx")
    with raises("invalid_field", names="agentPath"):
        store.find("agent.md")


OTHERS = """---
# mine
name: sailor
description: <example>Ask me.</example>
color: blue
tools: Read, Bash
permissions: {bash: [git]}
---
You are a sailor.
"""


def test_a_change_keeps_what_it_does_not_name(vault: Vault, store: AgentStore) -> None:
    path = write(vault.root / "agents/sailor.md", OTHERS)
    path.chmod(0o640)
    before = store.get("sailor")
    made = store.change("sailor", "You are a cook.", before.description, before.tools, "haiku", etag_of(before.content))
    assert (
        path.read_text()
        == OTHERS.replace("a sailor.", "a cook.\n").replace("---\nYou", "model: haiku\n---\n\nYou")[:-1]
    )
    assert (made.prompt, made.model, made.commands) == ("You are a cook.", "haiku", ("git",))
    assert path.stat().st_mode & 0o777 == 0o640
    assert store.change("sailor", made.prompt, "Cooks.", None, None).tools is None
    assert path.read_text().startswith("---\n# mine\nname: sailor\ndescription: Cooks.\ncolor: blue\npermissions")


def test_a_change_approves_only_what_the_owner_has_seen(vault: Vault, store: AgentStore) -> None:
    store.create("cook", "You cook.")
    assert store.is_approved(store.change("cook", "You cook well.", "Cooks.", ("Read",)))
    write(vault.root / "agents/plain.md", "You are plain.")
    assert store.is_approved(store.change("plain", "You are simple."))
    write(vault.root / "agents/sailor.md", OTHERS)
    assert not store.is_approved(store.change("sailor", "You are a cook.", "Cooks."))
    store.approve(store.get("sailor"))
    assert store.is_approved(store.change("sailor", "You are a monk.", "Prays."))


def test_a_change_of_what_was_read_before_is_refused(vault: Vault, store: AgentStore) -> None:
    made = store.create("cook", "You cook.")
    path = vault.root / made.path
    path.write_text("Obey me.")
    with pytest.raises(Conflict) as refused:
        store.change("cook", "You cook well.", expected=etag_of(made.content))
    assert refused.value.key == "changed_meanwhile"
    assert path.read_text() == "Obey me."


@pytest.mark.parametrize(
    ("wrong", "key"),
    [
        ({"prompt": " "}, "empty"),
        ({"prompt": "x" * 300_000}, "prompt_too_long"),
        ({"description": "<b>x</b>"}, "description_with_tags"),
        ({"model": "a b"}, "invalid_model"),
        ({"tools": ("Raed",)}, "unknown_tool"),
        ({"name": "nobody"}, "no_such_agent"),
        ({"name": "Explore"}, "not_in_vault"),
        ({"name": "broken"}, "not_readable"),
    ],
)
def test_a_wrong_change_changes_nothing(vault: Vault, store: AgentStore, wrong: dict[str, object], key: str) -> None:
    path = write(vault.root / "agents/sailor.md")
    broken = write(vault.root / "agents/broken.md", "---\nname: broken\n")
    with pytest.raises(ParachuteError) as refused:
        store.change(**{"name": "sailor", "prompt": "You are a cook.", **wrong})  # type: ignore[arg-type]
    assert refused.value.key == key
    assert (path.read_text(), broken.read_text()) == (SAILOR, "---\nname: broken\n")


def test_a_folder_with_more_agents_than_are_read_says_so(vault: Vault, store: AgentStore) -> None:
    for number in range(MOST + 2):
        write(vault.root / f".claude/agents/a{number:04}.md", f"Number {number}.")
    found = store.found()
    assert [each.name for each in found if each.problem] == [f"a{MOST:04}.md"]
    assert len(found) == MOST + 1
