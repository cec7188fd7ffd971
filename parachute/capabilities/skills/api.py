"""Routes of skills (contract, section 5)."""

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Header
from msgspec.structs import replace
from pydantic import BaseModel, ConfigDict, Field

from parachute.base.answers import Answer, Done
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


class FileRow(Answer, frozen=True):
    """A file beside a skill."""

    name: str
    size: int


class SkillRow(Answer, frozen=True):
    """A skill; `content` is None in lists, and `instructions` stand where it alone is asked for."""

    name: str
    description: str
    content: str | None
    size: int
    modified: str
    version: str | None
    allowed_tools: tuple[str, ...]
    is_directory: bool
    files: tuple[FileRow, ...]
    source: str
    path: str
    problem: str | None
    note: str | None
    etag: str
    instructions: str | None = None


class SkillList(Answer, frozen=True):
    """Skills."""

    skills: tuple[SkillRow, ...]


class ChangedSkill(Answer, frozen=True):
    """The skill after a change."""

    skill: SkillRow
    success: bool = True


@router.get("")
async def list_skills(service: SkillsDependency) -> SkillList:
    """The skills of the vault, those of plugins, and those of the user where the settings say so."""
    found = [*(each.skill for each in await service.all()), *await service.brought()]
    return SkillList(tuple(replace(row_of(each), content=None) for each in found))


@router.get("/{name}")
async def get_skill(name: str, service: SkillsDependency) -> SkillRow:
    """One skill with its instructions."""
    return _in_full(await service.get(name))


@router.post("")
async def create_skill(body: NewSkill, service: SkillsDependency, who: CallerDependency) -> ChangedSkill:
    """Write a skill to the vault; so written it is approved."""
    description = (body.description or "").strip()
    made = await service.create(body.name, body.content, description, f"{who.kind} {who.name}")
    return ChangedSkill(row_of(made.skill))


@router.put("/{name}")
async def change_skill(
    name: str, body: SkillText, service: SkillsDependency, who: CallerDependency, if_match: IfMatch = None
) -> ChangedSkill:
    """Change the instructions of a skill of the vault; 412 if they are not those of `If-Match`. Its other files stay."""
    description = (body.description or "").strip()
    made = await service.change(name, body.content, description, if_match, f"{who.kind} {who.name}")
    return ChangedSkill(_in_full(made.skill))


@router.delete("/{name}")
async def delete_skill(name: str, service: SkillsDependency, who: CallerDependency) -> Done:
    """Remove a skill of the vault, with all its files."""
    await service.delete(name, f"{who.kind} {who.name}")
    return Done()


def _in_full(skill: Skill) -> SkillRow:
    """A skill with its instructions, also without the fields at their top."""
    return replace(row_of(skill), instructions=front_matter.split(skill.content).body.strip())


def row_of(skill: Skill) -> SkillRow:
    """A skill as the app reads it, with our own additions."""
    return SkillRow(
        name=skill.name,
        description=skill.description,
        content=skill.content,
        size=skill.size,
        modified=as_text(datetime.fromtimestamp(skill.modified, UTC)),
        version=skill.version,
        allowed_tools=tuple(skill.allowed_tools),
        is_directory=skill.is_folder,
        files=tuple(FileRow(file.name, file.size) for file in skill.files),
        source=skill.source,
        path=skill.path,
        problem=skill.problem,
        note=skill.note,
        etag=etag_of(skill.content),
    )
