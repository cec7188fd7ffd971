"""The bundle for Claude Desktop (`.mcpb`, manifest 0.3): a small program that has `mcp-remote` pass on to this computer."""

import io
import json
import zipfile
from importlib.resources import files

from parachute import __version__

_REMOTE = "mcp-remote@0.15.1"
"""The program that passes on; signing in is its work."""

_CERTIFICATE = "ca.crt"
_TIME = (2026, 1, 1, 0, 0, 0)
"""The same file each time."""


def bundle(address: str, authority: str | None) -> bytes:
    """The bundle for one address of `/mcp`; `authority` is the certificate (PEM) that signed this computer's own."""
    environment = {"NODE_EXTRA_CA_CERTS": f"${{__dirname}}/{_CERTIFICATE}"} if authority else {}
    manifest = {
        "manifest_version": "0.3",
        "name": "parachute",
        "display_name": "Parachute Computer",
        "version": __version__,
        "description": "Your own notes and journal, as far as you allow it",
        "author": {"name": "Parachute Computer"},
        "server": {
            "type": "node",
            "entry_point": "server/index.js",
            "mcp_config": {
                "command": "node",
                "args": ["${__dirname}/server/index.js", _REMOTE, address],
                "env": environment,
            },
        },
        "tools_generated": True,
        "compatibility": {"runtimes": {"node": ">=20.0.0"}},
    }
    contents = {
        "manifest.json": json.dumps(manifest, indent=1),
        "server/index.js": (files(__package__) / "bundle_program.js").read_text(encoding="utf-8"),
        **({_CERTIFICATE: authority} if authority else {}),
    }
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(zipfile.ZipInfo(name, _TIME), content, zipfile.ZIP_DEFLATED)
    return written.getvalue()
