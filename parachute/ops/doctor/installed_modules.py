"""The list of modules and their copies, read without closing or making anything."""

from pathlib import Path

from parachute.base.files import read_regular
from parachute.config.declared.file import load
from parachute.modules.registry.declared import Declarations
from parachute.modules.registry.document import parse_document
from parachute.modules.registry.models import InstalledModule
from parachute.modules.registry.registry import MAXIMUM_BYTES
from parachute.ops.doctor.computer import Computer


def declared() -> Declarations:
    """Return what the system's configuration declares about modules; error: DeclarationInvalid."""
    return Declarations(load())


def installed(computer: Computer) -> tuple[InstalledModule, ...]:
    """Return the registry's entries by name, disabled where that is declared; errors: RegistryUnreadable, DeclarationInvalid."""
    path = computer.home.root / "modules.yaml"
    try:
        data = read_regular(path, MAXIMUM_BYTES)
    except FileNotFoundError:
        return ()
    in_force = declared().in_force
    return tuple(in_force(module) for _, module in sorted(parse_document(data, path).items()))


def copy_of(computer: Computer, module: InstalledModule) -> Path:
    """The folder of what was approved; it may not exist."""
    return computer.home.root / "modules" / module.name / module.digest
