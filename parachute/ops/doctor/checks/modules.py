"""Modules that wait for an approval, have changed, or lost their verified copy."""

from pathlib import Path

from parachute.base.errors import ParachuteError
from parachute.modules.registry.models import InstalledModule
from parachute.modules.registry.verification import CODE
from parachute.modules.trees.hashing import tree_hash, verify
from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.installed_modules import copy_of, declared, installed
from parachute.ops.doctor.models import Group, Result, check, ok, problem, settings_of, warning


@check("Modules", Group.DATA)
def examine(computer: Computer) -> Result:
    entries = installed(computer)
    modules = [module for module in entries if module.enabled]
    vault = settings_of(computer, "the vault").vault
    damaged = [text for module in modules if (text := _damage(computer, module))]
    waiting = [text for module in modules if (text := _change(vault, module))]
    wanted = [name for name, each in declared().all.modules.items() if each.enable]
    waiting += [
        f"{name} is declared and not installed" for name in wanted if name not in {each.name for each in entries}
    ]
    if damaged:
        return problem(
            f"Modules do not start: {'; '.join(damaged)}.",
            "`parachute modules approve NAME` renews the copy that runs from the vault; `parachute modules list` shows all.",
            details=tuple(waiting),
        )
    if waiting:
        return warning(
            f"Modules wait for you: {'; '.join(waiting)}.",
            "`parachute modules diff NAME` shows what changed, `parachute modules approve NAME` approves it."
            + (" `parachute modules apply` brings about what is declared." if wanted else ""),
        )
    if not modules:
        return ok("No module is installed and enabled; `parachute setup` installs the official ones.")
    return ok(f"Every enabled module is what was approved: {', '.join(module.name for module in modules)}.")


def _damage(computer: Computer, module: InstalledModule) -> str | None:
    if module.dev is not None:
        return None if module.dev.is_dir() else f"the folder {module.dev} of {module.name} is gone"
    if module.approved_at is None:
        return None
    code = copy_of(computer, module) / CODE
    if not code.is_dir():
        return f"the verified copy of {module.name} is gone"
    try:
        verify(code, module.hash)
    except (ParachuteError, OSError):
        return f"the verified copy of {module.name} is not what was approved"
    return None


def _change(vault: Path, module: InstalledModule) -> str | None:
    if module.approved_at is None:
        return f"{module.name} was never approved on this computer"
    if module.dev is not None:
        return None
    source = vault / ".modules" / module.name
    if source.is_symlink() or not source.is_dir():
        return f"the folder {source} of {module.name} is gone"
    try:
        changed = tree_hash(source) != module.hash
    except (ParachuteError, OSError):
        return f"the folder of {module.name} cannot be read as a module"
    return f"{module.name} was changed" if changed else None
