"""HTTP to a connector's socket."""

import json
from pathlib import Path
from typing import Any

from parachute.base import local_http
from parachute.base.errors import Unavailable
from parachute.core.errors import error_from_document

_ANSWER_LIMIT = 256 * 1024
_CONNECT_SECONDS = 10.0


class ConnectorDown(Unavailable):
    """The connector does not answer, or its platform does not; the same call may be made again."""

    key = "connector_down"


class ConnectorClient:
    """Talks to one connector."""

    def __init__(self, platform: str, socket: Path) -> None:
        self._platform = platform
        self._socket = socket

    async def ask(self, method: str, path: str, document: Any = None, seconds: float = 60.0) -> Any:
        """Send JSON and return what it answers; errors: ConnectorDown, and what the connector says."""
        body = b"" if document is None else json.dumps(document).encode()
        headers = [(b"host", b"connector"), *([(b"content-type", b"application/json")] if body else [])]
        request = local_http.request(
            self._socket, method, path, headers, body, connect_seconds=_CONNECT_SECONDS, seconds=seconds
        )
        try:
            status, answer = await local_http.ask(request, seconds, _ANSWER_LIMIT)
        except (ConnectionError, TimeoutError, local_http.TooLong, local_http.NotJson) as error:
            raise ConnectorDown(
                f"The connector for {self._platform} does not answer.",
                f"`parachute logs {self._platform}` shows its output.",
            ) from error
        if status == ConnectorDown.status:
            raise ConnectorDown(error_from_document(answer).message)
        if status >= 300:
            raise error_from_document(answer)
        return answer
