"""The services of the server by their class, as routes and middleware ask for them."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from fastapi import Request

from parachute.base.errors import Unavailable

_Service = TypeVar("_Service")


class ServiceRegistry:
    """One service of each class; `app.state.services` is the registry of an application."""

    def __init__(self, *services: object) -> None:
        self._by_class: dict[type, object] = {}
        self.add(*services)

    def add(self, *services: object) -> None:
        """Offer services to routes, each under its class."""
        self._by_class.update({type(service): service for service in services})

    def add_as(self, kind: type[_Service], service: _Service) -> None:
        """Offer a service to routes that know no more than a class above its own."""
        self._by_class[kind] = service

    def find(self, kind: type[_Service]) -> _Service | None:
        """The service of a class, None before it was added."""
        found = self._by_class.get(kind)
        assert found is None or isinstance(found, kind)
        return found

    def get(self, kind: type[_Service]) -> _Service:
        """The service of a class; error: Unavailable before it was added."""
        found = self.find(kind)
        if found is None:
            raise Unavailable("The server is starting.", "Try again in a moment.", key="starting")
        return found


def services_of(request: Request) -> ServiceRegistry:
    """The registry of the application that answers a request."""
    registry: ServiceRegistry = request.app.state.services
    return registry


def provided(kind: type[_Service]) -> Callable[[Request], Awaitable[_Service]]:
    """The dependency of a route on a service: `Annotated[Runs, Depends(provided(Runs))]`."""

    # FastAPI runs plain functions in a thread.
    async def provide(request: Request) -> _Service:
        return services_of(request).get(kind)

    return provide
