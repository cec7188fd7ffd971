"""Templates of permissions: the one table of what kinds of people and conversations usually get."""

from typing import Any

from msgspec import Struct

from parachute.base.errors import InvalidInput
from parachute.chat.permissions.models import EVERYTHING, SessionPermissions
from parachute.core.agents import WORKING_DIRECTORY
from parachute.sandbox.egress.models import NO_NETWORK

# Not `brain-context`, which brings entries of the journal, and nothing that changes what Brain knows.
_KNOWLEDGE = ("brain-search", "brain-resolve", "brain-suggest")


class Template(Struct, frozen=True):
    """Permissions with a name; `description` is for whoever chooses one."""

    name: str
    description: str
    permissions: SessionPermissions

    def as_json(self) -> dict[str, Any]:
        """The form of the API."""
        return {"name": self.name, "description": self.description, "permissions": self.permissions.as_json()}


TEMPLATES = (
    Template("personal", "For yourself: everything that the workspace and the settings allow.", EVERYTHING),
    Template(
        "project",
        "Its own folder and no other of the vault; all tools for files and commands, none of modules and servers.",
        SessionPermissions((WORKING_DIRECTORY,), ()),
    ),
    Template(
        "family",
        "Reads its own folder and what Brain knows, and asks; no commands, no journal, no network.",
        SessionPermissions((WORKING_DIRECTORY,), _KNOWLEDGE, ("Read", "AskUserQuestion", "TodoWrite"), NO_NETWORK),
    ),
    Template(
        "guest",
        "Looks things up in Brain, and nothing else.",
        SessionPermissions((), _KNOWLEDGE, (), NO_NETWORK),
    ),
)


def template(name: str) -> Template:
    """The template with a name; error: InvalidInput."""
    found = next((each for each in TEMPLATES if each.name == name), None)
    if found is None:
        known = ", ".join(each.name for each in TEMPLATES)
        raise InvalidInput(f"template: expected one of {known}, not {name[:40]!r}.", key="unknown_template")
    return found


def name_of(permissions: SessionPermissions) -> str | None:
    """The name of the template that permissions are exactly, or None."""
    return next((each.name for each in TEMPLATES if each.permissions == permissions), None)
