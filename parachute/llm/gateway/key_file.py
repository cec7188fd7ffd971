"""A file with the key of a server of the owner's."""

from pathlib import Path

from parachute.base.errors import ParachuteError, Unavailable
from parachute.base.files import read_regular

_LARGEST = 4096


def authorization(path: Path | None, setting: str, key: str) -> dict[str, str]:
    """The header with the key of a file, none without a file; error: Unavailable, which names the setting."""
    if path is None:
        return {}
    try:
        secret = read_regular(path, _LARGEST).decode().strip()
    except (OSError, ParachuteError, UnicodeDecodeError) as error:
        raise Unavailable(f"{setting}: {path} cannot be read.", key=key) from error
    if not secret or not secret.isascii() or not secret.isprintable():
        raise Unavailable(f"{setting}: {path} must hold a key on one line.", key=key)
    return {"authorization": f"Bearer {secret}"}
