"""One question to the model without an agent: no tools, no conversation, nothing that stays but the usage."""

import asyncio
import json
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct

from parachute.base.errors import InvalidInput, ParachuteError
from parachute.llm.gateway.accounting import UsageReader
from parachute.llm.gateway.endpoint import ModelEndpoint
from parachute.llm.gateway.exchange import Refused
from parachute.llm.gateway.models import QUESTIONS, CredentialKind, Payer, Problem, Provider, Usage, payer_of
from parachute.llm.gateway.service import Gateway
from parachute.llm.gateway.spending import charge

_AT_ONCE = 4
_SECONDS = 300.0
_FAMILIES = ("haiku", "sonnet", "opus", "other")
"""The order in which a model is chosen where none is set: a question is to be quick and cheap."""

_STATUS = {
    "billing_error": 402,
    "context_exceeded": 413,
    "rate_limited": 429,
    "service_unavailable": 503,
}
_HINTS = {
    "billing_error": "`parachute auth status` shows the credential; see also `daily_spending_limit`.",
    "context_exceeded": "Ask with less text.",
    "expired_token": "Run `claude login` again, or store a token of `claude setup-token` with `parachute auth login`.",
    "invalid_credentials": "`parachute auth status` shows which one is used, `parachute auth login` stores another.",
    "network_error": "See whether this computer is online, then try again.",
    "rate_limited": "Try again later.",
    "service_unavailable": "Try again later.",
}


class NotAnswered(ParachuteError):
    """The model did not answer; `key` is one of the codes of `typed_error`, `retry_seconds` when to try again."""

    status = 502


class Answer(Struct, frozen=True):
    """The answer of the model; `stop_reason` is `max_tokens` if it was cut."""

    text: str
    model: str
    stop_reason: str | None
    usage: Usage


class Asked(Struct, frozen=True):
    """A question with its system prompt, the model, and who asks (kind, name); an answer of more than `max_tokens` is cut.

    `wanted` is the model as it was chosen, with the name of its provider.
    """

    prompt: str
    system: str
    max_tokens: int
    model: str
    asked_by: tuple[str, str]
    wanted: str | None = None


class Asker(Protocol):
    """Asks by way of an agent, as the login of a subscription wants it."""

    async def reason_unavailable(self) -> str | None:
        """Return why it cannot, or None."""

    async def ask(self, question: Asked) -> Answer:
        """Return the answer; errors: NotAnswered, Unavailable, Stopped."""


class Questions:
    """Asks through the gateway, with its credential, allowed models, spending limit, ledger and audit.

    `agent` asks where the credential is a subscription's.
    """

    def __init__(self, gateway: Gateway, agent: Asker | None) -> None:
        self._gateway = gateway
        self._agent = agent
        self._slots = asyncio.Semaphore(_AT_ONCE)
        self._named: dict[tuple[str, str], str] = {}

    async def ask(
        self,
        prompt: str,
        system: str | None,
        max_tokens: int,
        *,
        source: tuple[str, str],
        wanted: str | None = None,
    ) -> Answer:
        """The answer to one question; `source` (kind, name) is who asks, for the audit, `wanted` a model that was chosen.

        Errors: NotAnswered, InvalidInput where no model is set or allowed, Unavailable where models cannot be listed, Stopped.
        """
        async with self._slots:
            provider = self._gateway.upstream.chosen(wanted)
            model = await self._model(provider)
            question = Asked(prompt, system or "", max_tokens, model, source, wanted)
            wants_agent = provider.wants_agent(self._gateway.upstream.credential(provider))
            asking = self._agent.ask(question) if self._agent and wants_agent else self._ask(question, provider)
            try:
                async with asyncio.timeout(_SECONDS):
                    return await asking
            except TimeoutError as error:
                message = f"The model did not answer within {_SECONDS:g} seconds."
                raise NotAnswered(message, "Ask with less text, or try again.", key="network_error") from error

    async def reason_unavailable(self) -> str | None:
        """The reason why no model can answer a question that takes understanding, as a sentence, or None."""
        upstream = self._gateway.upstream
        try:
            provider = upstream.provider
            credential = upstream.credential(provider)
        except ParachuteError as error:
            return error.message
        if provider.is_offline:
            return f"The model on this machine, which answers because {provider.chosen_because}, is too small."
        if provider.name == "anthropic" and credential is None:
            return "There are no credentials for the model."
        if credential is not None and credential.has_ended(upstream.clock):
            return f"The credential in {credential.source} has expired."
        return await self._agent.reason_unavailable() if self._agent and provider.wants_agent(credential) else None

    async def _ask(self, question: Asked, provider: Provider) -> Answer:
        body: dict[str, Any] = {
            "model": question.model,
            "max_tokens": question.max_tokens,
            "messages": [{"role": "user", "content": question.prompt}],
        }
        if question.system:
            body["system"] = question.system
        endpoint = ModelEndpoint(QUESTIONS, Path(), CredentialKind.API_KEY, token="", asked_by=question.asked_by)
        endpoint.wanted = question.wanted
        try:
            raw = await self._gateway.application.ask(endpoint, body)
        except Refused as refusal:
            self._gateway.kill_switch.check()  # then that is why
            raise not_answered(endpoint.problem, refusal.message, refusal.code) from refusal
        payer = payer_of(provider, self._gateway.upstream.credential(provider))
        return _answer(raw, question.model, provider, payer)

    async def _model(self, provider: Provider) -> str:
        wanted = (provider.model or provider.asked or "").partition("[")[0]
        # A word such as `sonnet` is what the agent's program understands; the service wants the whole name.
        if provider.is_offline or (wanted and (wanted not in _FAMILIES or provider.name != "anthropic")):
            return wanted
        if provider.name != "anthropic":
            raise InvalidInput(
                f"No model is set for {provider.base_url}.",
                "`parachute config set model NAME` sets one.",
                key="no_model",
            )
        known = (provider.called, wanted)
        if known not in self._named:
            listed = await self._gateway.upstream.models_of(provider, show_all=True)
            families = (wanted,) if wanted else _FAMILIES
            fitting = [
                entry.id
                for family in families
                for entry in listed
                if entry.family == family and self._gateway.upstream.allows_model(entry.id, provider)
            ]
            if not fitting:
                raise InvalidInput(
                    f"{provider.base_url} offers no model that `allowed_models` allows.",
                    "`parachute config set model NAME` sets one, `parachute config` shows the settings.",
                    key="no_model",
                )
            self._named[known] = fitting[0]
        return self._named[known]


def _answer(raw: bytes, asked: str, provider: Provider, payer: Payer) -> Answer:
    reader = UsageReader(streaming=False)
    reader.feed(raw)
    reader.finish()
    usage = reader.usage
    charge(asked, usage, payer)
    try:
        message = json.loads(raw)
        text = "".join(block["text"] for block in message["content"] if block["type"] == "text")
        model, reason = str(message.get("model") or asked), message.get("stop_reason")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise NotAnswered(
            f"The answer of {provider.base_url} is not one of the Messages API.", key="service_error"
        ) from error
    return Answer(text, model, reason if isinstance(reason, str) else None, usage)


def not_answered(problem: Problem | None, message: str, code: str | None = None) -> NotAnswered:
    """The error for whoever asked; the gateway's `problem`, if there is one, says best what went wrong."""
    code = (problem.code if problem else code) or "service_error"
    fields = {"retry_seconds": problem.retry_seconds} if problem and problem.retry_seconds is not None else {}
    # A 401 of the model's service must not look as if our caller's own key were wrong.
    return NotAnswered(
        problem.message if problem else message, _HINTS.get(code), key=code, status=_STATUS.get(code), **fields
    )
