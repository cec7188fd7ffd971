"""The places inside of a sandbox: engines, images, the prompt and `parachute sandbox explain` follow this list."""

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

HOME = "/home/agent"
RUNNER = "/opt/parachute/parachute_runner"
PROGRAM = "/opt/parachute/agent"
SOCKETS = "/run/parachute"
EGRESS_SOCKET = "egress.sock"
CONFIGURATION = f"{HOME}/.claude"
TRANSCRIPTS = f"{CONFIGURATION}/projects"
SCRATCH = "/scratch"
TEMPORARY = "/tmp"  # noqa: S108 - inside of the sandbox
SHARED_MEMORY = "/dev/shm"  # noqa: S108 - inside of the sandbox
VAULT = "/vault"
PROJECT = "/project"
ATTACHMENTS = "/attachments"
OUTSIDE = "/outside"
CACHE = "/cache"
PLUGINS = "/plugins"

ENVIRONMENT = {
    "CARGO_HOME": f"{CACHE}/cargo",
    "GOPATH": f"{CACHE}/go",
    "HOME": HOME,
    "LANG": "C.UTF-8",
    "LOGNAME": "agent",
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "PIP_CACHE_DIR": f"{CACHE}/pip",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_RETRIES": "2",  # of a host that is refused it says why when it tries again, and five times take long
    "PYTHONUSERBASE": f"{CACHE}/python",
    "SHELL": "/bin/bash",
    "TMPDIR": TEMPORARY,
    "USER": "agent",
    "UV_CACHE_DIR": f"{CACHE}/uv",
    "YARN_CACHE_FOLDER": f"{CACHE}/yarn",
    "npm_config_cache": f"{CACHE}/npm",
    "npm_config_update_notifier": "false",
}
"""The variables of an agent. Package managers keep what they load in one place, and ask for no newer version of themselves."""


class Place(Struct, frozen=True):
    """A place inside: empty in `memory`, or a `folder` or `file` at or below which files of this machine are mounted.

    `megabytes` bounds memory; 0 stands for the setting `sandbox.scratch_megabytes`. `sentence` is for the prompt of an agent that
    has it. `made_by` makes the mount point of a container: the image's recipe, the base system, or the engine. What is in memory gets
    the mode 0700 from bubblewrap and 1777 from Podman, where only root of the container could own it.
    """

    path: str
    kind: Literal["memory", "folder", "file"]
    sentence: str = ""
    megabytes: int = 0
    made_by: Literal["recipe", "base", "engine"] = "recipe"
    in_containers_only: bool = False
    executable: bool = True


PLACES = (
    Place(TEMPORARY, "memory", megabytes=256, made_by="base"),
    Place("/run", "memory", megabytes=16),
    Place(HOME, "memory", megabytes=256),
    Place(CONFIGURATION, "memory", megabytes=64, in_containers_only=True),
    Place(SCRATCH, "memory", "Your private scratch space is the folder in /scratch; files there are temporary."),
    # On the disk where there is a project: what `npm ci` of an ordinary one loads does not fit into memory.
    Place(CACHE, "memory", megabytes=256),
    Place(SHARED_MEMORY, "memory", megabytes=64, made_by="engine"),
    Place(TRANSCRIPTS, "memory", megabytes=1, in_containers_only=True, executable=False),
    Place(RUNNER, "folder"),
    Place(PROGRAM, "file"),
    Place(SOCKETS, "folder"),
    Place(VAULT, "folder", "The vault's folders are in /vault, read-only unless they hold your project."),
    Place(PROJECT, "folder"),
    Place(ATTACHMENTS, "folder", "Files that were attached to messages are in /attachments."),
    # Skills: the agent's program itself says where each of them lies.
    Place(PLUGINS, "folder"),
    # Folders of the user outside of the vault, by their path from the user's home; for agents of modules.
    Place(OUTSIDE, "folder", made_by="engine"),
)


def scratch(session: str) -> str:
    """The scratch folder of a session."""
    return f"{SCRATCH}/{session}"


def in_memory(session: str, scratch_megabytes: int, *, container: bool) -> tuple[Place, ...]:
    """The places in memory with their sizes; bubblewrap, which needs no folder below it, gives the session its scratch alone."""
    found = []
    for place in PLACES:
        if place.kind == "memory" and (container or not place.in_containers_only):
            path = scratch(session) if place.path == SCRATCH and not container else place.path
            found.append(replace(place, path=path, megabytes=place.megabytes or scratch_megabytes))
    return tuple(found)


def sentences(targets: Iterable[str]) -> list[str]:
    """Sentences of the prompt on the places at or below which an agent has something; the same in every session, for the prompt's cache."""
    given = tuple(targets)
    return [place.sentence for place in PLACES if place.sentence and any(is_in(path, place.path) for path in given)]


def image_folders() -> list[str]:
    """The folders that a recipe makes, without those above others."""
    paths = {place.path for place in PLACES if place.kind != "file" and place.made_by == "recipe"}
    above = {str(parent) for path in paths for parent in Path(path).parents}
    return sorted(paths - above)


def image_files() -> list[str]:
    """The files that a recipe makes."""
    return [place.path for place in PLACES if place.kind == "file" and place.made_by == "recipe"]


def image_memory() -> list[str]:
    """The folders of an image to which a recipe gives the mode 1777: Podman takes a memory folder's from the one below it."""
    return sorted(place.path for place in PLACES if place.kind == "memory" and place.made_by != "engine")


def runner_folder() -> Path:
    """The folder of the agent runner on this machine."""
    import parachute_runner

    return Path(parachute_runner.__path__[0])


def is_in(path: str, folder: str) -> bool:
    """True if a path is a folder or lies below it."""
    return path == folder or path.startswith(f"{folder}/")
