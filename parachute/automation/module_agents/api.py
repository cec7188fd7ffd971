"""The prompt of a module: `GET` and `PUT /api/modules/{name}/prompt` (contract, section 6)."""

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Depends
from pydantic import BaseModel, ConfigDict

from parachute.automation.module_agents.module_prompts import ModulePrompts
from parachute.base.services import provided

router = APIRouter(tags=["modules"])


PromptsDependency = Annotated[ModulePrompts, Depends(provided(ModulePrompts))]


class NewPrompt(BaseModel):
    """The user's own text; an empty one goes back to the module's."""

    model_config = ConfigDict(extra="ignore", strict=True)

    content: str


@router.get("/api/modules/{name}/prompt")
async def get_prompt(name: str, service: PromptsDependency) -> dict[str, Any]:
    """The user's prompt in place of a module's, and the module's own."""
    return await asyncio.to_thread(_shown, service, name)


@router.put("/api/modules/{name}/prompt")
async def put_prompt(name: str, body: NewPrompt, service: PromptsDependency) -> dict[str, Any]:
    """Replace a module's prompt."""
    await asyncio.to_thread(service.put, name, body.content)
    return await asyncio.to_thread(_shown, service, name)


def _shown(service: ModulePrompts, name: str) -> dict[str, Any]:
    found = service.get(name)
    return {"content": found.content, "exists": found.content is not None, "defaultPrompt": found.default}
