"""The recipe of the second guest's kernel and disk."""

from dataclasses import dataclass

from tests.appliance import recipe
from tests.appliance.recipe import Layer

MEMORY_MEBIBYTES = 3072
DISK_GIBIBYTES = 8
LINE = "/dev/ttyS0"
SOURCE_DISK = "/dev/ubdb"
# The rest of what this machine's kernel would have is built in. Programs of the guest cannot load what they need.
MODULES = ("fuse", "overlay", "tun")
AGENT = f"{recipe.SOURCE}/tests/appliance/uml/agent.py"
UNIT = "parachute-guest.service"
_PACKAGE = "user-mode-linux"


@dataclass(frozen=True, slots=True)
class Kernel:
    """A package with a kernel, and what has to be said to it on its command line."""

    suite: str
    package: str
    options: tuple[str, ...] = ()

    @property
    def layer(self) -> Layer:
        """The folder in which it runs, with the C library that it needs."""
        return Layer("kernel", (self.suite, self.package))


# In order of preference: the first needs no ptrace, which makes it several times as fast. One version of it is named, since
# those of that suite come and go; when it has gone, the other one boots the same disk.
KERNELS = (Kernel("sid", f"{_PACKAGE}=7.2um1", ("seccomp=on",)), Kernel(recipe.SUITE, _PACKAGE))

# The tree and the kernel's modules come on a disk of their own, so that the large one is made once.
UNIT_TEXT = f"""[Unit]
Description=Runs what the tests ask for
DefaultDependencies=no
After=local-fs.target systemd-tmpfiles-setup-dev.service

[Service]
Type=exec
ExecStartPre=/usr/bin/tar --extract --directory=/ --file={SOURCE_DISK}
ExecStart=/usr/bin/python3 -I {AGENT} {LINE}
# On the console as well, which can be read when nothing comes over the line.
StandardError=journal+console
# What is started here are the commands of tests, and what limits those is to be seen.
TasksMax=infinity
OOMPolicy=continue
KillMode=process

[Install]
WantedBy=basic.target
"""


def image() -> Layer:
    """The guest's disk: the root that systemd-nspawn boots as well, the unit that obeys the tests, and another program for the bus."""
    return Layer("image", (*recipe.python().contents, "dbus-broker", UNIT_TEXT, str(DISK_GIBIBYTES)))
