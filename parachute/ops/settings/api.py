"""Routes of settings."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends
from pydantic import BaseModel, ConfigDict

from parachute.base.services import provided
from parachute.config.settings.topics import TOPICS
from parachute.ops.settings.models import AllSettings, Setting, ShownTopic
from parachute.ops.settings.service import LiveSettings

router = APIRouter(prefix="/api/config", tags=["config"])

SettingsDependency = Annotated[LiveSettings, Depends(provided(LiveSettings))]


class NewValue(BaseModel):
    """The value of a setting, in its own type; null empties it."""

    model_config = ConfigDict(extra="forbid")

    value: Any


@router.get("")
async def list_settings(service: SettingsDependency) -> AllSettings:
    """Every setting of `config.yaml`: its value, what it may be, where it comes from, and whether it waits for a restart."""
    topics = [ShownTopic(key=topic.key, title=topic.title) for topic in TOPICS]
    return AllSettings(topics=topics, settings=await service.all())


@router.put("/{name}")
async def set_setting(name: str, body: NewValue, service: SettingsDependency) -> Setting:
    """Write a setting, checked as by `parachute config set`; 404 for an unknown name, 409 where the system declares it."""
    return await service.set(name, body.value)


@router.delete("/{name}")
async def unset_setting(name: str, service: SettingsDependency) -> Setting:
    """Let the default of a setting hold again."""
    return await service.unset(name)
