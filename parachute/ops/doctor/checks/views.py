"""Agents can work on copy-on-write views of projects, found out by mounting one."""

import os
from contextlib import suppress
from itertools import islice
from pathlib import Path

from parachute.base.folders import Folder, TooMany
from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.models import Group, NotApplicable, Result, check, ok, problem, settings_of, warning
from parachute.ops.doctor.podman import wants_containers
from parachute.sandbox.engines import containers, views
from parachute.sandbox.engines.engines import try_views

_APPARMOR = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"
_HINT = "Linux 5.11 or newer is needed, with `~/.parachute` on a disk of its own kind (ext4, btrfs, xfs) and not on an overlay."
_HINT_OF_APPARMOR = (
    "AppArmor forbids it (as on Ubuntu since 24.04): `echo kernel.apparmor_restrict_unprivileged_userns=0 | "
    "sudo tee /etc/sysctl.d/60-parachute.conf && sudo sysctl --system`"
)

_MOST_FOLDERS, _SHOWN = 5_000, 10


@check("Views", Group.AGENTS)
def examine(computer: Computer) -> Result:
    settings, home = settings_of(computer, "views"), computer.home
    if settings.changes.apply == "live":
        raise NotApplicable("The settings have agents write to projects directly.")
    if not home.root.is_dir():
        raise NotApplicable("The computer was not started yet.")
    image = containers.image_of(home) if wants_containers(computer) else None
    reason = try_views(home, settings.sandbox, image)
    if reason is None:
        if foreign := _foreign(settings.vault / "Projects"):
            return warning(
                "Agents cannot write to projects where a folder belongs to another group or user than yours.",
                "`chgrp -R` and `chmod g-s` change it; with `changes.apply` live agents write to projects directly.",
                details=foreign,
            )
        return ok("Agents work on copy-on-write views of projects.")
    forbidden = (computer.read(_APPARMOR) or "0").strip() == "1"
    hint = _HINT_OF_APPARMOR if forbidden else _HINT
    if home.views_worked.exists():
        return problem(
            f"{reason} Agents worked on copies of projects before, and do not run in projects without.", hint
        )
    return warning(f"{reason} Agents write to projects directly, and what they did cannot be undone.", hint)


def _foreign(projects: Path) -> tuple[str, ...]:
    """The first folders of projects in which a view cannot be written; links are not followed."""
    found: list[str] = []
    with suppress(FileNotFoundError, TooMany), Folder.open(projects) as top:
        for path, folder, _ in islice(top.walk(unreadable=lambda path, error: None), _MOST_FOLDERS):
            if views.is_foreign(os.fstat(folder.fileno())):
                found.append(str(projects / path))
            if len(found) == _SHOWN:
                break
    return tuple(found)
