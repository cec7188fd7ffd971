"""Templates of permissions: the one table of what kinds of people and conversations usually get."""

from msgspec.structs import replace

from parachute.base.answers import Answer
from parachute.base.errors import InvalidInput
from parachute.chat.permissions.models import EVERYTHING, NOTHING, SessionPermissions
from parachute.core.agents import WORKING_DIRECTORY
from parachute.sandbox.egress.models import NO_NETWORK

# Not `brain-context`, which brings entries of the journal, and nothing that changes what Brain knows.
_KNOWLEDGE = ("brain-search", "brain-resolve", "brain-suggest")


class Template(Answer, frozen=True):
    """Permissions with a name; `description` is for whoever chooses one."""

    name: str
    description: str
    permissions: SessionPermissions


TEMPLATES = (
    Template("personal", "For yourself: everything that the workspace and the settings allow.", EVERYTHING),
    Template(
        "project",
        "Its own folder and no other of the vault; all tools for files and commands, none of modules and servers.",
        replace(EVERYTHING, folders=(WORKING_DIRECTORY,), mcps=()),
    ),
    Template(
        "family",
        "Reads its own folder and what Brain knows, and asks; no commands, no journal, no network.",
        SessionPermissions(
            (WORKING_DIRECTORY,), _KNOWLEDGE, ("Read", "AskUserQuestion", "TodoWrite"), NO_NETWORK, None
        ),
    ),
    Template(
        "guest",
        "Looks things up in Brain, and nothing else.",
        replace(NOTHING, mcps=_KNOWLEDGE),
    ),
)


class ShownPermissions(SessionPermissions, frozen=True):
    """The permissions of a conversation, with the name of the template that they are."""

    template: str | None


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
