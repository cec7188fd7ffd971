"""The folder `~/.parachute/tls`: the authority with its key, the certificate with its key, and what is in them."""

import ssl
from collections.abc import Iterable
from pathlib import Path

import msgspec

from parachute.base.errors import ParachuteError, Unavailable
from parachute.base.files import atomic_write, private_folder, read_regular
from parachute.web.tls.models import Issued

_LIMIT = 256 * 1024


class Store:
    """The files of one installation; every method waits for the disk."""

    def __init__(self, home: Path) -> None:
        self.folder = home / "tls"
        self.authority = self.folder / "authority.pem"
        self.certificate = self.folder / "certificate.pem"
        self._issued = self.folder / "issued.json"

    def prepare(self) -> None:
        """Make the folder, for its owner only."""
        private_folder(self.folder)

    def read(self) -> Issued | None:
        """Return the issued certificates, None before the first time and where the file is not understood: then it is made once more."""
        try:
            return msgspec.json.decode(read_regular(self._issued, _LIMIT), type=Issued)
        except (OSError, ValueError, ParachuteError):
            return None

    def write(self, issued: Issued) -> None:
        """Say what is in the other files, after they are written; error: OSError."""
        atomic_write(self._issued, msgspec.json.encode(issued) + b"\n", 0o600)


def context(certificate: Path, key: Path | None = None) -> ssl.SSLContext:
    """Return the TLS context of a certificate; error: Unavailable."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.minimum_version = ssl.TLSVersion.TLSv1_2
    # A client could otherwise have us calculate without end on one connection.
    made.options |= ssl.OP_NO_RENEGOTIATION
    made.set_alpn_protocols(["http/1.1"])
    try:
        # Without a password it would ask at the terminal for that of a key which has one.
        made.load_cert_chain(certificate, key, password=lambda: b"")
    except (OSError, ValueError) as error:
        reason = error.reason if isinstance(error, ssl.SSLError) and error.reason else str(error)
        raise Unavailable(
            f"The certificate {certificate} cannot be used: {reason.replace('_', ' ').lower()}.",
            "It must be PEM, with a key of its own that has no password.",
            key="certificate_unusable",
        ) from error
    return made


def identity(files: Iterable[Path | None]) -> tuple[int, ...]:
    """Numbers that are others when one of the files was replaced or written."""
    found: list[int] = []
    for path in files:
        if path is not None:
            try:
                status = path.stat()
                found += [status.st_mtime_ns, status.st_ino, status.st_size]
            except OSError:
                found.append(0)
    return tuple(found)
