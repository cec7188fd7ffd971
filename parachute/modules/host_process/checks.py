"""Comparison of a loaded module with its manifest, which is what the user agreed to."""

from collections.abc import Iterable

from parachute.core.application import Application
from parachute.core.errors import ModuleError
from parachute.core.module import Module
from parachute.modules.manifest.claims import HINT, Claims, problems
from parachute.modules.manifest.models import Manifest


def check_class(module: type[Module], manifest: Manifest) -> None:
    """Error: ModuleError when the class differs from the manifest in its name or version, or claims more than it."""
    claims = Claims(
        module.__name__,
        module.name,
        module.version,
        module.permissions,
        module.agents,
        module.provides,
        module.optional_requires,
    )
    for problem in problems(claims, manifest):
        raise ModuleError(problem, HINT, key="class_invalid")
    # What the manifest promises is what others see; the class need not repeat it.
    module.provides = tuple(sorted({entry.name for entry in manifest.provides}))


def check_application(application: Application, manifest: Manifest) -> None:
    """Error: ModuleError when the code has a tool, an event or a change that the manifest does not name, or the reverse."""
    _check_same("tool", "mcp_tools", application.tools, [tool.name for tool in manifest.mcp_tools])
    handled = [handler.event for handler in application.handlers]
    _check_same("change", "accepts", application.accepts, manifest.accepts)
    _check_same("event", "hooks", handled, [hook.event for hook in manifest.hooks])


def _check_same(what: str, where: str, own: Iterable[str], stated: Iterable[str]) -> None:
    own, stated = set(own), set(stated)
    if more := sorted(own - stated):
        raise ModuleError(
            f"The code has the {what} {more[0]}, and manifest.yaml does not name it under {where}.",
            HINT,
            key="not_in_manifest",
        )
    if less := sorted(stated - own):
        raise ModuleError(
            f"manifest.yaml names the {what} {less[0]} under {where}, and the code has no function for it.",
            "Mark a method with the decorator, or name a function as `handler: file:function`.",
            key="not_in_code",
        )
