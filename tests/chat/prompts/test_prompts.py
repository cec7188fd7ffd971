"""Parts of a system prompt."""

from pathlib import Path

import pytest

from parachute.chat.contexts.models import Chain, ContextFile
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


@pytest.mark.parametrize("front", ["name: Pirate", 'name: "Pirate"', "other: 1\nname: 'Pirate'"])
def test_an_agent_and_its_name(vault: Vault, execution: Execution, front: str) -> None:
    (vault.root / "pirate.md").write_text(f"---\n{front}\n---\nYou are a pirate.\n")
    prompts = Prompts(vault, agents=agent_store(vault))
    prompt = prompts.compose(execution, "", agent=prompts.agent("pirate.md"))
    assert prompt.text.startswith("You are a pirate.")
    assert (prompt.source, prompt.source_path, prompt.agent_name) == ("agent", "pirate.md", "Pirate")
