"""Host specifications of approved modules."""

import dataclasses
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from parachute.base.errors import ParachuteError
from parachute.modules.manifest.loading import load
from parachute.modules.manifest.models import Manifest, folders
from parachute.modules.registry.agent_limits import narrowed
from parachute.modules.registry.consent import approved_consent
from parachute.modules.registry.interfaces import order
from parachute.modules.registry.models import InstalledModule
from parachute.modules.registry.service import Modules
from parachute.modules.registry.verification import Runnable
from parachute.modules.runtime.models import ApprovedModule
from parachute.supervisor.specifications.host import HostSpecification, module_folder

CORE_SOCKET, EGRESS_SOCKET = "core.sock", "egress.sock"


class Wanted(Struct, frozen=True):
    """A module that shall have a unit."""

    module: ApprovedModule
    specification: HostSpecification


def wanted(modules: Modules) -> tuple[list[Wanted], dict[str, str]]:
    """All modules that shall have units, providers of interfaces first, and why others that are enabled cannot.

    Waits for the disk. Error: RegistryUnreadable.
    """
    found: dict[str, Wanted] = {}
    problems: dict[str, str] = {}
    for installed in modules.installed():
        if not installed.enabled or installed.approved_at is None:
            continue
        try:
            found[installed.name] = specify(modules, modules.approved(installed.name))
        except (ParachuteError, OSError) as error:
            problems[installed.name] = str(error)
    in_order = order([each.module.manifest for each in found.values()])
    return [found[name] for name in in_order], problems


def specify(modules: Modules, runnable: Runnable) -> Wanted:
    """The specification of an approved module's host; errors: InvalidInput for a manifest that cannot be read."""
    places, installed = modules.places, runnable.module
    manifest = narrowed(_as_shown(load(runnable.code), installed), installed.agents)
    module = ApprovedModule(installed.name, installed.hash, installed.trust, manifest, runnable.code)
    permissions, service = module.manifest.permissions, module.manifest.service
    vault = places.vault.absolute()
    specification = HostSpecification(
        name=installed.name,
        hash=installed.hash,
        code=str(runnable.code),
        packages=str(runnable.packages),
        packages_hash=installed.packages_hash,
        data=str(runnable.data),
        core_socket=str(core_folder(places.home.root, installed.name) / CORE_SOCKET),
        vault=str(vault),
        read=tuple(map(str, folders(permissions.read, vault))),
        write=tuple(map(str, folders(permissions.write, vault))),
        memory=service.memory_bytes,
        pids=service.pids,
        idle_seconds=None if service.start == "always" else service.idle_seconds,
        trust=installed.trust.value,
        dev=installed.dev is not None,
        network=bool(permissions.network),
        programs=bool(permissions.bash),
    )
    return Wanted(module, specification)


def _as_shown(manifest: Manifest, installed: InstalledModule) -> Manifest:
    """The manifest without skills for agents whose consent did not speak of them, as in an earlier version of this program."""
    shown = approved_consent(installed)
    skilled = {agent.name for agent in shown.agents if agent.skills} if shown else set()
    if not any(config.allow_user_skills and name not in skilled for name, config in manifest.agents.items()):
        return manifest
    agents = {
        name: dataclasses.replace(config, allow_user_skills=config.allow_user_skills and name in skilled)
        for name, config in manifest.agents.items()
    }
    return replace(manifest, agents=agents)


def core_folder(root: Path, name: str) -> Path:
    """The folder with the sockets by which a module reaches the server; its sandbox holds no other."""
    return module_folder(name, root) / "core"
