"""`.mcp.json` of the vault: read as something that anybody may have written, and changed without touching the rest of it."""

import json
import re
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from parachute.base.documents import Bounds, NotJson, load_json
from parachute.base.errors import Conflict, InvalidInput, NotAllowed, NotFound, ParachuteError
from parachute.base.files import atomic_write, locked, read_regular
from parachute.base.signatures import Signature, current_signature
from parachute.capabilities.mcp_servers import addresses
from parachute.capabilities.mcp_servers.headers import problems_of
from parachute.capabilities.mcp_servers.models import BUILT_IN, KEPT_NAMES, NAME, SECRET, Server

FILE = ".mcp.json"

_LIMIT = 256 * 1024
_BOUNDS = Bounds(size=_LIMIT, depth=32)
_MOST = 50
_FIELDS = frozenset({"type", "command", "args", "env", "url", "headers"})
_ARGUMENTS, _ARGUMENT = 100, 8 * 1024
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_KINDS = {"stdio": "stdio", "http": "http", "streamable-http": "http", "sse": "sse"}
"""The types of the file; `streamable-http` is what the specification of MCP calls http."""
_UNKNOWN_REFERENCE = re.compile(r"\$\{")


class Loaded(Struct, frozen=True):
    """All servers of the file by name, or the `problem` for which none of it could be read."""

    servers: tuple[Server, ...] = ()
    problem: str | None = None

    def get(self, name: str) -> Server:
        """A server; error: NotFound."""
        for server in self.servers:
            if server.name == name:
                return server
        raise NotFound(
            f"There is no MCP server {name[:64]!r}.",
            self.problem or "`parachute mcp list` shows all.",
            key="no_such_server",
        )


class Configuration:
    """The file of one vault; it is read again when it has changed. Every method waits for the disk."""

    def __init__(self, vault: Path, lock: Path) -> None:
        self.path = vault / FILE
        self._lock = lock
        self._signature: Signature | None = None
        self._loaded: Loaded | None = None

    def load(self) -> Loaded:
        """Read the file, if it has changed."""
        try:
            signature = current_signature(self.path)
            if self._loaded is None or signature is None or signature != self._signature:
                self._loaded = Loaded() if signature is None else _read(self.path)
                self._signature = signature
        except OSError as error:
            return Loaded(problem=f"{self.path} cannot be read: {error.strerror}.")
        return self._loaded

    def add(self, name: str, fields: dict[str, Any]) -> Server:
        """Write a new server into the file; errors: InvalidInput saying what is wrong with it, Conflict."""
        if name == BUILT_IN:
            raise Conflict(
                f"name: {BUILT_IN} is the computer's own server.", "Choose another name.", key="built_in_server"
            )
        server = server_of(name, fields)
        if server.problems:
            raise InvalidInput(server.problems[0], key="server_invalid")

        def put(servers: dict[str, Any]) -> None:
            if name.casefold() in {known.casefold() for known in servers}:
                raise Conflict(
                    f"name: the MCP server {name} already exists.", "Choose another name.", key="server_exists"
                )
            if len(servers) >= _MOST:
                raise Conflict(
                    f"There are {_MOST} MCP servers already.",
                    "Remove one that you do not need.",
                    key="too_many_servers",
                )
            servers[name] = fields

        self._change(put)
        return server

    def remove(self, name: str) -> None:
        """Take a server out of the file; errors: NotFound, NotAllowed for the computer's own."""
        if name == BUILT_IN:
            raise NotAllowed(f"{BUILT_IN} is the computer's own server and cannot be removed.", key="built_in_server")

        def take(servers: dict[str, Any]) -> None:
            if servers.pop(name, None) is None:
                raise NotFound(
                    f"There is no MCP server {name[:64]!r}.", "`parachute mcp list` shows all.", key="no_such_server"
                )

        self._change(take)

    def _change(self, change: Callable[[dict[str, Any]], None]) -> None:
        with locked(self._lock):
            mode = 0o600
            document: dict[str, Any] = {"mcpServers": {}}
            try:
                mode = stat.S_IMODE(self.path.lstat().st_mode)
                document = _document(read_regular(self.path, _LIMIT))
            except FileNotFoundError:
                pass
            except (OSError, ParachuteError) as error:
                raise InvalidInput(
                    f"{self.path} cannot be read, so that it cannot be changed: {error}",
                    "Fix it, or move it away.",
                    key="configuration_unreadable",
                ) from error
            change(document.setdefault("mcpServers", {}))
            text = f"{json.dumps(document, indent=2, ensure_ascii=False)}\n"
            if len(text.encode()) > _LIMIT:
                raise InvalidInput(f"{self.path} would be larger than {_LIMIT:,} bytes.", key="configuration_too_large")
            atomic_write(self.path, text, mode)


def server_of(name: str, fields: Any) -> Server:
    """Read one server of the file, with every problem in it."""
    problems: list[str] = []
    if not NAME.fullmatch(name):
        problems.append("name: 1 to 40 letters, digits, - and single _ within are expected, a letter or digit first.")
    elif name == BUILT_IN:
        problems.append(f"name: {BUILT_IN} is the computer's own server.")
    elif KEPT_NAMES.fullmatch(name):
        problems.append("name: the agent's program keeps it for a server of its own.")
    if not isinstance(fields, dict):
        return Server(
            name, problems=(*problems, "expected an object with `command`, `args` and `env`, or with a `url`.")
        )
    problems += [f"{str(field)[:40]}: unknown field." for field in fields if field not in _FIELDS]
    kind = fields.get("type", "http" if "url" in fields else "stdio")
    if not isinstance(kind, str) or kind not in _KINDS:
        return Server(name, kind="unknown", problems=(*problems, "type: expected stdio, http or sse."))
    if kind != "stdio":
        return _remote(name, _KINDS[kind], fields, problems)
    problems += [f"{field}: a server with a command has none." for field in ("url", "headers") if field in fields]
    command, args, env = fields.get("command"), fields.get("args", []), fields.get("env", {})
    if not _is_text(command) or not command:
        problems.append("command: expected the name of a program, or its absolute path.")
        command = ""
    elif "/" in command and not command.startswith("/"):
        problems.append("command: expected a name without /, or an absolute path.")
    if not isinstance(args, list) or len(args) > _ARGUMENTS or not all(map(_is_text, args)):
        problems.append(f"args: expected a list of up to {_ARGUMENTS} texts.")
        args = []
    if not isinstance(env, dict) or len(env) > _ARGUMENTS:
        problems.append(f"env: expected an object of up to {_ARGUMENTS} texts.")
        env = {}
    for variable, value in env.items():
        if not _VARIABLE.fullmatch(variable) or not _is_text(value):
            problems.append(f"env.{variable[:40]}: expected text, under a name of letters, digits and _.")
        elif _UNKNOWN_REFERENCE.search(SECRET.sub("", value)):
            problems.append(f"env.{variable[:40]}: only references of the form ${{secret:NAME}} are allowed.")
    known = tuple((variable, value) for variable, value in env.items() if _is_text(value))
    return Server(name, "stdio", command, tuple(args), known, problems=tuple(problems))


def _remote(name: str, kind: str, fields: dict[str, Any], problems: list[str]) -> Server:
    problems = [
        *problems,
        *(f"{field}: a server with a url has none." for field in ("command", "args", "env") if field in fields),
    ]
    url, headers = fields.get("url"), fields.get("headers", {})
    address = ""
    try:
        if not isinstance(url, str):
            raise ValueError("expected an address, such as https://mcp.example.org/mcp")
        address = url[:2000]
        address = str(addresses.parse(url))
    except ValueError as error:
        problems.append(f"url: {error}.")
    problems += problems_of(headers)
    known = tuple((each, value) for each, value in headers.items()) if not problems else ()
    return Server(name, kind, url=address, headers=known, problems=tuple(problems))


def _is_text(value: Any) -> bool:
    if not isinstance(value, str) or len(value) > _ARGUMENT or "\0" in value:
        return False
    try:
        value.encode()
    except UnicodeEncodeError:  # half of a character, which JSON can carry
        return False
    return True


def _read(path: Path) -> Loaded:
    try:
        described = _document(read_regular(path, _LIMIT)).get("mcpServers", {})
    except NotJson as error:
        return Loaded(problem=f"{path} cannot be read: {error.message}")
    except ParachuteError as error:
        return Loaded(problem=error.message)
    except OSError as error:
        return Loaded(problem=f"{path} cannot be read, and no link is followed here: {error.strerror}.")
    if len(described) > _MOST:
        return Loaded(problem=f"{path} has more than {_MOST} servers.")
    servers: list[Server] = []
    for name in sorted(described):
        server = server_of(name, described[name])
        if name.casefold() in {known.name.casefold() for known in servers}:  # where case does not count, one folder
            server = replace(server, problems=(*server.problems, "name: another server differs in case only."))
        servers.append(server)
    return Loaded(tuple(servers))


def _document(data: bytes) -> dict[str, Any]:
    document = load_json(data, _BOUNDS)
    if not isinstance(document, dict) or not isinstance(document.get("mcpServers", {}), dict):
        raise NotJson('{"mcpServers": {NAME: …}} is expected.')
    return document
