"""Packages of modules fit the Python that runs them: on NixOS, or after an update, it may be another one."""

from parachute.base.errors import ParachuteError
from parachute.modules.registry.dependencies import LOCK, PACKAGES, WHEELS
from parachute.modules.registry.models import InstalledModule
from parachute.modules.registry.requirements import Lock, interpreter_tag
from parachute.modules.trees.hashing import verify
from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.installed_modules import copy_of, installed
from parachute.ops.doctor.models import Group, Result, check, ok, problem, warning


@check("Packages of modules", Group.DATA)
def examine(computer: Computer) -> Result:
    modules = [each for each in installed(computer) if each.enabled and each.approved_at is not None]
    found = {module.name: _state(computer, module) for module in modules}
    broken = [f"{name} ({said})" for name, (said, is_broken) in found.items() if said and is_broken]
    other = [name for name, (said, is_broken) in found.items() if said and not is_broken]
    if broken:
        return problem(
            f"The packages of modules are damaged: {'; '.join(broken)}.",
            "`parachute modules approve NAME` unpacks them again; without their wheels install the module again.",
        )
    if other:
        return warning(
            f"The packages of {', '.join(other)} were made for another Python.",
            "They are unpacked again, without a network, at the next start of the module.",
        )
    return ok("The packages of modules fit this Python.")


def _state(computer: Computer, module: InstalledModule) -> tuple[str | None, bool]:
    """Return the problem with the packages of a module, and whether it cannot start with them."""
    copy = copy_of(computer, module)
    if not copy.is_dir():
        return None, False  # the check of modules says so
    try:
        lock = Lock.read(copy / LOCK)
    except (ParachuteError, OSError):
        return "its lock.txt cannot be read", True
    if lock.interpreter != interpreter_tag():
        missing = lock.packages and not any((copy / WHEELS).glob("*.whl"))
        return ("its wheels are gone", True) if missing else ("another Python", False)
    if module.packages_hash is not None:
        try:
            verify(copy / PACKAGES, module.packages_hash)
        except (ParachuteError, OSError):
            return "they are not what was unpacked", True
    return None, False
