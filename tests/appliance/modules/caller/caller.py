"""A module with permission for some hosts: it says how far it gets."""

import os
import socket
import urllib.error
import urllib.request

from parachute.core import Module, route


class CallerModule(Module):
    """Asks by way of the proxy that its environment names, and past it."""

    name = "caller"
    version = "1.0.0"

    @route("GET", "/proxy")
    def proxy(self) -> dict[str, str | None]:
        """The proxy that libraries are configured with."""
        return {name: os.environ.get(name) for name in ("HTTPS_PROXY", "HTTP_PROXY")}

    @route("GET", "/fetch")
    def fetch(self, url: str) -> dict[str, str]:
        """The outcome of a request by a library."""
        try:
            with urllib.request.urlopen(url, timeout=20) as answer:
                return {"answer": str(answer.status)}
        except urllib.error.HTTPError as error:
            return {"answer": str(error.code), "text": error.read().decode()}
        except OSError as error:
            return {"answer": str(error)}

    @route("GET", "/connect")
    def connect(self, host: str, port: int) -> dict[str, str]:
        """The outcome of a connection past the proxy."""
        try:
            socket.create_connection((host, port), timeout=20).close()
        except OSError as error:
            return {"answer": type(error).__name__}
        return {"answer": "connected"}
