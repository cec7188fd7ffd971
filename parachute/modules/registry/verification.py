"""What runs is what was approved: looked at before every start."""

from dataclasses import dataclass
from pathlib import Path

from parachute.errors import Conflict, ParachuteError
from parachute.modules import hashing
from parachute.modules.dependencies import PACKAGES, fits
from parachute.modules.models import InstalledModule, Places

CODE = "code"


class Damaged(Conflict):
    """A verified copy is not what was approved, so it does not run."""

    key = "module_damaged"


@dataclass(frozen=True, slots=True)
class Runnable:
    """What a unit needs to run a module: absolute paths of what was verified, and where its own data goes."""

    module: InstalledModule
    code: Path
    packages: Path
    data: Path


def verify(places: Places, module: InstalledModule) -> Runnable:
    """Compare every file of the copy with what was approved; error: Damaged, which names what differs."""
    copy = places.copy(module.name, module.digest)
    code, packages = module.dev or copy / CODE, copy / PACKAGES
    try:
        if module.dev is None:
            _compare(module, code, module.hash)
        if module.packages_hash is None:
            if any(packages.iterdir()):
                raise _damaged(module, f"{packages} holds packages that nobody approved")
        else:
            _compare(module, packages, module.packages_hash)
    except OSError as error:
        raise _damaged(module, f"{error.filename} cannot be read ({error.strerror})") from error
    return Runnable(module, code, packages, places.data(module.name))


def is_intact(places: Places, module: InstalledModule) -> bool:
    """Whether the copy is what was approved, and fits the interpreter that runs now."""
    try:
        verify(places, module)
        return fits(places.copy(module.name, module.digest))
    except (OSError, ParachuteError):
        return False


def _compare(module: InstalledModule, folder: Path, digest: str) -> None:
    try:
        hashing.verify(folder, digest)
    except ParachuteError as error:
        raise _damaged(module, error.message.rstrip(".")) from error


def _damaged(module: InstalledModule, problem: str) -> Damaged:
    again = module.dev or module.source
    option = " --dev" if module.dev else ""
    return Damaged(
        f"The module {module.name} does not start: {problem}.",
        f"`parachute modules approve {module.name}` makes the copy anew, or install it again: "
        f"parachute modules install {again}{option}",
    )
