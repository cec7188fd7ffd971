"""Files that steer direct conversations wait in the inbox when their words have changed."""

from pathlib import Path

import pytest

from parachute.base.errors import NotFound
from parachute.chat.prompts.inbox import PromptsSource
from parachute.config.vault.service import Vault
from parachute.events.hooks import memory
from parachute.events.inbox.models import APPROVE, Answer
from parachute.security.approved_prompts import ApprovedPrompts

YES = Answer(APPROVE, "owner")


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    made = Vault(tmp_path / "vault")
    made.prepare()
    return made


@pytest.fixture
def approvals(tmp_path: Path) -> ApprovedPrompts:
    home = tmp_path / "home"
    home.mkdir()
    return ApprovedPrompts(home)


async def test_a_change_waits_as_it_was_shown(vault: Vault, approvals: ApprovedPrompts) -> None:
    source, file = PromptsSource(vault, approvals), vault.root / "AGENTS.md"
    file.write_text("Answer in English.")
    assert await source.items() == []
    approvals.approve("AGENTS.md", "Answer in English.")
    assert await source.items() == []
    file.write_text("Answer in German.")
    (item,) = await source.items()
    assert (item.kind, item.is_owners, item.command) == ("prompt", True, "parachute prompts approve AGENTS.md")
    assert "-Answer in English.\n+Answer in German." in item.details["diff"]
    file.write_text("Do as you like.")
    with pytest.raises(NotFound) as caught:
        await source.answer(item, YES)
    assert caught.value.key == "not_waiting"
    (item,) = await source.items()
    await source.answer(item, YES)
    assert await source.items() == []
    assert approvals.is_approved("AGENTS.md", "Do as you like.")


async def test_an_entry_of_the_memory_waits(vault: Vault, approvals: ApprovedPrompts) -> None:
    source, file = PromptsSource(vault, approvals), vault.root / memory.NAME
    file.parent.mkdir(exist_ok=True)
    file.write_text("# Memory\n\n## Monday\n\nTea.\n")
    memory.approve(approvals, memory.newest(vault.root))
    assert await source.items() == []
    file.write_text(f"{file.read_text()}\n## Tuesday\n\nCoffee.\n")
    (item,) = await source.items()
    assert "+Coffee." in item.details["diff"]
    await source.answer(item, YES)
    assert await source.items() == []


@pytest.mark.parametrize("text", [None, "", "a" * 500_000])
async def test_what_is_gone_or_too_long_is_not_approved_here(
    vault: Vault, approvals: ApprovedPrompts, text: str | None
) -> None:
    approvals.approve("AGENTS.md", "Answer in English.")
    if text is not None:
        (vault.root / "AGENTS.md").write_text(text)
    items = await PromptsSource(vault, approvals).items()
    assert [item.answers for item in items] == ([()] if text else [])


async def test_a_file_that_the_diff_cannot_cut_is_shown_whole(vault: Vault, approvals: ApprovedPrompts) -> None:
    approvals.approve("AGENTS.md", "Answer in English.")
    (vault.root / "AGENTS.md").write_text("a" * 5000 + "the end")
    (item,) = await PromptsSource(vault, approvals).items()
    assert "the end" in item.details["diff"]
