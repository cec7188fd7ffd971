"""Settings of Synapse for tests: on the loopback alone, without limits, in one folder."""

import base64
import os
from pathlib import Path
from typing import Any

_FREE = {"per_second": 10_000, "burst_count": 10_000}
_LIMITS = ("message", "room_creation", "admin_redaction", "joins_per_room")
_SEVERAL = {
    "login": ("address", "account", "failed_attempts"),
    "joins": ("local", "remote"),
    "invites": ("per_room", "per_user", "per_issuer"),
}


def settings(folder: Path, host: str, port: int, secret: str) -> dict[str, Any]:
    """Make its key, and return what it is told; who knows the secret registers people."""
    key = base64.b64encode(os.urandom(32)).decode().rstrip("=")
    (folder / "key").write_text(f"ed25519 a_test {key}\n")
    listener = {"port": port, "type": "http", "bind_addresses": ["127.0.0.1"], "resources": [{"names": ["client"]}]}
    return {
        "server_name": host,
        "listeners": [listener],
        "database": {"name": "sqlite3", "args": {"database": str(folder / "database")}},
        "media_store_path": str(folder / "media"),
        "max_upload_size": "30M",
        "signing_key_path": str(folder / "key"),
        "registration_shared_secret": secret,
        "bcrypt_rounds": 4,
        # The first answer to an account would be the same for two minutes, whatever has happened since.
        "caches": {"sync_response_cache_duration": "0s"},
        "trusted_key_servers": [],
        "report_stats": False,
        # It speaks to nobody.
        "federation_domain_whitelist": [],
        **{f"rc_{each}": _FREE for each in _LIMITS},
        **{f"rc_{each}": dict.fromkeys(parts, _FREE) for each, parts in _SEVERAL.items()},
    }
