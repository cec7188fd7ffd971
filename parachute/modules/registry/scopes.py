"""The names that the scope of a key may have: modules, and parts of the computer itself."""

from collections.abc import Iterable
from pathlib import Path

from parachute.base.errors import InvalidInput
from parachute.modules.registry.registry import Registry
from parachute.modules.trees.sources import official_names
from parachute.security.keys.models import EVERY_MODULE, Scope, ScopeNames
from parachute.web.access.routing import SCOPES


class KnownScopes(ScopeNames):
    """Scopes of one state directory. It waits for the disk."""

    def __init__(self, home: Path) -> None:
        self._registry = Registry(home / "modules.yaml")

    def check(self, scopes: Iterable[Scope]) -> list[str]:
        named = {scope.module for scope in scopes}
        installed, official = set(self._registry.load()), set(official_names())
        known = installed | official | SCOPES
        if unknown := sorted(named - known - {EVERY_MODULE}):
            raise InvalidInput(
                f"scope: there is no module {unknown[0]!r}.",
                f"Install it first, or name one of these: {', '.join(sorted(known))}.",
                key="unknown_scope",
            )
        return sorted(named & official - installed)
