"""What an engine reports of a box: of Podman its own record, of bubblewrap, which keeps none, what the kernel says."""

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any, Protocol

from parachute.sandbox.explaining.asked import Asked, is_below
from parachute.sandbox.explaining.kernel import Process, rights
from parachute.sandbox.explaining.models import SILENT, Said
from parachute.sandbox.models import Mount

ADDED = frozenset(
    {
        "HOSTNAME",
        "LC_CTYPE",
        "LISTEN_FDNAMES",
        "LISTEN_FDS",
        "LISTEN_PID",
        "OLDPWD",
        "PWD",
        "SHLVL",
        "TERM",
        "_",
        "container",
    }
)
"""Variables that engines and programs add of their own."""

_OWN_PLACES = ("/dev", "/proc", "/sys")


class View(Protocol):
    """One thing after the other that was asked for, as an engine reports it."""

    def box(self) -> Said: ...
    def image(self) -> Said: ...
    def user(self) -> Said: ...
    def rights(self) -> Said: ...
    def new_rights(self) -> Said: ...
    def network(self) -> Said: ...
    def root(self) -> Said: ...
    def mount(self, mount: Mount) -> Said: ...
    def other_mounts(self) -> Said: ...
    def folder(self, path: str, size: int) -> Said: ...
    def memory(self, size: int) -> Said: ...
    def processors(self, count: float) -> Said: ...
    def processes(self, count: int) -> Said: ...
    def environment(self) -> Said: ...


class KernelView:
    """A box of bubblewrap."""

    def __init__(self, asked: Asked, process: Process) -> None:
        self._asked = asked
        self._process = process

    def box(self) -> Said:
        return Said(f"process {self._process.parent}")

    def image(self) -> Said:
        return SILENT

    def user(self) -> Said:
        users = self._process.status.get("Uid", "").split()
        return Said(f"{' '.join(users)} outside", len(set(users)) == 1)

    def rights(self) -> Said:
        return names(rights(self._process.status))

    def new_rights(self) -> Said:
        return Said("none", True) if self._process.status.get("NoNewPrivs") == "1" else Said("can be gained", False)

    def network(self) -> Said:
        return interfaces(self._process)

    def root(self) -> Said:
        return Said("writable", False) if self._process.places.get("/", True) else Said("read-only")

    def mount(self, mount: Mount) -> Said:
        return access(self._process.places.get(mount.target), mount.writable)

    def other_mounts(self) -> Said:
        binds = [target for target in self._asked.targets if target not in self._asked.folders]
        return names(
            sorted(
                place
                for place in self._process.places
                if place != "/"
                and place not in self._asked.targets
                and not any(is_below(place, above) for above in (*binds, *_OWN_PLACES))
            )
        )

    def folder(self, path: str, size: int) -> Said:
        found = self._process.sizes.get(path)
        return Said("not bounded", False) if found is None else Said(megabytes(found), found <= size)

    def memory(self, size: int) -> Said:
        return SILENT

    def processors(self, count: float) -> Said:
        return SILENT

    def processes(self, count: int) -> Said:
        found = self._process.limits.get("Max processes")
        return Said("not bounded", False) if found is None else Said(str(found), found <= count)

    def environment(self) -> Said:
        return SILENT


class ContainerView:
    """A container, as `podman inspect` reports it; whatever is not there counts as not done."""

    def __init__(self, asked: Asked, process: Process, inspected: Mapping[str, Any]) -> None:
        self._asked = asked
        self._process = process
        self._inspected = inspected
        self._host = _mapping(inspected, "HostConfig")
        self._config = _mapping(inspected, "Config")

    def box(self) -> Said:
        state = _mapping(self._inspected, "State")
        number, kernel = state.get("Pid"), self._process.parent
        text = f"container {str(self._inspected.get('Id'))[:12]}, {state.get('Status')}, process {number}"
        if number == kernel:
            return Said(text)
        return Said(f"{text}, but the one that answers belongs to process {kernel}", False)

    def image(self) -> Said:
        found = str(self._inspected.get("Image")).removeprefix("sha256:")
        return Said(found[:12], found == self._asked.specification.image)

    def user(self) -> Said:
        found = str(self._config.get("User"))
        return Said(found, found == "1000:1000")

    def rights(self) -> Said:
        effective, bounding = self._inspected.get("EffectiveCaps"), self._inspected.get("BoundingCaps")
        found = [str(name) for each in (effective, bounding) for name in (each or ())]
        return Said("privileged", False) if self._host.get("Privileged") else names(sorted(set(found)))

    def new_rights(self) -> Said:
        options = [str(option) for option in self._host.get("SecurityOpt") or ()]
        return Said(
            ", ".join(options) or "none are set", any(option.startswith("no-new-privileges") for option in options)
        )

    def network(self) -> Said:
        mode = str(self._host.get("NetworkMode"))
        return Said(mode, mode == "none")

    def root(self) -> Said:
        return Said("read-only") if self._host.get("ReadonlyRootfs") is True else Said("writable", False)

    def mount(self, mount: Mount) -> Said:
        found = [each for each in self._mounts() if each.get("Destination") == mount.target]
        said = access(bool(found[-1].get("RW")) if found else None, mount.writable)
        if found and PurePosixPath(str(found[-1].get("Source"))) != PurePosixPath(mount.source):
            return Said(f"{said.text} {found[-1].get('Source')}", False)
        return said

    def other_mounts(self) -> Said:
        found = (str(each.get("Destination")) for each in self._mounts())
        return names(sorted(place for place in found if place not in self._asked.targets))

    def folder(self, path: str, size: int) -> Said:
        folders = self._host.get("Tmpfs")
        options = folders.get(path) if isinstance(folders, Mapping) else None
        if not isinstance(options, str):
            return SILENT
        found = [option for option in options.split(",") if option.startswith("size=")]
        return Said(", ".join(found) or "not bounded", found == [f"size={size >> 20}m"])

    def memory(self, size: int) -> Said:
        found, swap = self._host.get("Memory"), self._host.get("MemorySwap")
        if not isinstance(found, int) or found <= 0:
            return Said("not bounded", False)
        return Said(megabytes(found), found <= size and swap == found)

    def processors(self, count: float) -> Said:
        nano = self._host.get("NanoCpus")
        if not isinstance(nano, int) or nano <= 0:
            return Said("not bounded", False)
        return Said(f"{nano / 1e9:g}", nano <= count * 1.01e9)

    def processes(self, count: int) -> Said:
        found = self._host.get("PidsLimit")
        if not isinstance(found, int) or found <= 0:
            return Said("not bounded", False)
        return Said(str(found), found <= count)

    def environment(self) -> Said:
        found = [str(each).partition("=")[0] for each in self._config.get("Env") or ()]
        return variables(found, self._asked.environment)

    def _mounts(self) -> list[Mapping[str, Any]]:
        found = self._inspected.get("Mounts")
        mounts = [each for each in found if isinstance(each, Mapping)] if isinstance(found, list) else []
        return [each for each in mounts if each.get("Type") != "tmpfs"]


def names(found: list[str]) -> Said:
    """What there is of something of which there must be nothing."""
    return Said(", ".join(found) or "none", not found)


def access(writable: bool | None, asked: bool) -> Said:
    """How a place is mounted; None for one that is not."""
    if writable is None:
        return Said("not mounted", False)
    return Said("rw" if writable else "ro", writable == asked)


def interfaces(process: Process) -> Said:
    """The network of a process."""
    found = ", ".join(process.interfaces) or "no interface"
    if "net" in process.shared:
        return Said(f"this machine's own ({found})", False)
    return Said(found, set(process.interfaces) <= {"lo"})


def variables(found: list[str], asked: frozenset[str]) -> Said:
    """Names of variables, without those that are always added."""
    seen = frozenset(found) - (ADDED - asked)
    return Said(", ".join(sorted(seen)), seen == asked)


def megabytes(size: float) -> str:
    """Bytes for a person."""
    return f"{size / (1 << 20):g} MB"


def _mapping(value: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = value.get(name)
    return found if isinstance(found, Mapping) else {}
