"""The list of modules and their copies, read without closing or making anything."""

from pathlib import Path

from parachute.declared.file import load
from parachute.doctor.computer import Computer
from parachute.files import read_regular
from parachute.modules.declarations import Declarations
from parachute.modules.document import parse_document
from parachute.modules.models import InstalledModule
from parachute.modules.registry import MAXIMUM_BYTES


def declared() -> Declarations:
    """What the system's configuration says of modules; error: DeclarationInvalid."""
    return Declarations(load())


def installed(computer: Computer) -> tuple[InstalledModule, ...]:
    """All entries of the registry, by name, disabled where that is declared; errors: RegistryUnreadable, DeclarationInvalid."""
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
