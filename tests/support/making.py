"""Factories of computers and servers: the fixtures `make_computer`, `make_shared_computer`, `make_server`, `make_shared_server`."""

from contextlib import ExitStack
from typing import Any, Generic, TypeVar, overload

from tests.support.installation import Installation
from tests.support.messages_api import MessagesAPI

Usual = TypeVar("Usual", bound=Installation)
Other = TypeVar("Other", bound=Installation)

SIGNED_OUT = {"ANTHROPIC_API_KEY": "", "ANTHROPIC_BASE_URL": ""}
"""The environment of a computer that has no model."""


class Make(Generic[Usual]):
    """Start one whenever it is called: `make_computer(ModuleComputer, tls={"enabled": True})`.

    What is named are settings; `environment` is added to the credentials of the scripted model. The test or the file that asked
    ends it.
    """

    def __init__(self, usual: type[Usual], model: MessagesAPI, made: ExitStack) -> None:
        self._usual = usual
        self._model = model
        self._made = made

    @overload
    def __call__(
        self, *, environment: dict[str, str] | None = None, real_agents: bool = False, **settings: Any
    ) -> Usual: ...

    @overload
    def __call__(
        self,
        kind: type[Other],
        *,
        environment: dict[str, str] | None = None,
        real_agents: bool = False,
        **settings: Any,
    ) -> Other: ...

    def __call__(
        self,
        kind: type[Installation] | None = None,
        *,
        environment: dict[str, str] | None = None,
        real_agents: bool = False,
        **settings: Any,
    ) -> Installation:
        """Start one of this class; real_agents: a server whose agents are no scripted program."""
        options: dict[str, Any] = {"real_agents": True} if real_agents else {}
        environment = {**self._model.credentials, **(environment or {})}
        return self._made.enter_context((kind or self._usual)(settings=settings, environment=environment, **options))
