"""The recipe of the guest's root, and where the root is kept between runs."""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]
REQUIREMENTS = TREE / "requirements" / "development.txt"

SUITE = "trixie"
PYTHON = "3.13"
PACKAGES = (
    "avahi-daemon",
    "avahi-utils",
    "bubblewrap",
    "ca-certificates",
    "crun",
    "curl",
    "dbus",
    "dbus-broker",
    "dbus-user-session",
    "fuse-overlayfs",
    "git",
    "libgomp1",  # the engine of the offline model
    "libpam-systemd",
    "podman",
    "procps",
    "python3",
    "python3-venv",
    "restic",
    "systemd",
    "systemd-sysv",
    "uidmap",
)
USER, USER_ID = "parachute", 1000
SOURCE = "/opt/parachute/source"
ENVIRONMENT = "/opt/parachute/environment"
COMPILED = ("parachute", "sandbox", "tests/support")

_SETUP = f"""
set -eu
useradd --create-home --uid {USER_ID} --shell /bin/bash {USER}
mkdir -p /var/lib/systemd/linger
touch /var/lib/systemd/linger/{USER}
# Empty, not absent: each boot gets an identity of its own, and none counts as the first one, which takes longer.
: > /etc/machine-id
: > /etc/resolv.conf
# The bus is that of dbus-daemon, but where a guest is given another by broker().
rm /etc/systemd/system/dbus.service /etc/systemd/user/dbus.service
# The kernel is that of the machine, and there is no network to update from.
systemctl mask --quiet systemd-modules-load.service apt-daily.timer apt-daily-upgrade.timer
mkdir -p {SOURCE}
"""

_COMMAND = f"""#!{ENVIRONMENT}/bin/python
import sys
from parachute.cli.main import main
sys.exit(main())
"""


@dataclass(frozen=True, slots=True)
class Layer:
    """One folder of the cache; its name changes with everything that decides what is in it."""

    kind: str
    contents: tuple[str, ...]

    @property
    def path(self) -> Path:
        digest = hashlib.sha256("\0".join(self.contents).encode()).hexdigest()[:16]
        return cache() / f"{self.kind}-{digest}"


def cache() -> Path:
    """Return the folder of built layers, outside of the tree: they are large, and the same for every clone."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "parachute-appliance"


def debian() -> Layer:
    """The system: systemd, Python and the user."""
    return Layer("debian", (SUITE, *PACKAGES, _SETUP))


def python() -> Layer:
    """The locked requirements, for the Python of the system below."""
    return Layer("python", (*debian().contents, PYTHON, ENVIRONMENT, _COMMAND, REQUIREMENTS.read_text()))


def compiled() -> Layer:
    """The bytecode of the tree's modules, for the guest's Python."""
    found = (path for name in COMPILED for path in sorted((TREE / name).rglob("*.py")))
    texts = (f"{path.relative_to(TREE)}\0{hashlib.sha256(path.read_bytes()).hexdigest()}" for path in found)
    return Layer("compiled", (*debian().contents, *COMPILED, *texts))


def broker(folder: Path) -> None:
    """Write a layer with which both buses are dbus-broker's, as they are on NixOS."""
    for manager in ("system", "user"):
        link = folder / "etc/systemd" / manager / "dbus.service"
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(f"/usr/lib/systemd/{manager}/dbus-broker.service")


def setup_script() -> str:
    """The script that runs in the new system once its packages are installed."""
    return _SETUP


def command_script() -> str:
    """The program `parachute` of the guest."""
    return _COMMAND
