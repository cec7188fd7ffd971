"""What a system prompt is made of."""

import os
from pathlib import Path

import pytest

from parachute.chat.prompts.service import Prompts
from parachute.config.vault.service import Vault
from parachute.sandbox.engines.execution import Execution
from tests.capabilities.agents.stores import agent_store


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    made = Vault(tmp_path / "vault")
    made.prepare()
    return made


@pytest.fixture
def execution(tmp_path: Path) -> Execution:
    return Execution("sandboxed", "bubblewrap", tmp_path / "a.sock", "m.sock", "", "/somewhere", {}, ("/",))


def test_a_file_that_says_the_same_twice_counts_once(vault: Vault, execution: Execution) -> None:
    for name in ("AGENTS.md", "CLAUDE.md"):
        (vault.root / name).write_text("Be kind.")
    prompt = Prompts(vault).compose(execution, "All is allowed.")
    assert prompt.text.count("Be kind.") == 1
    assert prompt.context_files == ["AGENTS.md"]
    assert prompt.text.endswith("All is allowed.")
    assert "/somewhere" in prompt.text


def test_a_long_file_is_cut_and_it_is_said(vault: Vault, execution: Execution) -> None:
    (vault.root / "CLAUDE.md").write_text("word " * 40_000)
    prompt = Prompts(vault).compose(execution, "")
    assert "[cut]" in prompt.text
    assert prompt.context_truncated
    assert prompt.context_characters <= 65_536 + 8


def test_a_pipe_a_folder_and_a_link_in_place_of_instructions(
    vault: Vault, execution: Execution, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text("the secret words")
    folders = [vault.root / name for name in ("one", "two", "three")]
    for folder in folders:
        folder.mkdir()
    os.mkfifo(folders[0] / "CLAUDE.md")
    (folders[1] / "CLAUDE.md").mkdir()
    (folders[2] / "CLAUDE.md").symlink_to(tmp_path / "secret")
    prompt = Prompts(vault).compose(execution, "", contexts=("one", "two", "three"))
    assert "secret words" not in prompt.text
    assert prompt.context_files == []


@pytest.mark.parametrize("front", ["name: Pirate", 'name: "Pirate"', "other: 1\nname: 'Pirate'"])
def test_an_agent_and_its_name(vault: Vault, execution: Execution, front: str) -> None:
    (vault.root / "pirate.md").write_text(f"---\n{front}\n---\nYou are a pirate.\n")
    prompts = Prompts(vault, agents=agent_store(vault))
    prompt = prompts.compose(execution, "", agent=prompts.agent("pirate.md"))
    assert prompt.text.startswith("You are a pirate.")
    assert (prompt.source, prompt.source_path, prompt.agent_name) == ("agent", "pirate.md", "Pirate")
