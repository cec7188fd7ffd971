"""What a system prompt is made of."""

from pathlib import Path

import pytest

from parachute.base.errors import NotFound
from parachute.chat.contexts.models import Chain, ContextFile
from parachute.chat.prompts.service import Prompts
from parachute.config.vault.service import Vault
from parachute.sandbox.engines.execution import Execution


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    made = Vault(tmp_path / "vault")
    made.prepare()
    return made


@pytest.fixture
def execution(tmp_path: Path) -> Execution:
    return Execution("sandboxed", "bubblewrap", tmp_path / "a.sock", "m.sock", "", "/somewhere", {}, ("/",))


def test_a_prompt_is_joined_of_its_parts(vault: Vault, execution: Execution) -> None:
    file = ContextFile("AGENTS.md", "", "root", "Be kind.", tokens=2)
    prompts = Prompts(vault)
    prompt = prompts.compose(execution, "All is allowed.", context=Chain((file,)))
    assert prompt.text.startswith(prompts.default)
    assert prompt.text.count("Be kind.") == 1
    assert (prompt.context_files, prompt.context_tokens) == (["AGENTS.md"], 2)
    assert prompt.text.endswith("All is allowed.")
    assert "/somewhere" in prompt.text
    custom = prompts.compose(execution, "", custom="You are a poet.", context=Chain((file,)))
    assert "Be kind." not in custom.text


@pytest.mark.parametrize("path", ["../outside.md", "missing.md", "Chat/agent.txt", ".claude/agent.md", "Chat"])
def test_an_agent_that_is_none(vault: Vault, execution: Execution, path: str) -> None:
    (vault.root.parent / "outside.md").write_text("x")
    for inside in ("Chat/agent.txt", ".claude/agent.md"):
        (vault.root / inside).parent.mkdir(exist_ok=True, parents=True)
        (vault.root / inside).write_text("x")
    with pytest.raises(NotFound, match="agentPath"):
        Prompts(vault).compose(execution, "", agent_path=path)


def test_an_agent_through_a_linked_folder(vault: Vault, execution: Execution, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "agent.md").write_text("You are a spy.")
    (vault.root / "linked").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(NotFound, match="agentPath"):
        Prompts(vault).compose(execution, "", agent_path="linked/agent.md")


@pytest.mark.parametrize("front", ["name: Pirate", 'name: "Pirate"', "other: 1\nname: 'Pirate'"])
def test_an_agent_and_its_name(vault: Vault, execution: Execution, front: str) -> None:
    (vault.root / "pirate.md").write_text(f"---\n{front}\n---\nYou are a pirate.\n")
    prompts = Prompts(vault)
    prompt = prompts.compose(execution, "", agent_path="pirate.md")
    assert prompt.text.startswith("You are a pirate.")
    assert (prompt.source, prompt.agent_name) == ("agent", "Pirate")
    assert prompts.agent_name("pirate.md") == "Pirate"
