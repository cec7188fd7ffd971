"""Certificate authorities by which the server knows hosts: the system's, and those of a file of the owner's."""

import asyncio
import ssl
from pathlib import Path

from parachute.sandbox.egress.models import Refused


class Certificates:
    """The context of connections with TLS; `setting` is what names the file."""

    def __init__(self, file: Path | None = None, setting: str = "git.ca_file") -> None:
        self._file = file
        self._setting = setting
        self._context: ssl.SSLContext | None = None

    async def context(self) -> ssl.SSLContext:
        """Return the context of connections; error: Refused if the file cannot be read."""
        if self._context is None:
            try:
                self._context = await asyncio.to_thread(self._load)
            except OSError as error:
                raise Refused(f"The file of the setting {self._setting} cannot be read.", "Tell the owner.") from error
        return self._context

    def _load(self) -> ssl.SSLContext:
        context = ssl.create_default_context()
        if self._file is not None:
            context.load_verify_locations(self._file)
        context.set_alpn_protocols(["http/1.1"])
        return context
