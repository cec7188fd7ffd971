"""The token with which the command line proves that it runs as the owner of `~/.parachute`."""

import hmac
import logging
import re
import secrets
import threading
from pathlib import Path

from parachute.base.files import atomic_write, locked
from parachute.base.private_files import NotPrivate, read_private
from parachute.base.signatures import Signature, current_signature

log = logging.getLogger(__name__)

PREFIX = "paracli_"
_FORM = re.compile(rf"{PREFIX}[A-Za-z0-9_-]{{43}}")
_MAXIMUM_BYTES = 256


class CliToken:
    """A secret in a file of its owner only; who can read it may do everything."""

    def __init__(self, home: Path) -> None:
        self.path = home / "cli.token"
        self._lock = threading.Lock()
        self._cached: tuple[Signature | None, str | None] | None = None

    def obtain(self) -> str:
        """The token, made at the first need; one that others could read is replaced. Errors: NotPrivate, OSError."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Without a lock, which a disk that can only be read does not take.
        if token := self._read():
            return token
        # The lock makes sure that two programs that need it first at the same moment end up with the same one.
        with locked(self.path):
            token = self._read()
            if token is None:
                token = PREFIX + secrets.token_urlsafe(32)
                atomic_write(self.path, token + "\n", 0o600)
            return token

    def verify(self, presented: str) -> bool:
        """Return whether this is the token, compared in constant time; a problem with the file is a no."""
        expected = self._current()
        return expected is not None and hmac.compare_digest(expected.encode(), presented.encode(errors="surrogatepass"))

    def _current(self) -> str | None:
        try:
            signature = current_signature(self.path)
            with self._lock:
                if self._cached is None or self._cached[0] != signature:
                    self._cached = (signature, self._read())
                return self._cached[1]
        except (NotPrivate, OSError) as error:
            log.warning("The command line's token cannot be used: %s", error)
            return None

    def _read(self) -> str | None:
        signature = current_signature(self.path)
        if signature is None:
            return None
        if signature.mode & 0o077:
            # Others may know it already, so closing the file would be too late: `obtain` replaces it.
            log.warning("%s was open to other users, so this token is not used any more.", self.path)
            return None
        try:
            token = read_private(self.path, _MAXIMUM_BYTES).data.decode("ascii", errors="replace").strip()
        except FileNotFoundError:
            return None
        return token if _FORM.fullmatch(token) else None
