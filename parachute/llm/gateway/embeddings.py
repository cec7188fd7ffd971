"""Embeddings from a server of the owner's: `POST /v1/embeddings`, as OpenAI's API has it, or `POST /api/embed` of Ollama."""

import asyncio
import json
import time
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from parachute.base.errors import ParachuteError, Unavailable
from parachute.config.settings.groups.local_models import MeaningSettings
from parachute.llm.gateway.embedded import OLLAMA, OPENAI, Answer, answer_of, said_of
from parachute.llm.gateway.key_file import authorization
from parachute.llm.gateway.limits import COMPUTER
from parachute.llm.gateway.models import ANTHROPIC_SECRET, Provider, payer_of, used_in
from parachute.llm.gateway.prices import estimate
from parachute.llm.gateway.service import Gateway
from parachute.llm.gateway.upstream import reason_of

_SESSION = "meaning"
"""The session of embeddings in the ledger; ids of sessions are longer."""

_LARGEST_ANSWER = 16 << 20
_TOO_MUCH = (400, 413, 422)
_UNKNOWN_PATH = (404, 405, 501)
_MEANWHILE = "Search uses words only until it works again."


class _Said(Struct):
    """Answer of a path of the server; `answer` is None for an error."""

    path: str
    status: int = 0
    error: str = ""
    answer: Answer | None = None


class Embeddings:
    """Asks with the gateway's connections, ledger and audit; nothing is sent while all agents are stopped.

    The server's key is that of `meaning.key_file`, or the gateway's own where it is the server of `base_url`.
    """

    def __init__(self, settings: MeaningSettings, gateway: Gateway) -> None:
        assert settings.server is not None
        self.address = _base(settings.server)
        self._settings = settings
        self._gateway = gateway
        self._path: str | None = None

    async def of(self, model: str, texts: Sequence[str], seconds: float) -> list[bytes]:
        """The embedding of each text, in numbers of 32 bits, all equally many. What is refused as too much is sent in halves.

        Errors: Unavailable (`no_embeddings`, `bad_embeddings`), LimitReached, Stopped.
        """
        said = await self._ask(model, texts, seconds)
        if said.answer is not None:
            return list(said.answer.vectors)
        if said.status in _TOO_MUCH and len(texts) > 1:
            half = len(texts) // 2
            first = await self.of(model, texts[:half], seconds)
            return [*first, *await self.of(model, texts[half:], seconds)]
        raise self._refused(model, said)

    async def _ask(self, model: str, texts: Sequence[str], seconds: float) -> _Said:
        """The answer of the path that the server knows: OpenAI's is tried first, which most of them have."""
        last: _Said | None = None
        for path in (self._path,) if self._path else (OPENAI, OLLAMA):
            found = await self._post(path, model, texts, seconds)
            if found.status not in _UNKNOWN_PATH:
                self._path = path
                return found
            # Ollama says 404 for a model that it has not got, too: the one with a sentence tells more.
            last = last if last is not None and last.error and not found.error else found
        self._path = None
        assert last is not None
        return last

    async def _post(self, path: str, model: str, texts: Sequence[str], seconds: float) -> _Said:
        import httpx2

        said, started = _Said(path), time.monotonic()
        document: dict[str, Any] = {"model": model, "input": list(texts)}
        if path == OPENAI:
            document["encoding_format"] = "float"
        content = json.dumps(document).encode()
        try:
            provider, key = await self._key()
            payer = payer_of(provider, None)
            spending = self._gateway.spending
            headers = {"content-type": "application/json", **key}
            async with asyncio.timeout(seconds), spending.reserved(model, estimate(len(content), 0), payer, COMPUTER):
                client = await self._gateway.upstream.client(provider)
                async with client.stream("POST", self.address + path, content=content, headers=headers) as response:
                    said.status = response.status_code
                    body = await _bounded(response, self.address)
                if said.status == 200:
                    said.answer = await asyncio.to_thread(answer_of, body, len(texts), self.address)
                    await spending.account(_SESSION, model, COMPUTER, said.answer.usage, payer)
                else:
                    # Some servers answer an error with a copy of what they were sent.
                    secret = key.get("authorization", "").removeprefix("Bearer ")
                    said.error = said_of(body).replace(secret or "\0", "***")
            return said
        except TimeoutError as error:
            raise self._silent("it did not answer in time") from error
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise self._silent(reason_of(error)) from error
        finally:
            self._record(said, model, started)

    async def _key(self) -> tuple[Provider, dict[str, str]]:
        """The provider that the server is, and the header with its key."""
        upstream = self._gateway.upstream
        provider = Provider("compatible", self.address)
        if self._settings.key_file is not None:
            path = self._settings.key_file
            return provider, await asyncio.to_thread(authorization, path, "meaning.key_file", "no_embeddings")
        try:
            asked = upstream.provider
        except ParachuteError:  # the settings of conversations contradict each other
            return provider, {}
        if asked.is_offline or _base(asked.base_url) != self.address:
            return provider, {}
        credential = upstream.credential(asked)
        # Anthropic has no embeddings; its secrets have nothing to do here.
        if credential is None or credential.secret.startswith(ANTHROPIC_SECRET):
            return provider, {}
        return asked, {"authorization": f"Bearer {credential.secret}"}

    def _record(self, said: _Said, model: str, started: float) -> None:
        used = used_in(said.answer.usage) if said.answer else {}
        self._gateway.audit.append(
            event_type="gateway_call",
            source_type="core",
            source_id=_SESSION,
            target_module="gateway",
            target_endpoint=said.path,
            duration_ms=round((time.monotonic() - started) * 1000),
            success=said.answer is not None,
            error=None if said.answer else f"status {said.status}" if said.status else "broken off",
            subject=COMPUTER,
            model=model,
            **used,
        )

    def _silent(self, reason: str) -> Unavailable:
        return Unavailable(
            f"The server for meanings at {self.address} does not answer: {reason}.", _MEANWHILE, key="no_embeddings"
        )

    def _refused(self, model: str, said: _Said) -> Unavailable:
        reason = f": {said.error}" if said.error else ""
        message = f"The server for meanings at {self.address} answered {said.status}{reason}."
        hint = _MEANWHILE
        if said.status in (401, 403):
            hint = "Put its key into a file, and name that in `meaning.key_file`."
        elif said.status in _UNKNOWN_PATH:
            hint = (
                f"It must know the model {model}, at {OPENAI} or {OLLAMA}. Correct `meaning.server` or "
                "`meaning.server_model`."
            )
        return Unavailable(message, hint, key="no_embeddings")


def _base(address: str) -> str:
    return address.rstrip("/").removesuffix("/v1").removesuffix("/api")


async def _bounded(response: Any, address: str) -> bytes:
    found = bytearray()
    async for part in response.aiter_bytes():
        found += part
        if len(found) > _LARGEST_ANSWER:
            raise Unavailable(
                f"The answer of {address} is larger than any embeddings.",
                "See what answers at `meaning.server`.",
                key="bad_embeddings",
            )
    return bytes(found)
