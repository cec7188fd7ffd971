"""Routes of skills (contract, section 5)."""

from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends
from pydantic import BaseModel, ConfigDict, Field

from parachute.base.clock import as_text
from parachute.base.services import provided
from parachute.capabilities.skills.models import Skill
from parachute.capabilities.skills.service import Skills
from parachute.capabilities.texts import LIMIT
from parachute.chat.sessions.api import CallerDependency

router = APIRouter(prefix="/api/skills", tags=["skills"])

SkillsDependency = Annotated[Skills, Depends(provided(Skills))]


class NewSkill(BaseModel):
    """A skill to be written."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: Annotated[str, Field(min_length=1, max_length=200)]
    content: Annotated[str, Field(min_length=1, max_length=LIMIT)]
    description: Annotated[str, Field(max_length=10_000)] | None = None


@router.get("")
async def list_skills(service: SkillsDependency) -> dict[str, Any]:
    """The skills of the vault, those of plugins, and those of the user where the settings say so."""
    found = [*(each.skill for each in await service.all()), *await service.brought()]
    return {"skills": [{**as_json(each), "content": None} for each in found]}


@router.get("/{name}")
async def get_skill(name: str, service: SkillsDependency) -> dict[str, Any]:
    """One skill with its instructions."""
    return as_json(await service.get(name))


@router.post("")
async def create_skill(body: NewSkill, service: SkillsDependency, who: CallerDependency) -> dict[str, Any]:
    """Write a skill to the vault; so written it is approved."""
    description = (body.description or "").strip()
    made = await service.create(body.name, body.content, description, f"{who.kind} {who.name}")
    return {"success": True, "skill": as_json(made.skill)}


@router.delete("/{name}")
async def delete_skill(name: str, service: SkillsDependency, who: CallerDependency) -> dict[str, bool]:
    """Remove a skill of the vault, with all its files."""
    await service.delete(name, f"{who.kind} {who.name}")
    return {"success": True}


def as_json(skill: Skill) -> dict[str, Any]:
    """A skill as the app reads it, with our own additions."""
    return {
        "name": skill.name,
        "description": skill.description,
        "content": skill.content,
        "size": skill.size,
        "modified": as_text(datetime.fromtimestamp(skill.modified, UTC)),
        "version": skill.version,
        "allowed_tools": list(skill.allowed_tools),
        "is_directory": skill.is_folder,
        "files": [{"name": file.name, "size": file.size} for file in skill.files],
        "source": skill.source,
        "path": skill.path,
        "problem": skill.problem,
    }
