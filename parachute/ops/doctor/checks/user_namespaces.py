"""User namespaces: the kernel lets a user confine programs."""

from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.models import Group, NotApplicable, Result, check, ok, problem, warning

_APPARMOR = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"
_SWITCH = "/proc/sys/kernel/unprivileged_userns_clone"
_MOST = "/proc/sys/user/max_user_namespaces"
_PROFILES = ("bwrap", "bwrap-userns-restrict")
_FEW = 100


@check("User namespaces", Group.AGENTS)
def examine(computer: Computer) -> Result:
    most = (computer.read(_MOST) or "").strip()
    if not most.isdigit():
        raise NotApplicable("This system has no user namespaces.")
    if computer.uid != 0 and (computer.read(_SWITCH) or "1").strip() == "0":
        return problem(
            "The kernel lets only root make user namespaces, so that no sandbox can be made.",
            "`echo kernel.unprivileged_userns_clone=1 | sudo tee /etc/sysctl.d/60-parachute.conf && sudo sysctl --system`",
        )
    if int(most) < _FEW:
        return problem(
            f"The kernel allows {most} user namespaces, and every sandbox needs one.",
            "`echo user.max_user_namespaces=15000 | sudo tee /etc/sysctl.d/60-parachute.conf && sudo sysctl --system`",
        )
    if computer.uid != 0 and (computer.read(_APPARMOR) or "0").strip() == "1" and not _has_profile(computer):
        return warning(
            "AppArmor forbids programs without a profile to confine others (as Ubuntu does since 24.04), and bubblewrap has none.",
            "`sudo apt-get install apparmor-profiles && sudo ln -s /usr/share/apparmor/extra-profiles/bwrap-userns-restrict "
            "/etc/apparmor.d/ && sudo systemctl reload apparmor` gives it one.",
        )
    return ok("Users may confine programs.")


def _has_profile(computer: Computer) -> bool:
    return any(computer.path(f"/etc/apparmor.d/{name}").exists() for name in _PROFILES)
