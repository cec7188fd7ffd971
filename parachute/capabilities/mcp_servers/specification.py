"""The specification of an MCP server's sandbox; its launcher compares all of it with the approval once more."""

import json
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from parachute.base.errors import InvalidInput
from parachute.base.files import atomic_write, private_folder, read_regular
from parachute.capabilities.mcp_servers.approvals import Approvals
from parachute.capabilities.mcp_servers.models import NAME, Folders, Runnable, Server, digest_of

_LIMIT = 1024 * 1024


def save(folders: Folders, runnable: Runnable) -> None:
    """Write the file for the process that is started next."""
    server = runnable.server
    document = {
        "name": server.name,
        "command": server.command,
        "args": server.args,
        "env": dict(server.env),
        "files": dict(runnable.files),
        "plugin": server.plugin,
        "root": server.root,
        "root_hash": server.root_hash,
    }
    private_folder(folders.run.parent)
    private_folder(folders.run)
    atomic_write(folders.specification, json.dumps(document))


class Started(Struct, frozen=True):
    """Everything from which a sandbox is made."""

    runnable: Runnable
    folders: Folders


def load(root: Path, name: str) -> Started:
    """Load the server that was specified, if it is the approved one; `root` is the state directory. Error: InvalidInput."""
    if not NAME.fullmatch(name):
        raise InvalidInput(f"name: {name[:60]!r} cannot be the name of an MCP server.", key="invalid_name")
    folders = Folders(root, name)
    try:
        document = json.loads(read_regular(folders.specification, _LIMIT))
        files = {str(path): str(sha256) for path, sha256 in document["files"].items()}
        env = tuple((str(variable), str(value)) for variable, value in document["env"].items())
        server = Server(document["name"], command=document["command"], args=tuple(document["args"]), env=env)
        plugin, folder, digest = (str(document[name]) for name in ("plugin", "root", "root_hash"))
        server = replace(server, plugin=plugin, root=folder, root_hash=digest)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise InvalidInput(
            f"{folders.specification} is not the specification of an MCP server: {error}.",
            key="specification_unreadable",
        ) from error
    approval = Approvals(root).all().get(name)
    if server.name != name or approval is None or approval.digest != digest_of(server, files):
        raise InvalidInput(f"The MCP server {name} is not approved as it is.", key="server_not_approved")
    return Started(Runnable(server, files, approval), folders)
