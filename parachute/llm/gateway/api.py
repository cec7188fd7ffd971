"""`GET /api/usage` (contract, section 7), `POST /api/ask`, a question without a conversation, and `/api/provider`."""

import asyncio
from typing import Annotated, Literal

from fastapi import APIRouter, Request
from msgspec.structs import asdict
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from parachute.base.answers import Answer
from parachute.base.services import services_of
from parachute.config.settings.home import Home
from parachute.llm.gateway.choice import ProviderChoice, forget_choice, write_choice
from parachute.llm.gateway.questions import Questions
from parachute.llm.gateway.reports import ChosenProvider, ProviderStatus, Subscription
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
    """A question, its system prompt, and how many tokens its answer may have."""

    model_config = ConfigDict(extra="forbid", strict=True)

    prompt: Annotated[str, Field(max_length=MAXIMUM_QUESTION), AfterValidator(_has_text)]
    system: str | None = Field(default=None, max_length=MAXIMUM_QUESTION)
    max_tokens: int = Field(default=1024, ge=1, le=MAXIMUM_TOKENS)


class Provider(BaseModel):
    """The chosen provider; a secret goes to `~/.parachute/credentials.json` and into no answer."""

    model_config = ConfigDict(extra="forbid", strict=True)

    provider: Literal["anthropic", "compatible", "offline"]
    secret: str | None = Field(default=None, max_length=4096)
    base_url: str | None = Field(default=None, max_length=2000)
    model: str | None = Field(default=None, max_length=200)


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
    answer = await questions.ask(question.prompt, question.system, question.max_tokens, source=source)
    used = UsedTokens(answer.usage.input_tokens, answer.usage.output_tokens, round(answer.usage.dollars, 6))
    return GivenAnswer(answer.text, answer.model, answer.stop_reason, used)


@router.put("/api/provider")
async def choose_provider(request: Request, body: Provider) -> ChosenProvider:
    """Choose where the model runs, from now on; answers which provider is in force, and why."""
    services = services_of(request)
    gateway, home = services.get(Gateway), services.get(Home)
    choice = ProviderChoice(body.provider, body.secret, body.base_url, body.model)
    gateway.upstream.take_over(await asyncio.to_thread(write_choice, home, choice, gateway.upstream.credentials))
    return ChosenProvider(**asdict(await gateway.status()), window=await gateway.upstream.window())


@router.delete("/api/provider")
async def forget_provider(request: Request) -> ProviderStatus:
    """Forget the stored credential and server; answers which provider is in force then, and why."""
    services = services_of(request)
    gateway, home = services.get(Gateway), services.get(Home)
    gateway.upstream.take_over(await asyncio.to_thread(forget_choice, home))
    return await gateway.status()
