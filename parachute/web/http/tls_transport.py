"""TLS over a connection that is open: what the protocol above writes is sealed, what comes is opened for it."""

import asyncio
import contextlib
import ssl
from collections.abc import Iterator
from typing import Any

HANDSHAKE = 0x16
"""The first byte of a TLS connection (RFC 8446, section 5.1); no method of HTTP begins with it."""

_RECORD = 16 * 1024
"""Bytes that one record may hold."""

_SEALED_AT_ONCE = 4 * _RECORD


class TlsTransport(asyncio.Transport):
    """Encryption of `transport`: what arrives on it goes to `receive`.

    Asyncio's own protocol for TLS would stand between the two and hold 256 KB for each connection, also of those who do not
    end their handshake.
    """

    def __init__(self, transport: asyncio.Transport, context: ssl.SSLContext) -> None:
        super().__init__()
        self._transport = transport
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self.is_open = False

    def receive(self, data: bytes) -> None:
        """Take what has come, and go on with the handshake."""
        self._incoming.write(data)
        if not self.is_open:
            try:
                self._tls.do_handshake()
                self.is_open = True
            except ssl.SSLError as error:
                self._fail(error)
            self._flush()

    def opened(self) -> Iterator[bytes]:
        """Yield the decrypted bytes that have arrived completely; the connection is closed when the other side ends it."""
        # What is left of a record lies in neither, and the error that would say so costs as much as reading it.
        while (self._incoming.pending or self._tls.pending()) and self.is_open and not self.is_closing():
            try:
                piece = self._tls.read(_RECORD)
            except ssl.SSLError as error:
                self._fail(error)
                self._flush()
                return
            if piece:
                yield piece
            else:
                self.close()

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send; nothing before the handshake is complete."""
        if self.is_open and not self.is_closing():
            rest = memoryview(data)
            while rest:
                # Not all at once: the buffer between would keep the size of the largest.
                rest = rest[self._tls.write(rest[:_SEALED_AT_ONCE]) :]
                self._flush()

    def close(self) -> None:
        """Say that this is the end, and close when everything is sent."""
        if self.is_open and not self.is_closing():
            with contextlib.suppress(ssl.SSLError):  # it would wait until the other side has said so, too
                self._tls.unwrap()
            self._flush()
        self._transport.close()

    def abort(self) -> None:
        """Close at once."""
        self._transport.abort()

    def is_closing(self) -> bool:
        """Return whether nothing is sent any more."""
        return self._transport.is_closing()

    def pause_reading(self) -> None:
        """Take nothing from the other side."""
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        """Go on taking."""
        self._transport.resume_reading()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """Return a fact about the connection."""
        return self._transport.get_extra_info(name, default)

    def _fail(self, error: ssl.SSLError) -> None:
        """End the connection, unless only more has to come; an alert says what is wrong."""
        if not isinstance(error, ssl.SSLWantReadError):
            self._flush()
            self._transport.close()

    def _flush(self) -> None:
        if sealed := self._outgoing.read():
            self._transport.write(sealed)
