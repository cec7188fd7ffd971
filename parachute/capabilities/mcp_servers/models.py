"""An MCP server of `.mcp.json`, its approval and its folders."""

import hashlib
import json
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from parachute.base.errors import ParachuteError, Unavailable
from parachute.security.permissions.actions import MODULE_SERVER

NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]|_(?=[A-Za-z0-9-])){0,39}")
"""Names of servers: they are parts of names of tools (`mcp__NAME__tool`), units and folders."""

BUILT_IN = MODULE_SERVER
"""The computer's own server, with the tools of modules."""

KEPT_NAMES = re.compile(r"ide|claude.*|computer-use|webagent", re.IGNORECASE)
"""Names under which the agent's program has servers of its own; it loads no other one that is called so."""

PLUGIN_ROOT = "/opt/parachute/plugin"
"""Path of a plugin's files for the server that it brings."""

SECRET = re.compile(r"\$\{secret:([A-Za-z_][A-Za-z0-9_]{0,63})\}")
"""A reference in `env` or `headers` to a secret that is kept in the state directory."""


class NeedsLogin(ParachuteError):
    """A server elsewhere wants its owner to sign in."""

    status = 503  # a 401 would look as if our caller's own key were wrong
    key = "needs_login"


class SessionLost(Unavailable):
    """A server elsewhere does not know our connection any more, and has done nothing; it can be asked again."""

    key = "session_lost"


class Server(Struct, frozen=True):
    """A server of the file; with `problems` it cannot run, and the other fields hold what was understood.

    One that a `plugin` brings has its files: the folder `root` of this machine, which must have the hash `root_hash`.
    """

    name: str
    kind: str = "stdio"
    command: str = ""
    args: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    url: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    problems: tuple[str, ...] = ()
    plugin: str = ""
    root: str = ""
    root_hash: str = ""

    @property
    def label(self) -> str:
        """The name for the app and for people, with that of the plugin before a slash."""
        return f"{self.plugin}/{self.name.removeprefix(f'{self.plugin}-')}" if self.plugin else self.name

    @property
    def is_remote(self) -> bool:
        """True for a server elsewhere, which is called by its address."""
        return self.kind != "stdio"

    @property
    def shown(self) -> str:
        """The command line or the address, for a person."""
        return self.url or shlex.join((self.command, *self.args) if self.command else self.args)

    @property
    def secrets(self) -> tuple[str, ...]:
        """The names of the secrets that its environment or its headers refer to."""
        return tuple(sorted({name for _, value in (*self.env, *self.headers) for name in SECRET.findall(value)}))


class Approval(Struct, frozen=True):
    """The user's approval of one exact configuration, with hosts of the internet and folders that it may read.

    Of a server elsewhere, `hosts` are those at which one signs in, if they are not its own.
    """

    digest: str
    hosts: tuple[str, ...]
    folders: tuple[str, ...]
    approved_at: str


class Runnable(Struct, frozen=True):
    """A server that may run: its configuration, the hashes of the files that its command names, and the approval of both."""

    server: Server
    files: Mapping[str, str]
    approval: Approval


def digest_of(server: Server, files: Mapping[str, str]) -> str:
    """The hash of a configuration together with the files that its command names (SHA-256 by their path)."""
    document: dict[str, Any] = {"server": server.name}
    if server.is_remote:
        document |= {"type": server.kind, "url": server.url, "headers": dict(server.headers)}
    else:
        document |= {"command": server.command, "args": server.args, "env": dict(server.env), "files": dict(files)}
    if server.plugin:
        document["root"] = [server.root, server.root_hash]
    return f"sha256:{hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()}"


class Folders(Struct, frozen=True):
    """The folders of one server, all of them in the state directory.

    `data` is the only one that the server sees and writes; `sockets` holds its way to the network.
    """

    root: Path
    name: str

    @property
    def kept(self) -> Path:
        return self.root / "mcp" / self.name

    @property
    def files(self) -> Path:
        return self.kept / "files"

    @property
    def data(self) -> Path:
        return self.kept / "data"

    @property
    def tools(self) -> Path:
        return self.kept / "tools.json"

    @property
    def run(self) -> Path:
        return self.root / "run" / "mcp" / self.name

    @property
    def specification(self) -> Path:
        return self.run / "spec.json"

    @property
    def sockets(self) -> Path:
        return self.run / "out"
