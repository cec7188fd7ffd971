"""The console of a guest: the last part of what it prints."""

import os
import threading

_KEPT = 64 << 10


class Console:
    """Takes what comes out of a pipe for as long as somebody may write, and keeps the end of it."""

    def __init__(self) -> None:
        self._reader, self.writer = os.pipe()
        self._said = bytearray()
        self._changing = threading.Lock()
        self._thread = threading.Thread(target=self._read, name="console", daemon=True)
        self._thread.start()

    def text(self) -> str:
        """The last lines."""
        with self._changing:
            return self._said.decode(errors="replace").replace("\r\n", "\n")

    def given(self) -> None:
        """The writing end is another process's now: when that ends, so does this."""
        os.close(self.writer)
        self.writer = -1

    def close(self) -> None:
        """Wait for the end of whoever writes."""
        if self.writer >= 0:
            self.given()
        self._thread.join()

    def _read(self) -> None:
        while chunk := os.read(self._reader, 1 << 16):
            with self._changing:
                self._said += chunk
                del self._said[:-_KEPT]
        os.close(self._reader)
