"""The files of the console as its build left them, with their media types, compressed forms and security headers."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

PAGE = "index.html"
WORKER = "worker.js"

_FOLDER = Path(__file__).parent / "static"
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".webmanifest": "application/manifest+json",
}
_ENCODINGS = (("br", ".br"), ("gzip", ".gz"))
"""Content codings in the order of preference, with the endings of files that hold them (RFC 9110, 8.4.1)."""

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; "
    "media-src 'self' blob:; manifest-src 'self'; worker-src 'self'; frame-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types dompurify parachute"
)
_FRAME = "diagrams-"
"""The page and the program that draw diagrams: a frame without an origin, which reaches nothing but that program."""

_FRAME_POLICY = (
    "sandbox allow-scripts; default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
_PERMISSIONS = "camera=(self), microphone=(self), geolocation=(), usb=(), serial=(), payment=()"


class ConsoleFile(Struct, frozen=True):
    """One file; `encodings` are the endings of its compressed forms, `etag` stands for its content."""

    path: Path
    media_type: str
    etag: str
    encodings: tuple[tuple[str, str], ...]

    @property
    def headers(self) -> dict[str, str]:
        """The headers: nothing is loaded from elsewhere, nobody frames it, and no other site gets a referrer."""
        # Whatever a page names has its content in its name; only the page itself and its worker change.
        lasting = "no-cache" if self.path.name in (PAGE, WORKER) else "public, max-age=31536000, immutable"
        # The worker opens the page `/`, which is above its own folder.
        scope = {"service-worker-allowed": "/"} if self.path.name == WORKER else {}
        is_frame = self.path.name.startswith(_FRAME)
        return {
            **scope,
            "content-security-policy": _FRAME_POLICY if is_frame else _POLICY,
            "permissions-policy": _PERMISSIONS,
            "x-content-type-options": "nosniff",
            "referrer-policy": "same-origin",
            # What has no origin is of another one; the program is in every copy of the console.
            "cross-origin-resource-policy": "cross-origin" if is_frame else "same-origin",
            "cache-control": lasting,
            "vary": "accept-encoding",
            "etag": self.etag,
        }

    def read(self, accepted: str) -> tuple[bytes, str | None]:
        """Return its bytes in the best coding of the header `accepted`, and that coding; None is the file as it is."""
        offered = {part.partition(";")[0].strip() for part in accepted.split(",") if not part.endswith("q=0")}
        for coding, ending in self.encodings:
            if coding in offered:
                return self.path.with_name(self.path.name + ending).read_bytes(), coding
        return self.path.read_bytes(), None


def console_files() -> dict[str, ConsoleFile]:
    """Return all files by name; nothing where the console was not built."""
    return dict(_found()) if (_FOLDER / PAGE).is_file() else {}


def _found() -> Iterator[tuple[str, ConsoleFile]]:
    for path in sorted(_FOLDER.iterdir()):
        media_type = _TYPES.get(path.suffix)
        if media_type is None or not path.is_file():
            continue
        digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
        encodings = tuple((name, end) for name, end in _ENCODINGS if path.with_name(path.name + end).is_file())
        yield path.name, ConsoleFile(path, media_type, f'"{digest}"', encodings)
