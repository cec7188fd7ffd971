"""The server's API for connectors, on a socket for each: the socket identifies the platform."""

import logging
from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import to_builtins
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from parachute.base.budget import VALUES
from parachute.base.errors import ParachuteError
from parachute.base.json_body import read_value
from parachute.connectors.runtime.models import Answers
from parachute.connectors.runtime.reading import read_state, read_updates
from parachute.core.errors import error_document

log = logging.getLogger(__name__)

_BODY_LIMIT = 8 * 1024 * 1024

Answer = Callable[[str, Any], Awaitable[dict[str, Any]]]


class ServerApi:
    """The routes; `self.application` is their ASGI application, with the platform's name in `scope["state"]["platform"]`."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers
        routes: tuple[tuple[str, Answer], ...] = (
            ("/start", self._start),
            ("/updates", self._updates),
            ("/state", self._state),
        )
        self.application = Starlette(
            routes=[Route(path, _answering(answer), methods=["POST"]) for path, answer in routes]
        )

    async def _start(self, platform: str, _: Any) -> Any:
        return to_builtins(await self._answers.start(platform))

    async def _updates(self, platform: str, document: Any) -> dict[str, Any]:
        updates = read_updates(document)
        await self._answers.updates(platform, updates)
        return {"stored": len(updates.updates)}

    async def _state(self, platform: str, document: Any) -> dict[str, Any]:
        await self._answers.changed(platform, read_state(document))
        return {}


def _answering(function: Answer) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        try:
            document = await read_value(request.stream(), _BODY_LIMIT, VALUES)
            return JSONResponse(await function(request.scope["state"]["platform"], document))
        except ParachuteError as error:
            return JSONResponse(error_document(error), error.status)
        except ClientDisconnect:
            return Response(status_code=400)
        except Exception as error:
            log.exception("A connector's request failed")
            return JSONResponse(error_document(error), 500)

    return answer
