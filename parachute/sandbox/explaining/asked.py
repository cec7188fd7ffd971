"""What a box was asked to be, read from its specification and from the command line that an engine makes of it."""

from collections.abc import Iterator
from dataclasses import dataclass

from parachute.sandbox import bubblewrap, podman
from parachute.sandbox.models import Mount, Specification
from parachute.sandbox.places import PROGRAM, RUNNER, SOCKETS, runner_folder

_BUBBLEWRAP_MOUNTS = ("--bind", "--bind-fd", "--ro-bind", "--ro-bind-fd", "--ro-bind-try")
_BUBBLEWRAP_SYSTEM = ("--proc", "--dev", "--tmpfs")


@dataclass(frozen=True, slots=True)
class Asked:
    """`mounts` are those of the specification and our own; `folders` lie in memory, with their bytes.

    `targets` are all places at which the engine mounts something, `environment` the names of the variables that it sets;
    `is_filtered`: the agent's system calls are.
    """

    specification: Specification
    mounts: tuple[Mount, ...]
    folders: dict[str, int]
    targets: frozenset[str]
    environment: frozenset[str]
    is_filtered: bool

    @property
    def is_container(self) -> bool:
        """Whether Podman runs the box."""
        return self.specification.engine == "podman"

    def may_write(self, path: str) -> bool:
        """Whether the agent may write at a path: the nearest place above it that was asked for decides."""
        writable = {mount.target: mount.writable for mount in self.mounts} | dict.fromkeys(self.folders, True)
        if (
            path == "/dev/mqueue"
        ):  # messages between the processes of the box, which has a namespace of its own for them
            return True
        while path != "/":
            if path in writable:
                return writable[path]
            path = path.rpartition("/")[0] or "/"
        return False


def asked(specification: Specification) -> Asked:
    """What a specification asks for, with the mounts that protect a project in it already."""
    own = (
        Mount(str(runner_folder()), RUNNER),
        Mount(specification.program, PROGRAM, is_file=True),
        Mount(specification.sockets, SOCKETS),
        specification.transcripts_mount,
    )
    if specification.engine == "podman":
        arguments, is_filtered = podman.isolation(specification), True
        folders = dict(_container_folders(arguments))
        environment = {argument[6:].partition("=")[0] for argument in arguments if argument.startswith("--env=")}
        targets = {*folders, *(mount.target for mount in (*specification.mounts, *own))}
    else:
        arguments = bubblewrap.command(specification, {mount.target: 0 for mount in (*specification.mounts, *own)})
        end = arguments.index("--")
        arguments, is_filtered = arguments[:end], "--refuse-calls" in arguments[end:]
        folders, targets, environment = _of_bubblewrap(arguments)
    return Asked(
        specification, (*specification.mounts, *own), folders, frozenset(targets), frozenset(environment), is_filtered
    )


def _container_folders(arguments: list[str]) -> Iterator[tuple[str, int]]:
    for argument in arguments:
        if argument.startswith("--tmpfs="):
            folder, _, options = argument.removeprefix("--tmpfs=").partition(":")
            for option in options.split(","):
                if option.startswith("size="):
                    yield folder, int(option[5:].removesuffix("m")) << 20


def _of_bubblewrap(arguments: list[str]) -> tuple[dict[str, int], set[str], set[str]]:
    folders: dict[str, int] = {}
    targets: set[str] = set()
    environment: set[str] = set()
    size = 0
    for at, argument in enumerate(arguments):
        if argument == "--size":
            size = int(arguments[at + 1])
        elif argument == "--setenv":
            environment.add(arguments[at + 1])
        elif argument in _BUBBLEWRAP_MOUNTS:
            targets.add(arguments[at + 2])
        elif argument in _BUBBLEWRAP_SYSTEM:
            targets.add(arguments[at + 1])
            if argument == "--tmpfs":
                folders[arguments[at + 1]] = size
    return folders, targets, environment


def is_below(path: str, above: str) -> bool:
    """Whether a path lies below another."""
    return path.startswith(f"{above.rstrip('/')}/")
