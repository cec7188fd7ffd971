"""Questions to a server when it is connected: its models and windows, and whether it has tools, streams and counts tokens."""

import asyncio
import contextlib
import json
from typing import Any

from msgspec import Struct

from parachute.base.clock import SYSTEM, Clock
from parachute.llm.gateway import account, window
from parachute.llm.gateway.models import Credential, Provider

_SECONDS = 20.0
_LIMIT = 1024 * 1024
_MOST_MODELS = 500
_TOOL = {"name": "look", "description": "Looks.", "input_schema": {"type": "object", "properties": {}}}


class ServerFacts(Struct, frozen=True):
    """The abilities of a server as it showed them, null for what it did not; `windows` are the tokens that each model takes."""

    asked_at: str
    models: tuple[str, ...] = ()
    windows: dict[str, int] = {}
    window: int | None = None
    tools: bool | None = None
    streams: bool | None = None
    counts: bool | None = None

    def window_of(self, model: str | None) -> int | None:
        """Return the tokens that a model takes, None where the server does not say."""
        return self.windows.get(model or "", self.window)


async def probe(client: Any, provider: Provider, credential: Credential | None, clock: Clock = SYSTEM) -> ServerFacts:
    """Ask a server what it has; what it does not answer in time stays unknown."""
    asking = Asking(client, provider, credential)
    props, listed = await asyncio.gather(asking.document("/props"), asking.document("/v1/models"))
    entries = listed.get("data")
    rows = [each for each in entries if isinstance(each, dict)] if isinstance(entries, list) else []
    names = [name for each in rows[:_MOST_MODELS] if isinstance(name := each.get("id"), str)]
    windows = {
        name: size
        for each in rows[:_MOST_MODELS]
        if (name := each.get("id")) in names and (size := window.said_in(each))
    }
    facts: dict[str, Any] = {"models": tuple(names), "windows": windows}
    whole = window.said_in(props.get("default_generation_settings"))
    facts["window"] = whole if whole is not None else next(iter(windows.values()), None)
    model = provider.model or next(iter(names), None)
    if model is not None:
        body = {"model": model, "messages": [{"role": "user", "content": "Hi"}]}
        facts["counts"] = await asking.counts(body)
        asked = {**body, "max_tokens": 1, "stream": True}
        facts["tools"], facts["streams"] = await asking.accepts({**asked, "tools": [_TOOL]})
        if facts["tools"] is False:
            accepted, facts["streams"] = await asking.accepts(asked)
            # What is refused without tools as well, such as an unknown model, says nothing of them.
            facts["tools"] = False if accepted else None
    return ServerFacts(clock.now().isoformat(timespec="seconds"), **facts)


class Asking:
    """Asks a server with bounded requests; nothing that goes wrong is an error."""

    def __init__(self, client: Any, provider: Provider, credential: Credential | None) -> None:
        self._client = client
        self._address = provider.base_url.rstrip("/")
        self._headers = {"anthropic-version": "2023-06-01", **account.headers(credential)}

    async def document(self, path: str) -> dict[str, Any]:
        """The object that a path answers with, an empty one for anything else."""
        _, found = await self._sent("GET", path, None)
        return found

    async def counts(self, body: dict[str, Any]) -> bool | None:
        """True if the tokens of a body are counted."""
        status, found = await self._sent("POST", "/v1/messages/count_tokens", body)
        return None if status is None else status == 200 and isinstance(found.get("input_tokens"), int)

    async def tokens(self, body: dict[str, Any]) -> int | None:
        """The tokens of a body as the server counts them, None if it does not."""
        _, found = await self._sent("POST", "/v1/messages/count_tokens", body)
        return count if isinstance(count := found.get("input_tokens"), int) and count > 0 else None

    async def accepts(self, body: dict[str, Any]) -> tuple[bool | None, bool | None]:
        """Return the acceptance of a body, and of a stream as its answer; None for what cannot be told."""
        with contextlib.suppress(Exception):
            async with asyncio.timeout(_SECONDS):
                sending = self._client.stream("POST", f"{self._address}/v1/messages", json=body, headers=self._headers)
                async with sending as response:
                    kind = response.headers.get("content-type", "")
                    if response.status_code == 200:
                        return True, kind.startswith("text/event-stream")
                    # Of a wrong credential, a full server or a model that is not there it says nothing about tools.
                    return (False if response.status_code in (400, 422) else None), None
        return None, None

    async def _sent(self, method: str, path: str, body: dict[str, Any] | None) -> tuple[int | None, dict[str, Any]]:
        with contextlib.suppress(Exception):
            async with asyncio.timeout(_SECONDS):
                sending = self._client.stream(method, f"{self._address}{path}", json=body, headers=self._headers)
                async with sending as response:
                    held = bytearray()
                    async for part in response.aiter_bytes():
                        held += part
                        if len(held) > _LIMIT:
                            return response.status_code, {}
                    found = json.loads(held) if response.status_code == 200 else None
                    return response.status_code, found if isinstance(found, dict) else {}
        return None, {}
