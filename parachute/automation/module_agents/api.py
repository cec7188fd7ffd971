"""The prompt of a module: `GET` and `PUT /api/modules/{name}/prompt` (contract, section 6)."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Depends
from pydantic import BaseModel, ConfigDict

from parachute.automation.module_agents.module_prompts import ModulePrompts
from parachute.base.answers import Answer
from parachute.base.services import provided

router = APIRouter(tags=["modules"])


class ModulePrompt(Answer, frozen=True, rename="camel"):
    """The user's prompt in place of a module's if it `exists`, and the module's own."""

    content: str | None
    exists: bool
    default_prompt: str | None


PromptsDependency = Annotated[ModulePrompts, Depends(provided(ModulePrompts))]


class NewPrompt(BaseModel):
    """The user's own text; an empty one goes back to the module's."""

    model_config = ConfigDict(extra="ignore", strict=True)

    content: str


@router.get("/api/modules/{name}/prompt")
async def get_prompt(name: str, service: PromptsDependency) -> ModulePrompt:
    """The user's prompt in place of a module's, and the module's own."""
    return await asyncio.to_thread(_shown, service, name)


@router.put("/api/modules/{name}/prompt")
async def put_prompt(name: str, body: NewPrompt, service: PromptsDependency) -> ModulePrompt:
    """Replace a module's prompt."""
    await asyncio.to_thread(service.put, name, body.content)
    return await asyncio.to_thread(_shown, service, name)


def _shown(service: ModulePrompts, name: str) -> ModulePrompt:
    found = service.get(name)
    return ModulePrompt(found.content, found.content is not None, found.default)
