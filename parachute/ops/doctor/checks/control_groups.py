"""Control groups: systemd can limit services and containers of this user."""

from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.models import Group, Result, check, ok, problem, warning
from parachute.ops.doctor.podman import wants_containers
from parachute.ops.doctor.systemd import check_runs

_NEEDED = {"memory": "memory", "pids": "the number of processes", "cpu": "processors"}
_TOP = "/sys/fs/cgroup/cgroup.controllers"
_DELEGATE = (
    "Have them passed on: `sudo mkdir -p /etc/systemd/system/user@.service.d && printf '[Service]\\nDelegate=cpu cpuset io "
    "memory pids\\n' | sudo tee /etc/systemd/system/user@.service.d/delegate.conf`, then start the machine again."
)
_BOOT = (
    "The kernel does not offer them: on a Raspberry Pi add `cgroup_enable=memory` to the line in /boot/firmware/cmdline.txt, "
    "elsewhere remove `cgroup_disable=` from the kernel's options; then start the machine again."
)


@check("Control groups", Group.SERVICES)
def examine(computer: Computer) -> Result:
    check_runs(computer)
    # Without limits a container does not start, unless the settings do without them.
    settings = computer.settings
    needs = wants_containers(computer) and settings is not None and settings.sandbox.limits == "enforced"
    failing = problem if needs else warning
    top = computer.read(_TOP)
    if top is None:
        return failing(
            "This machine has control groups of version 1, in which a user's services cannot be limited.",
            "Add `systemd.unified_cgroup_hierarchy=1` to the kernel's options, or update the system.",
        )
    own = computer.read(
        f"/sys/fs/cgroup/user.slice/user-{computer.uid}.slice/user@{computer.uid}.service/cgroup.controllers"
    )
    given = (own or "").split()
    missing = [name for name in _NEEDED if name not in given]
    if missing:
        what = ", ".join(_NEEDED[name] for name in missing)
        hint = _DELEGATE if all(name in top.split() for name in missing) else _BOOT
        return failing(f"Services of {computer.user} cannot be limited in {what}.", hint)
    return ok("Memory, processes and processors of services can be limited.")
