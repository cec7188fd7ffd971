"""Steps of tests with modules."""

from pathlib import Path

from parachute.modules.registry.installation import Installation
from parachute.modules.registry.models import State
from parachute.modules.registry.service import Modules


def install(modules: Modules, source: Path | str, **options: object) -> Installation:
    """Install and say yes."""
    with modules.installing(str(source), **options) as installation:  # type: ignore[arg-type]
        installation.finish()
        return installation


def approve(modules: Modules, name: str = "hello") -> Installation:
    """Approve and say yes."""
    with modules.approving(name) as installation:
        installation.finish()
        return installation


def state(modules: Modules, name: str = "hello") -> State:
    """The state of a module."""
    return modules.status(name).state
