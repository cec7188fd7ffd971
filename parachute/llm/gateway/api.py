"""`GET /api/usage` (contract, section 7), `POST /api/ask`, a question without a conversation, and `/api/provider`."""

import asyncio
from functools import partial
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from msgspec.structs import asdict
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from parachute.base.answers import Answer
from parachute.base.errors import InvalidInput
from parachute.base.services import services_of
from parachute.config.settings.groups.providers import MAIN
from parachute.config.settings.home import Home
from parachute.llm.gateway.choice import ProviderChoice, forget_choice, write_choice
from parachute.llm.gateway.named_choice import forget_named, write_named
from parachute.llm.gateway.questions import Questions
from parachute.llm.gateway.reports import ChosenProvider, ProviderModels, ProviderStatus, Subscription
from parachute.llm.gateway.service import Gateway
from parachute.security.keys.models import Caller

MAXIMUM_QUESTION = 200_000
"""Characters of a question, and of its system prompt."""

MAXIMUM_TOKENS = 4096

router = APIRouter(tags=["gateway"])


def _has_text(value: str) -> str:
    if not value.strip():
        raise ValueError("must not be empty")
    return value


class Question(BaseModel):
    """A question, its system prompt, how many tokens its answer may have, and a model such as `home/qwen3`, if not the usual one."""

    model_config = ConfigDict(extra="forbid", strict=True)

    prompt: Annotated[str, Field(max_length=MAXIMUM_QUESTION), AfterValidator(_has_text)]
    system: str | None = Field(default=None, max_length=MAXIMUM_QUESTION)
    max_tokens: int = Field(default=1024, ge=1, le=MAXIMUM_TOKENS)
    model: str | None = Field(default=None, max_length=100, pattern=r"^[A-Za-z0-9._:/@\[\]-]*$")


class Provider(BaseModel):
    """The chosen provider; a secret goes to `~/.parachute/credentials.json` and into no answer."""

    model_config = ConfigDict(extra="forbid", strict=True)

    provider: Literal["anthropic", "compatible", "offline"]
    secret: str | None = Field(default=None, max_length=4096)
    base_url: str | None = Field(default=None, max_length=2000)
    model: str | None = Field(default=None, max_length=200)
    name: str | None = Field(default=None, max_length=40)
    at_home: bool | None = None


class ProviderList(Answer, frozen=True):
    """Every provider, the first one of all first, and the names of those that answer in place of others."""

    providers: list[ProviderModels]
    fallback: list[str]


class UsedTokens(Answer, frozen=True):
    """Tokens and US dollars."""

    input_tokens: int
    output_tokens: int
    dollars: float


class GivenAnswer(Answer, frozen=True):
    """The answer of the model, and what it has used."""

    text: str
    model: str
    stop_reason: str | None
    usage: UsedTokens


@router.get("/api/usage")
async def usage(request: Request) -> Subscription:
    """The subscription's limits as Anthropic reports them, and what was spent here today."""
    return await services_of(request).get(Gateway).subscription()


@router.post("/api/ask")
async def ask(request: Request, question: Question) -> GivenAnswer:
    """One question to the model: no tools, no conversation, nothing that stays but the usage."""
    questions = services_of(request).get(Questions)
    caller: Caller = request.scope["state"]["caller"]
    source = ("api_key" if caller.kind == "key" else caller.kind, caller.name)
    answer = await questions.ask(
        question.prompt, question.system, question.max_tokens, source=source, wanted=question.model
    )
    used = UsedTokens(answer.usage.input_tokens, answer.usage.output_tokens, round(answer.usage.dollars, 6))
    return GivenAnswer(answer.text, answer.model, answer.stop_reason, used)


@router.get("/api/provider/models")
async def list_models(request: Request) -> ProviderList:
    """Every provider with its models, and what its server showed when it was connected."""
    services = services_of(request)
    gateway = services.get(Gateway)
    return ProviderList(await gateway.models.providers(), gateway.upstream.fallback)


@router.put("/api/provider")
async def choose_provider(request: Request, body: Provider) -> ChosenProvider:
    """Choose where the model runs, or with a `name` add another provider; answers which one is in force, and what the server showed."""
    services = services_of(request)
    gateway, home = services.get(Gateway), services.get(Home)
    choice = ProviderChoice(body.provider, body.secret, body.base_url, body.model)
    if body.name is not None:
        writing = asyncio.to_thread(write_named, home, body.name, choice, body.at_home)
    elif body.at_home is not None:
        raise InvalidInput("at_home: only a provider with a name says it.", key="name_missing")
    else:
        writing = asyncio.to_thread(write_choice, home, choice, gateway.upstream.credentials)
    gateway.upstream.take_over(await writing)
    chosen = gateway.upstream.called(body.name or MAIN)
    facts = await gateway.upstream.ask_abilities(chosen)
    return ChosenProvider(
        **asdict(await gateway.status()),
        window=facts.window_of(chosen.model) if facts else None,
        tools=facts.tools if facts else None,
        streams=facts.streams if facts else None,
        counts=facts.counts if facts else None,
    )


@router.delete("/api/provider")
async def forget_provider(request: Request, name: Annotated[str | None, Query(max_length=40)] = None) -> ProviderStatus:
    """Forget the stored credential and server, or the provider with that `name`; answers which one is in force then, and why."""
    services = services_of(request)
    gateway, home = services.get(Gateway), services.get(Home)
    forgetting = partial(forget_named, home, name) if name else partial(forget_choice, home)
    gateway.upstream.take_over(await asyncio.to_thread(forgetting))
    return await gateway.status()
