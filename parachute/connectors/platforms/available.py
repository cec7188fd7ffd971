"""The platforms that there are: each is a folder of this package, with its class as `PLATFORM`.

Such a folder imports the library of its platform only when it runs, since the server reads it too.
"""

from importlib import import_module
from importlib.util import find_spec

from parachute.base.errors import NotFound, Unavailable
from parachute.base.messengers import MESSENGERS
from parachute.connectors import platforms
from parachute.connectors.platforms.platform import Platform


def names() -> tuple[str, ...]:
    """All platforms by name."""
    return MESSENGERS


def label(name: str) -> str:
    """The name of a platform as people write it."""
    return name.capitalize()


def platform(name: str) -> type[Platform]:
    """The class of a platform; error: NotFound."""
    if name not in names():
        known = ", ".join(map(label, names()))
        raise NotFound(
            f"This computer cannot connect to {label(name[:40])}: it has no connector for it.",
            f"It has connectors for {known}. What is set for others is kept, and does nothing.",
            key="no_connector",
        )
    found: type[Platform] = import_module(f"{platforms.__name__}.{name}").PLATFORM
    return found


def check_installed(name: str) -> None:
    """Check that a platform's library is there; errors: NotFound, Unavailable."""
    if find_spec(platform(name).library) is None:
        raise Unavailable(
            f"The library for {name} is not installed.",
            f"`pip install 'parachute-computer[{name}]'` installs it.",
            key="library_missing",
        )
