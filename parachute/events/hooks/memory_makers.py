"""Hooks that make notes of conversations, and the reason where none can."""

from collections.abc import Awaitable, Callable

from parachute.events.hooks.models import Memory
from parachute.events.hooks.service import Hooks


class HookMemory:
    """`without_model` says why no model understands a conversation now, None where one does."""

    def __init__(self, hooks: Hooks, without_model: Callable[[], Awaitable[str | None]]) -> None:
        self._hooks = hooks
        self._without_model = without_model

    async def now(self) -> Memory:
        """Return the hooks that make notes of conversations, and the reason where none does."""
        names = dict.fromkeys(each.hook.name for each in await self._hooks.list() if each.makes_memory)
        return Memory(tuple(names), await self._without_model())
