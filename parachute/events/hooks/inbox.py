"""Hooks that wait for an approval, in the inbox."""

from collections.abc import Sequence
from typing import ClassVar

from parachute.events.hooks.service import Hooks, Listed
from parachute.events.inbox.models import APPROVE, Answer, Item, Source, not_waiting


class HooksSource(Source):
    """The inbox of hooks; one that nobody approves does not run."""

    kinds: ClassVar[frozenset[str]] = frozenset({"hook"})

    def __init__(self, hooks: Hooks) -> None:
        self._hooks = hooks

    async def items(self) -> Sequence[Item]:
        """Return every hook that could run and is not approved as it is now, and the mistakes for which some cannot be read."""
        mistakes = [_mistake(problem) for problem in self._hooks.problems()]
        return [*mistakes, *(_item(each) for each in await self._waiting())]

    async def answer(self, item: Item, answer: Answer) -> None:
        """Approve a hook, exactly as it was shown."""
        shown = [each for each in await self._waiting() if _item(each).hash == item.hash]
        if not shown:
            raise not_waiting()
        await self._hooks.approve(shown)

    async def _waiting(self) -> Sequence[Listed]:
        return [each for each in await self._hooks.list() if each.command is not None and not each.is_approved]


def _mistake(problem: str) -> Item:
    return Item(
        kind="hook",
        key=problem,
        title="Hooks do not run",
        source="hooks.yaml",
        details={"problem": problem},
        is_owners=True,
        command="parachute hooks list",
    )


def _item(listed: Listed) -> Item:
    hook, command = listed.hook, listed.command
    assert command is not None
    files = [{"path": str(file.path), "bytes": len(file.content), "sha256": file.sha256} for file in command.files]
    return Item(
        kind="hook",
        key=f"{hook.event}/{hook.name}/{command.digest}",
        title=f"Hook {hook.name}, at {hook.event}",
        source=hook.source,
        details={"command": hook.command, "event": hook.event, "files": files},
        answers=(APPROVE,),
        is_owners=True,
        command=f"parachute hooks approve {hook.name}",
    )
