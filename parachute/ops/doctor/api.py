"""Routes of the doctor: what was found, looking again, mending, and what the owner does not want to hear of."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Depends
from msgspec import to_builtins
from pydantic import BaseModel, ConfigDict, Field

from parachute.base.clock import as_text
from parachute.base.services import provided
from parachute.config.settings.home import Home
from parachute.ops.doctor.examiner import Examiner, no_such_problem
from parachute.ops.doctor.findings import Findings, dismiss
from parachute.ops.doctor.models import Level

router = APIRouter(prefix="/api/doctor", tags=["doctor"])

ExaminerDependency = Annotated[Examiner, Depends(provided(Examiner))]
HomeDependency = Annotated[Home, Depends(provided(Home))]


class ShownCheck(BaseModel):
    """A check with its last result; `key` is that of the problem, null where there is none."""

    id: str
    key: str | None
    title: str
    group: str
    result: Level
    message: str
    next: str | None
    details: list[str]
    fix: str | None
    can_fix: bool
    is_dismissed: bool
    examined_at: str


class ShownRepair(BaseModel):
    """The receipt of a repair: the check by its id, when it was, whether it succeeded, and what was done."""

    id: str
    at: str
    done: bool
    message: str


class Shown(BaseModel):
    """Findings of the doctor; `examined_at` is the time at which all checks ran last, `repairs` are the newest, the latest first."""

    examined_at: str | None
    is_examining: bool
    checks: list[ShownCheck]
    repairs: list[ShownRepair]


class Problem(BaseModel):
    """A problem by its key."""

    model_config = ConfigDict(extra="forbid", strict=True)

    key: str = Field(pattern=r"^[a-z0-9-]{1,80}$")


class Fixed(BaseModel):
    """Repair that was made."""

    key: str
    message: str


@router.get("")
async def examination(examiner: ExaminerDependency, home: HomeDependency) -> Shown:
    """Last findings of the doctor; without any, an examination begins."""
    findings = await asyncio.to_thread(Findings.read, home.root)
    if findings.examined_at is None and not examiner.is_busy:
        examiner.soon()
    return _shown(findings, examiner)


@router.post("/examine", status_code=202)
async def examine_again(examiner: ExaminerDependency, home: HomeDependency) -> Shown:
    """Look at everything again, in the background; the stream of changes says when the doctor is done."""
    examiner.soon()
    return _shown(await asyncio.to_thread(Findings.read, home.root), examiner)


@router.post("/fix")
async def fix_problem(examiner: ExaminerDependency, body: Problem) -> Fixed:
    """Mend a problem, as `parachute doctor --fix` does; 404 if it is another one by now, 409 if it cannot be mended from here."""
    return Fixed(key=body.key, message=await examiner.fix(body.key))


@router.post("/dismiss")
async def dismiss_problem(home: HomeDependency, examiner: ExaminerDependency, body: Problem) -> Shown:
    """Hear no more of a problem, as long as it is the same; when it was solved and comes back, it is heard of again."""
    return await _dismissed(home, examiner, body.key, is_dismissed=True)


@router.post("/undismiss")
async def undismiss_problem(home: HomeDependency, examiner: ExaminerDependency, body: Problem) -> Shown:
    """Hear of a problem again."""
    return await _dismissed(home, examiner, body.key, is_dismissed=False)


async def _dismissed(home: Home, examiner: Examiner, key: str, *, is_dismissed: bool) -> Shown:
    if not await asyncio.to_thread(dismiss, home.root, key, is_dismissed=is_dismissed):
        raise no_such_problem()
    examiner.changed()
    return _shown(await asyncio.to_thread(Findings.read, home.root), examiner)


def _shown(findings: Findings, examiner: Examiner) -> Shown:
    moment = findings.examined_at
    return Shown(
        examined_at=as_text(moment) if moment else None,
        is_examining=examiner.is_busy,
        checks=[
            ShownCheck.model_validate({**each, "is_dismissed": each["key"] in findings.dismissed})
            for each in findings.checks.values()
        ],
        repairs=[ShownRepair.model_validate(to_builtins(each)) for each in findings.repairs],
    )
