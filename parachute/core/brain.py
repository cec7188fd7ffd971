"""`from parachute.core.brain import brain`: the knowledge of whichever module provides BrainInterface.

Nothing is called until a method is: `await brain.search("Kevin")`. When nobody provides the interface that raises
Unavailable; a module that can do without asks `self.get_interface("BrainInterface")` instead and gets None.
"""

from collections.abc import Callable
from typing import Any, cast

from parachute.base.errors import Unavailable
from parachute.core.interfaces import BrainInterface, methods_of
from parachute.core.runtime import current

__all__ = ["brain"]

NAME = "BrainInterface"


class _LazyBrain:
    """A proxy that finds the provider at every call, so that it may come and go."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in methods_of(BrainInterface):
            raise AttributeError(f"{NAME} has no method {name}; it has {', '.join(methods_of(BrainInterface))}.")

        async def call(*positions: Any, **named: Any) -> Any:
            provider = current().get_interface(NAME)
            if provider is None:
                raise Unavailable(
                    f"No module that is installed provides {NAME}.",
                    "Install one with `parachute modules install parachute://brain`, or ask "
                    f'`self.get_interface("{NAME}")`, which is None in this case.',
                    key="no_provider",
                )
            return await getattr(provider, name)(*positions, **named)

        call.__name__ = name
        return call

    def __repr__(self) -> str:
        return f"<whichever module provides {NAME}>"


brain = cast(BrainInterface, _LazyBrain())
