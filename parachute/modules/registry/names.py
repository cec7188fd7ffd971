"""Names that a module can have: none that means something else already."""

import re
import sys

from parachute.base.errors import InvalidInput
from parachute.events.bus.catalogue import ALL
from parachute.modules.manifest.models import NAME
from parachute.web.access.routing import RULES

_MODULES = frozenset({"{module}", "chat", "imports"})
"""First parts of paths below /api that modules have: of these two, which are modules, the server answers some routes itself."""

_ROUTES = {rule.path.split("/")[2] for rule in RULES if rule.path.startswith("/api/")} - _MODULES
"""First parts of paths below /api that the server answers itself."""

_WITHOUT_ROUTE = "containers maintenance prompts settings supervisor trust"
"""Words that could be such parts, and are none now."""

_PATHS = "official staged"
"""Parts of a path where the name of a module may stand, too."""

_EVENTS = {event.name.partition(".")[0] for event in ALL if event.topic is not None}
"""First parts of the server's own events, which a module of that name could publish."""

_SOURCES = "conversation outside"
"""Sources of suggestions that are no modules."""

_UNITS = (
    "api core direct egress gateway host model module parachute parachute_runner pip site sitecustomize system "
    "transcriber usercustomize vault"
)
"""Names that keys, logs, units and folders use."""

RESERVED = frozenset(f"{_WITHOUT_ROUTE} {_PATHS} {_SOURCES} {_UNITS}".split()) | _ROUTES | _EVENTS


class NameNotAllowed(InvalidInput):
    """A module cannot have this name."""

    key = "name_not_allowed"


def names_ok(name: str) -> bool:
    """True if a module can have this name."""
    return _problem(name) is None


def check_name(name: str) -> None:
    """Error: NameNotAllowed, with what is allowed."""
    if problem := _problem(name):
        raise NameNotAllowed(f"name: {problem}.", f"Such as: {_similar(name)}")


def _similar(name: str) -> str:
    """A name that is allowed and like the one that was wanted."""
    words = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-0123456789")[:30]
    return words if words and names_ok(words) else f"my-{words}".rstrip("-") + ("" if words else "-module")


def _problem(name: str) -> str | None:
    if not NAME.fullmatch(name):
        return f"{name[:60]!r} is not allowed; 1 to 40 of a-z, 0-9, - and _ are, beginning with a letter"
    # A dash becomes an underscore where Python needs a name.
    if name.replace("-", "_") in sys.stdlib_module_names:
        return f"{name!r} is the name of a part of Python, which the module would hide"
    if name in RESERVED or name.replace("_", "-") in RESERVED:
        return f"{name!r} belongs to the computer itself"
    return None
