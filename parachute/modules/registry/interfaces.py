"""Compatibility of modules: providers and users of interfaces, and the order of their starts."""

from collections.abc import Iterable

from parachute.base.errors import Conflict
from parachute.modules.manifest.models import Manifest


class DoesNotFit(Conflict):
    """A module cannot be enabled together with another; the message names both."""

    key = "modules_do_not_fit"


def check_fits(new: Manifest, enabled: Iterable[Manifest]) -> None:
    """Check that a module can be enabled together with `enabled`; an entry of its own name there is ignored.

    Error: DoesNotFit for an interface or a tool that another module offers already, and for an interface in a version that
    one of the two cannot use. An interface that nobody provides is no mistake.
    """
    for other in sorted(enabled, key=lambda manifest: manifest.name):
        if other.name != new.name:
            _check_offers(new, other)
            _check_versions(new, provider=other, user=new)
            _check_versions(new, provider=new, user=other)


def order(manifests: Iterable[Manifest]) -> list[str]:
    """Names of modules, providers before those who use them and otherwise by name.

    Where modules use each other in a circle, the first name of the circle comes first; nobody is left out.
    """
    waiting = _needs(tuple(manifests))
    ordered: list[str] = []
    while waiting:
        free = [name for name, needs in waiting.items() if not needs]
        chosen = min(free or _in_first_circles(waiting))
        ordered.append(chosen)
        del waiting[chosen]
        for needs in waiting.values():
            needs.discard(chosen)
    return ordered


def _check_offers(new: Manifest, other: Manifest) -> None:
    offered = {entry.name for entry in other.provides}
    for entry in new.provides:
        if entry.name in offered:
            raise DoesNotFit(
                f"{entry.name} is provided by {other.name} already.", _disable(other.name), key="interface_taken"
            )
    tools = {tool.name for tool in other.mcp_tools}
    for tool in new.mcp_tools:
        if tool.name in tools:
            # An agent could mistake one for the other.
            raise DoesNotFit(
                f"mcp_tools: the module {other.name} offers a tool {tool.name!r} already.",
                _disable(other.name),
                key="tool_taken",
            )


def _check_versions(new: Manifest, *, provider: Manifest, user: Manifest) -> None:
    provided = {entry.name: entry for entry in provider.provides}
    for wanted in user.optional_requires:
        found = provided.get(wanted.name)
        if found is None or found.satisfies(wanted):
            continue
        other = user if new is provider else provider
        raise DoesNotFit(
            f"{user.name} uses {wanted.name} {wanted.major}.{wanted.minor}, and {provider.name} provides "
            f"{found.major}.{found.minor}.",
            f"Install versions of {user.name} and {provider.name} that fit. {_disable(other.name)}",
            key="interface_differs",
        )


def _disable(name: str) -> str:
    return f"To do without that module: parachute modules disable {name}"


def _needs(manifests: tuple[Manifest, ...]) -> dict[str, set[str]]:
    """The modules whose interfaces each module uses."""
    providers: dict[str, set[str]] = {}
    for manifest in manifests:
        for entry in manifest.provides:
            providers.setdefault(entry.name, set()).add(manifest.name)
    return {
        manifest.name: {name for entry in manifest.optional_requires for name in providers.get(entry.name, ())}
        - {manifest.name}
        for manifest in manifests
    }


def _in_first_circles(waiting: dict[str, set[str]]) -> list[str]:
    """The modules that need nobody outside of their own circle; there are some, because every module needs another one."""
    reached = {name: _reached(name, waiting) for name in waiting}
    return [name for name, others in reached.items() if all(name in reached[other] for other in others)]


def _reached(start: str, needs: dict[str, set[str]]) -> set[str]:
    found: set[str] = set()
    pending = [start]
    while pending:
        new = needs[pending.pop()] - found
        found |= new
        pending.extend(new)
    return found
