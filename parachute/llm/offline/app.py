"""The routes of the offline model, as one ASGI application."""

import logging
import os
import resource
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from parachute.base.errors import NotFound, ParachuteError
from parachute.llm.offline.engine import Engine
from parachute.llm.offline.exchange import Exchange, Receive, Scope, Send
from parachute.llm.offline.messages import count_tokens, create_message
from parachute.llm.offline.model_file import model_name
from parachute.llm.offline.settings import OfflineSettings
from parachute.supervisor.activity import Activity
from parachute.web.http.incoming import Gone

_log = logging.getLogger(__name__)
# The list of models wants a date, and a file has no honest one.
_NO_DATE = "1970-01-01T00:00:00Z"


class OfflineApp:
    """Answers every request; what it cannot answer becomes an error in the shape of the Messages API."""

    def __init__(self, settings: OfflineSettings, engine: Engine, activity: Activity) -> None:
        self._settings = settings
        self._engine = engine
        self._activity = activity
        self._routes: dict[tuple[str, str], Callable[[Exchange], Awaitable[None]]] = {
            ("POST", "/v1/messages"): lambda exchange: create_message(exchange, engine),
            ("POST", "/v1/messages/count_tokens"): lambda exchange: count_tokens(exchange, engine),
            ("GET", "/v1/models"): self._models,
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request; the query string never matters."""
        exchange = Exchange(scope, receive, send)
        try:
            if (exchange.method, exchange.path) == ("GET", "/health"):
                # Not an activity: watching the process would otherwise keep it, and its memory, for ever.
                await exchange.answer(200, self._health())
                return
            with self._activity.under_way():
                await self._dispatch(exchange)
        except Gone:
            pass  # nobody is there to be answered

    async def _dispatch(self, exchange: Exchange) -> None:
        try:
            route = self._routes.get((exchange.method, exchange.path))
            if route is None:
                raise NotFound(
                    f"There is no route for {exchange.method} {exchange.path[:200]} here.", key="nothing_here"
                )
            await route(exchange)
        except ParachuteError as error:
            await exchange.fail(error)
        except Gone:
            raise
        except Exception:
            _log.exception("a request failed")
            await exchange.fail(
                ParachuteError("The offline model failed. Its log says more.", status=500, key="api_error")
            )

    async def _models(self, exchange: Exchange) -> None:
        name = model_name(self._settings.model)
        model = {"type": "model", "id": name, "display_name": name, "created_at": _NO_DATE}
        await exchange.answer(200, {"data": [model], "has_more": False, "first_id": name, "last_id": name})

    def _health(self) -> dict[str, object]:
        problem = self._engine.problem
        return {
            "status": "ok" if problem is None else "unavailable",
            "state": self._engine.state,
            "message": None if problem is None else str(problem),
            "model": model_name(self._settings.model),
            "context_tokens": self._settings.context_tokens,
            "generating": self._engine.generating,
            "waiting": self._engine.waiting,
            "completed": self._engine.completed,
            "stopped": self._engine.stopped,
            "rss_bytes": _resident_bytes(),
        }


def _resident_bytes() -> int:
    """Resident memory in bytes; on systems without /proc the highest so far."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024
    return pages * os.sysconf("SC_PAGE_SIZE")
