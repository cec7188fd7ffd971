"""Routes of skills (contract, section 5)."""

from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header
from pydantic import BaseModel, ConfigDict, Field

from parachute.base.clock import as_text
from parachute.base.services import provided
from parachute.capabilities.skills.models import Skill
from parachute.capabilities.skills.service import Skills
from parachute.capabilities.texts import LIMIT, etag_of
from parachute.chat.sessions.api import CallerDependency
from parachute.core import front_matter

router = APIRouter(prefix="/api/skills", tags=["skills"])

IfMatch = Annotated[str | None, Header(max_length=1000)]
SkillsDependency = Annotated[Skills, Depends(provided(Skills))]


class SkillText(BaseModel):
    """The instructions of a skill; without fields at their top, they get those that it has."""

    model_config = ConfigDict(extra="forbid", strict=True)

    content: Annotated[str, Field(min_length=1, max_length=LIMIT)]
    description: Annotated[str, Field(max_length=10_000)] | None = None


class NewSkill(SkillText):
    """A skill to be written."""

    name: Annotated[str, Field(min_length=1, max_length=200)]


@router.get("")
async def list_skills(service: SkillsDependency) -> dict[str, Any]:
    """The skills of the vault, those of plugins, and those of the user where the settings say so."""
    found = [*(each.skill for each in await service.all()), *await service.brought()]
    return {"skills": [{**as_json(each), "content": None} for each in found]}


@router.get("/{name}")
async def get_skill(name: str, service: SkillsDependency) -> dict[str, Any]:
    """One skill with its instructions."""
    return _in_full(await service.get(name))


@router.post("")
async def create_skill(body: NewSkill, service: SkillsDependency, who: CallerDependency) -> dict[str, Any]:
    """Write a skill to the vault; so written it is approved."""
    description = (body.description or "").strip()
    made = await service.create(body.name, body.content, description, f"{who.kind} {who.name}")
    return {"success": True, "skill": as_json(made.skill)}


@router.put("/{name}")
async def change_skill(
    name: str, body: SkillText, service: SkillsDependency, who: CallerDependency, if_match: IfMatch = None
) -> dict[str, Any]:
    """Change the instructions of a skill of the vault; 412 if they are not those of `If-Match`. Its other files stay."""
    description = (body.description or "").strip()
    made = await service.change(name, body.content, description, if_match, f"{who.kind} {who.name}")
    return {"success": True, "skill": _in_full(made.skill)}


@router.delete("/{name}")
async def delete_skill(name: str, service: SkillsDependency, who: CallerDependency) -> dict[str, bool]:
    """Remove a skill of the vault, with all its files."""
    await service.delete(name, f"{who.kind} {who.name}")
    return {"success": True}


def _in_full(skill: Skill) -> dict[str, Any]:
    """A skill with its instructions, also without the fields at their top."""
    return {**as_json(skill), "instructions": front_matter.split(skill.content).body.strip()}


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
        "etag": etag_of(skill.content),
    }
