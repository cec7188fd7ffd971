"""The files of the page, read once, with their security headers."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

_FOLDER = Path(__file__).parent / "static"
_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


@dataclass(frozen=True)
class Asset:
    """One file."""

    name: str

    @cached_property
    def content(self) -> bytes:
        """Its bytes."""
        return (_FOLDER / self.name).read_bytes()

    @cached_property
    def etag(self) -> str:
        """A hash of the content."""
        return f'"{hashlib.sha256(self.content).hexdigest()[:16]}"'

    @property
    def media_type(self) -> str:
        """The media type, by its ending."""
        return _TYPES[Path(self.name).suffix]

    @property
    def headers(self) -> dict[str, str]:
        """The headers: nothing is loaded from elsewhere, nobody frames it, and no referrer is sent."""
        return {
            "content-security-policy": _POLICY,
            "x-content-type-options": "nosniff",
            "referrer-policy": "no-referrer",
            # It is asked for each time, and sent only when it has changed: the program may be newer.
            "cache-control": "no-cache",
            "etag": self.etag,
        }


ASSETS: Mapping[str, Asset] = {name: Asset(name) for name in ("page.html", "page.css", "page.js")}
