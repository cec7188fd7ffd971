"""Files that steer direct conversations and have changed since they were approved, in the inbox."""

import asyncio
import shlex
from collections.abc import Sequence
from typing import ClassVar

from msgspec import to_builtins

from parachute.chat.prompts.approvals import PromptFile, approved_files
from parachute.config.vault.service import Vault
from parachute.events.inbox.models import APPROVE, Answer, Item, Source, not_waiting
from parachute.modules.trees.changes import text_change
from parachute.security.approved_prompts import ApprovedPrompts

_WHOLE = 64 * 1024
"""Bytes of a file that is shown to its last word; a longer one is approved with its command."""


class PromptsSource(Source):
    """The inbox of such files; until its words are approved, one steers nothing."""

    kinds: ClassVar[frozenset[str]] = frozenset({"prompt"})

    def __init__(self, vault: Vault, approvals: ApprovedPrompts) -> None:
        self._vault = vault
        self._approvals = approvals

    async def items(self) -> Sequence[Item]:
        """Return every file that was approved once and has other words now."""
        return [_item(each) for each in await asyncio.to_thread(self._waiting)]

    async def answer(self, item: Item, answer: Answer) -> None:
        """Approve the words, exactly as they were shown."""
        for each in await asyncio.to_thread(self._waiting):
            if _item(each).hash == item.hash:
                await asyncio.to_thread(each.approve)
                return
        raise not_waiting()

    def _waiting(self) -> list[PromptFile]:
        return [each for each in approved_files(self._vault, self._approvals) if each.text and not each.is_approved]


def _item(prompt: PromptFile) -> Item:
    change = text_change(prompt.name, prompt.before, prompt.content, is_whole=len(prompt.content) <= _WHOLE)
    return Item(
        kind="prompt",
        key=prompt.name,
        title=f"Words of {prompt.name}",
        source=prompt.name,
        details=to_builtins(change),
        answers=(APPROVE,) if len(prompt.content) <= _WHOLE else (),
        is_owners=True,
        command=f"parachute prompts approve {shlex.quote(prompt.name)}",
    )
