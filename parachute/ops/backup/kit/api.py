"""Routes of the emergency kit: showing it, and opening the backups with what somebody brings back of it."""

import asyncio
from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Response
from pydantic import BaseModel, ConfigDict, Field

from parachute import __version__
from parachute.base.services import provided
from parachute.config.settings.home import Home
from parachute.ops.backup.jobs import BackupJobs
from parachute.ops.backup.kit.models import Need, fingerprint
from parachute.ops.backup.kit.service import check_kit, read_kit
from parachute.web.pairing.links import matrix

router = APIRouter(prefix="/api/backups/kit", tags=["backups"])

HomeDependency = Annotated[Home, Depends(provided(Home))]
JobsDependency = Annotated[BackupJobs, Depends(provided(BackupJobs))]


class ShownKit(BaseModel):
    """The emergency kit: what opens the backups, its whole `text`, and that as rows of squares, 1 for dark, with their margin.

    `needs` is what the place asks for besides, which is on no kit. `fingerprint` is the repository's, `made_on` today's date.
    """

    repository: str
    password: str
    credentials: dict[str, str]
    needs: Need | None
    fingerprint: str
    version: str
    made_on: str
    text: str
    qr: list[list[int]]


class Brought(BaseModel):
    """Emergency kit that a person enters: the text of the kit as it was scanned, or its password as it was typed."""

    model_config = ConfigDict(extra="forbid", strict=True)

    kit: Annotated[str, Field(min_length=1, max_length=8000)]


class KitOpened(BaseModel):
    """Time at which the kit has opened the backups, and the fingerprint of their repository."""

    opened_at: str
    fingerprint: str


@router.post("")
async def show_kit(response: Response, home: HomeDependency) -> ShownKit:
    """The emergency kit, to be printed or written down: its password is in no backup, and nobody keeps this answer."""
    kit = await asyncio.to_thread(read_kit, home)
    response.headers["cache-control"] = "no-store"
    return ShownKit(
        repository=kit.repository,
        password=kit.password,
        credentials=dict(kit.variables),
        needs=kit.needs,
        fingerprint=fingerprint(kit.identity or ""),
        version=__version__,
        made_on=datetime.now(UTC).date().isoformat(),
        text=kit.text,
        qr=await asyncio.to_thread(matrix, kit.text),
    )


@router.post("/check")
async def check_emergency_kit(body: Brought, home: HomeDependency, jobs: JobsDependency) -> KitOpened:
    """Open the backups with what is on the kit, and nothing else of this computer: from then on they are protected."""
    found = await asyncio.to_thread(check_kit, home, body.kit)
    jobs.settled()
    return KitOpened(opened_at=found.at, fingerprint=fingerprint(found.identity))
