"""Swap on an SD card, which wears out by it."""

from pathlib import Path

from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.models import Group, NotApplicable, Result, check, ok, warning
from parachute.ops.doctor.mounts import mount_of

_CARD = "/dev/mmcblk"


@check("Swap", Group.MACHINE)
def examine(computer: Computer) -> Result:
    text = computer.read("/proc/swaps")
    if text is None:
        raise NotApplicable("The swap space cannot be read on this system.")
    names = [line.split()[0] for line in text.splitlines()[1:] if line.split()]
    worn = tuple(name for name in names if _is_on_card(computer, name))
    if worn:
        return warning(
            f"Memory is swapped to an SD card: {', '.join(worn)}.",
            "Swap in compressed memory instead: `sudo apt-get install zram-tools`, then `sudo swapoff` and its line out of "
            "/etc/fstab (dphys-swapfile: `sudo systemctl disable --now dphys-swapfile`).",
        )
    return ok(f"Memory is swapped to {', '.join(names)}." if names else "No memory is swapped.")


def _is_on_card(computer: Computer, name: str) -> bool:
    if name.startswith("/dev/"):
        return name.startswith(_CARD)
    mount = mount_of(computer, Path(name))
    return mount is not None and mount.device.startswith(_CARD)
