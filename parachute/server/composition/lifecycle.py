"""Starting services in order, and closing them in the reverse order."""

import inspect
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Protocol, TypeVar


class Service(Protocol):
    """A part of the server with background work: it may be closed whether or not its start succeeded."""

    def start(self) -> Awaitable[None] | None:
        """Begin to work; error: ParachuteError if the server cannot run without."""

    async def close(self) -> None:
        """End everything that was begun."""


ServiceType = TypeVar("ServiceType", bound=Service)


class Lifecycle:
    """The services that were started, until the server ends."""

    def __init__(self, stack: AsyncExitStack) -> None:
        self._stack = stack

    async def start(self, service: ServiceType) -> ServiceType:
        """Start a service, and close it when the server ends or when anything fails from now on."""
        self._stack.push_async_callback(service.close)
        if inspect.isawaitable(starting := service.start()):
            await starting
        return service

    def closing(self, close: Callable[[], Awaitable[object]]) -> None:
        """Await this at the end, before everything that was started earlier is closed."""
        self._stack.push_async_callback(close)

    def finishing(self, finish: Callable[[], object]) -> None:
        """Call this at the end, before everything that was started earlier is closed."""
        self._stack.callback(finish)
