"""The vault of a computer elsewhere, over its API with a key."""

import http.client
import ssl
import urllib.parse
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from msgspec import ValidationError, convert

from parachute.base.addresses import is_loopback
from parachute.base.errors import InvalidInput, Unavailable
from parachute.base.pieces import LARGEST_PIECE
from parachute.cli.api import PIECE, Api, Refused
from parachute.files.sync.models import ArrivingVersion, Synced, SyncPage

_ROUTE = "/api/files/sync"
_BEHIND_END = 416

Record = TypeVar("Record")


class _Elsewhere(Api):
    """The API of another computer."""

    def __init__(self, url: str, key: str, authority: Path | None = None) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("https", "http") or not parts.hostname or parts.path.strip("/") or parts.username:
            raise InvalidInput(
                f"--with: {url[:80]!r} is no address of a computer.",
                "Write one such as https://home.local:3333; `parachute status` shows it there.",
                key="invalid_address",
            )
        if parts.scheme == "http" and not is_loopback(parts.hostname):
            raise InvalidInput(
                "--with: everybody on the way could read your files and the key over http.",
                "Write https://…; docs/tls.md says how the computer gets a certificate.",
                key="address_not_encrypted",
            )
        super().__init__(parts.hostname, parts.port or (443 if parts.scheme == "https" else 80), key)
        self._address = f"{parts.scheme}://{parts.netloc}"
        self._context: ssl.SSLContext | None = None
        if parts.scheme == "https":
            try:
                self._context = ssl.create_default_context(cafile=authority)
            except OSError as error:
                raise InvalidInput(
                    f"{authority} is no certificate.",
                    "Get it from the page /tls of the computer.",
                    key="no_certificate",
                ) from error

    @property
    def url(self) -> str:
        """The address for a person."""
        return self._address

    def _connection(self, seconds: float) -> http.client.HTTPConnection:
        if self._context is None:
            return super()._connection(seconds)
        return http.client.HTTPSConnection(
            self.host, self.port, timeout=seconds, blocksize=PIECE, context=self._context
        )


class RemoteVault:
    """Calls of `docs/sync.md`; an answer that is none of our API's is Unavailable."""

    def __init__(self, url: str, key: str, authority: Path | None = None) -> None:
        self._api = _Elsewhere(url, key, authority)

    def page(self, cursor: str | None) -> SyncPage:
        """Return what has changed after a cursor."""
        return _read(self._api.get(_ROUTE, cursor=cursor), SyncPage)

    def read(self, path: str, start: int) -> Iterator[bytes]:
        """Read a file from a byte on."""
        place = f"/api/files/download?{urllib.parse.urlencode({'path': path})}"
        try:
            with self._api.stream("GET", place, headers={"Range": f"bytes={start}-"} if start else None) as answer:
                if start and answer.status != http.HTTPStatus.PARTIAL_CONTENT:
                    raise Unavailable("The computer does not send parts of files.", key="no_ranges")
                while piece := answer.read(PIECE):
                    yield piece
        except (http.client.HTTPException, OSError) as error:
            raise Unavailable(f"{path} broke off.", "Try again.", key="download_broke_off") from error
        except Refused as error:
            if error.status != _BEHIND_END:
                raise

    def upload(self, path: str, base: str, digest: str, data: bytes) -> Synced:
        """Send a small version."""
        place = _place("", path=path, base=base, sha256=digest)
        return _read(self._api.upload("PUT", place, BytesIO(data), len(data)), Synced)

    def upload_large(self, path: str, base: str, digest: str, size: int, file: BinaryIO) -> Synced:
        """Send a version in pieces, from where the last try broke off."""
        announced: dict[str, Any] = {"size": size, "sha256": digest}
        offset = _read(self._api.get(f"{_ROUTE}/pieces/{digest[:32]}", **announced), ArrivingVersion).offset
        while True:
            file.seek(offset)
            data = file.read(LARGEST_PIECE)
            place = _place(f"/pieces/{digest[:32]}", path=path, base=base, offset=offset, **announced)
            done = _read(self._api.upload("PUT", place, BytesIO(data), len(data)), ArrivingVersion)
            if done.done is not None:
                return done.done
            offset = done.offset

    def merge(self, path: str, base: str | None, text: str, *, is_stale: bool) -> Synced:
        """Have a text joined with what the vault has."""
        body = {"path": path, "base": base, "text": text, "is_stale": is_stale}
        return _read(self._api.post(f"{_ROUTE}/merge", body), Synced)

    def remove(self, path: str, base: str) -> Synced:
        """Delete a file."""
        return _read(self._api.delete(_place("", path=path, base=base)), Synced)


def _place(end: str, **query: object) -> str:
    return f"{_ROUTE}{end}?{urllib.parse.urlencode(query)}"


def _read(answer: Any, kind: type[Record]) -> Record:
    try:
        return convert(answer, kind)
    except ValidationError as error:
        raise Unavailable(
            "This is not the answer of a computer with this version.", "Update both.", key="unknown_answer"
        ) from error
