"""The specification of a sandbox; stored as a 0600 file that the engine's launcher reads."""

import re
import unicodedata
from pathlib import Path
from typing import Protocol

import msgspec
from msgspec import Struct

from parachute.base.errors import InvalidInput
from parachute.base.files import atomic_write, read_regular
from parachute.sandbox import layout

_SESSION_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_SPECIFICATION_LIMIT = 256 * 1024
_ENCODED_LIMIT = 200  # of the agent's program; a longer name is cut and gets a hash


def session_id(value: str) -> str:
    """The value, if it is the id of a session (a UUID in lower case); error: InvalidInput."""
    if not _SESSION_ID.fullmatch(value):
        raise InvalidInput("session id: expected a UUID in lower case.", key="invalid_session_id")
    return value


class Subject(Protocol):
    """The conversation that runs in a sandbox: its id, and whether somebody from outside takes part in it."""

    @property
    def id(self) -> str:
        """A UUID in lower case."""

    @property
    def from_outside(self) -> bool:
        """True for a conversation of a messenger."""


class Mount(Struct, frozen=True, forbid_unknown_fields=True):
    """A folder of this machine as the agent sees it, or with `is_file` a single file.

    A read-only one that has gone is left out, unless it is `required`. With a `view` the agent writes to what that folder keeps,
    and never to the source; `part` is where in it this folder is, if it is not all of what the view is of.
    """

    source: str
    target: str
    writable: bool = False
    is_file: bool = False
    required: bool = False
    view: str = ""
    part: str = ""

    @property
    def is_live(self) -> bool:
        """True if the agent writes to the folder of this machine itself."""
        return self.writable and not self.is_file and not self.view


class Specification(Struct, frozen=True, forbid_unknown_fields=True):
    """Everything that decides what an agent can reach; nothing else is in its sandbox.

    `directory` is the working directory inside; `sockets` holds the sockets of the model gateway and is mounted at
    /run/parachute; `transcripts`, a path without links, is the one folder in which this session's transcript is kept. With `egress` that folder has
    the socket of an egress listener, too, and the agent finds it as its proxy; with `git` git finds a service there. `processes` counts threads as well.

    `cache` is the folder of package managers' caches, empty for one in memory.

    The fields from `engine` on concern containers: the image's id, the name of the installation in the container's, and what
    the sandbox may use. `limits_enforced`: a sandbox that is not held to its limits does not start.
    """

    session: str
    directory: str
    mounts: tuple[Mount, ...]
    sockets: str
    transcripts: str
    transcripts_target: str
    program: str
    scratch_megabytes: int
    idle_seconds: float
    egress: bool = False
    git: bool = False
    cache: str = ""
    processes: int = 1024
    engine: str = "bubblewrap"
    image: str = ""
    installation: str = ""
    memory_megabytes: int = 1536
    cpus: float = 2.0
    limits_enforced: bool = True

    @property
    def kept_mounts(self) -> tuple[Mount, ...]:
        """The folders of the transcript and of caches; no programs of the user obey what is in them."""
        cache = (Mount(self.cache, layout.CACHE, writable=True, required=True),) if self.cache else ()
        return (Mount(self.transcripts, self.transcripts_target, writable=True, required=True), *cache)

    @property
    def runtime_mounts(self) -> tuple[Mount, ...]:
        """Mounts of this installation that every agent gets; further mounts go into `service.py`."""
        return (
            Mount(str(layout.runner_folder()), layout.RUNNER),
            Mount(self.program, layout.PROGRAM, is_file=True),
            Mount(self.sockets, layout.SOCKETS),
        )

    @property
    def memory(self) -> tuple[layout.Place, ...]:
        """The folders in memory, each as large as it may become."""
        found = layout.in_memory(self.session, self.scratch_megabytes, container=self.is_container)
        return tuple(place for place in found if not (self.cache and place.path == layout.CACHE))

    @property
    def targets(self) -> tuple[str, ...]:
        """The paths at which the agent has something of its own."""
        return (*(place.path for place in self.memory), *(mount.target for mount in self.mounts))

    @property
    def is_container(self) -> bool:
        """True if Podman runs the sandbox."""
        return self.engine == "podman"

    def agent_command(self, interpreter: str) -> list[str]:
        """The agent's program inside, with the forwarder of its proxy before it where it has one."""
        if not self.egress:
            return [layout.PROGRAM]
        forwarder, proxy = f"{layout.RUNNER}/egress_forward.py", f"{layout.SOCKETS}/{layout.EGRESS_SOCKET}"
        options = ["--git"] if self.git else []
        return [interpreter, "-IS", forwarder, *options, proxy, "--", layout.PROGRAM]

    @property
    def writable_folders(self) -> frozenset[Path]:
        """The folders of this machine that the agent may write to."""
        return frozenset(Path(mount.source) for mount in self.mounts if mount.is_live)

    @property
    def has_view(self) -> bool:
        """True if the launcher has a view to mount."""
        return any(mount.view for mount in self.mounts)

    def save(self, folder: Path) -> None:
        """Write the specification for the launcher; the name is the session's id."""
        atomic_write(folder / f"{session_id(self.session)}.json", msgspec.json.encode(self))

    @classmethod
    def load(cls, folder: Path, session: str) -> "Specification":
        """Read a specification back; error: InvalidInput if any field is missing, unknown or of the wrong type."""
        path = folder / f"{session_id(session)}.json"
        try:
            specification = msgspec.json.decode(read_regular(path, _SPECIFICATION_LIMIT), type=cls)
        except (OSError, ValueError) as error:
            raise InvalidInput(
                f"{path} is not the specification of a sandbox: {error}.", key="specification_unreadable"
            ) from error
        if specification.session != session:
            raise InvalidInput(f"{path} belongs to another session.", key="specification_of_other")
        return specification


def encoded_directory(directory: str) -> str | None:
    """The name under which the agent's program keeps the transcripts of a working directory, or None if that is not sure.

    Every UTF-16 unit outside [a-zA-Z0-9] becomes `-`; only ever computed in this direction, since it loses information.
    The program cuts longer names, and may compose decomposed characters.
    """
    if not unicodedata.is_normalized("NFC", directory):
        return None
    name = re.sub(r"[^a-zA-Z0-9]", lambda found: "-" * (1 + (found[0] > "\uffff")), directory)
    return name if len(name) <= _ENCODED_LIMIT else None
