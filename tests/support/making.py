"""Factories of computers and servers: the fixtures `make_computer`, `make_shared_computer`, `make_server`, `make_shared_server`."""

from contextlib import ExitStack
from typing import Any, Generic, TypeVar, overload

from tests.support.installation import Installation
from tests.support.messages_api import MessagesAPI

Usual = TypeVar("Usual", bound=Installation)
Other = TypeVar("Other", bound=Installation)


class Make(Generic[Usual]):
    """Start one whenever it is called: `make_computer(ModuleComputer, tls={"enabled": True})`.

    What is named are settings. Its model is the scripted one, unless `environment` says otherwise. The test or the file that
    asked ends it.
    """

    def __init__(self, usual: type[Usual], model: MessagesAPI, made: ExitStack) -> None:
        self._usual = usual
        self._model = model
        self._made = made

    @overload
    def __call__(self, *, environment: dict[str, str] | None = None, **settings: Any) -> Usual: ...

    @overload
    def __call__(self, kind: type[Other], *, environment: dict[str, str] | None = None, **settings: Any) -> Other: ...

    def __call__(
        self, kind: type[Installation] | None = None, *, environment: dict[str, str] | None = None, **settings: Any
    ) -> Installation:
        """Start one of this class."""
        environment = self._model.credentials if environment is None else environment
        return self._made.enter_context((kind or self._usual)(settings=settings, environment=environment))
