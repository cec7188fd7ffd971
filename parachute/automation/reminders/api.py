"""Routes of reminders."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Depends
from pydantic import BaseModel, ConfigDict, Field

from parachute.automation.reminders.models import Reminder
from parachute.automation.reminders.service import Reminders
from parachute.base.answers import Answer
from parachute.base.services import provided

router = APIRouter(prefix="/api/reminders", tags=["reminders"])

RemindersDependency = Annotated[Reminders, Depends(provided(Reminders))]


class NewReminder(BaseModel):
    """A reminder to make: its time in words, and its text."""

    model_config = ConfigDict(extra="forbid", strict=True)

    when: str = Field(max_length=200)
    text: str = Field(max_length=1000)


class ReminderList(Answer, frozen=True):
    """All reminders, the next one first."""

    reminders: Sequence[Reminder]


@router.get("")
async def list_reminders(service: RemindersDependency) -> ReminderList:
    """All reminders, those that wait for an answer included."""
    return ReminderList(await service.list())


@router.post("")
async def add_reminder(body: NewReminder, service: RemindersDependency) -> Reminder:
    """Remind of a text at a time, or again and again."""
    return await service.add(body.when, body.text)


@router.delete("/{identifier}")
async def remove_reminder(identifier: str, service: RemindersDependency) -> Reminder:
    """Forget a reminder."""
    return await service.remove(identifier)
