"""Workspaces of the system's configuration, checked before anything starts."""

from pydantic import ValidationError

from parachute.base.errors import InvalidInput
from parachute.chat.workspaces.models import is_slug
from parachute.chat.workspaces.request import NewWorkspace
from parachute.config.declared.models import Declaration
from parachute.sandbox.egress.presets import NO_PRESETS, Presets, resolved

_MOST = 200


def declared_workspaces(declaration: Declaration, presets: Presets = NO_PRESETS) -> dict[str, NewWorkspace]:
    """Return the declared workspaces by slug; error: DeclarationInvalid, which names the key."""
    if len(declaration.workspaces) > _MOST:
        raise declaration.invalid("workspaces", f"there are more than {_MOST}")
    found = {}
    for slug, said in declaration.workspaces.items():
        key = f"workspaces.{slug[:60]}"
        if not is_slug(slug):
            raise declaration.invalid(key, "a-z, 0-9 and single dashes are expected, at most 40")
        try:
            found[slug] = NewWorkspace.model_validate(dict(said))
            found[slug].level()
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join([key, *map(str, first["loc"])])
            raise declaration.invalid(where, first["msg"].removeprefix("Value error, ").rstrip(".")) from error
        except InvalidInput as error:
            raise declaration.invalid(f"{key}.default_trust_level", error.message.rstrip(".")) from error
        try:
            if network := found[slug].network:
                resolved(network.chosen().hosts, presets)
        except InvalidInput as error:
            raise declaration.invalid(f"{key}.network.hosts", error.message.rstrip(".")) from error
    return found
