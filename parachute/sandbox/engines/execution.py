"""The decision where a session runs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from msgspec import Struct, field

from parachute.sandbox.egress.models import NO_NETWORK, Network
from parachute.sandbox.engines.limits import NO_LIMITS, Limits


class Shown(Struct, frozen=True):
    """Part of the vault that a sandbox shows: these `folders` of it, None for all; `is_read_only`: the project as well."""

    folders: tuple[str, ...] | None = None
    is_read_only: bool = False


ALL_SHOWN = Shown()


class Execution(Struct, frozen=True):
    """The decision where a session runs; everything later (prompt, policy, what the app shows) follows this.

    `directory` is the working directory as the agent sees it, `roots` maps what it sees to folders of this machine;
    `targets` are the paths at which its sandbox has something of its own. Its writes to the `project`, or to those `parts` of it, go
    to the `view`. `cache` is the folder of package managers' caches, which it shares with others. `plugins` are the folders of its program's plugins as it sees them, by name.
    """

    mode: Literal["sandboxed", "direct"]
    engine: str | None
    agent_socket: Path
    model_socket: str
    configuration: str
    directory: str
    roots: Mapping[str, Path]
    writable: tuple[str, ...]
    warnings: tuple[tuple[str, str], ...] = field(default=())
    limits: Limits = NO_LIMITS
    targets: tuple[str, ...] = ()
    network: Network = NO_NETWORK
    view: Path | None = None
    project: Path | None = None
    parts: tuple[str, ...] = ("",)
    cache: Path | None = None
    plugins: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_online(self) -> bool:
        """True where hosts of the internet may be reached."""
        return self.mode == "direct" or self.network.mode != "off"
