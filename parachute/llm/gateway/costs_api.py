"""Routes of costs: what was used by whom, and the limits of each."""

from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from msgspec import to_builtins
from pydantic import BaseModel, ConfigDict, Field

from parachute.base.answers import Done
from parachute.base.services import provided
from parachute.config.settings.groups.values import MOST_DOLLARS, MOST_TOKENS
from parachute.llm.gateway.limits import Period, SpendingLimit, checked_subject
from parachute.llm.gateway.models import Usage
from parachute.llm.gateway.service import Gateway
from parachute.llm.gateway.store import Grouping

router = APIRouter(prefix="/api/usage", tags=["gateway"])

GatewayDependency = Annotated[Gateway, Depends(provided(Gateway))]


class Limit(BaseModel):
    """Limit of a subject in each period; null for no limit of that kind."""

    model_config = ConfigDict(extra="forbid", strict=True)

    per: Period = "day"
    dollars: float | None = Field(default=None, ge=0, le=MOST_DOLLARS, allow_inf_nan=False)
    tokens: int | None = Field(default=None, ge=0, le=MOST_TOKENS)


class ShownLimit(Limit):
    """The limit of a subject, with what is used of it in this period."""

    subject: str
    used: Usage


class SpendingLimits(BaseModel):
    """Every limit."""

    limits: list[ShownLimit]


@dataclass
class Cost(Usage):
    """Use by one of what it is grouped by; the others are absent."""

    day: str | None = None
    subject: str | None = None
    session: str | None = None
    model: str | None = None


class Costs(BaseModel):
    """Costs of the last days."""

    by: Grouping
    days: int
    costs: list[Cost]


@router.get("/costs", response_model_exclude_none=True)
async def costs(
    gateway: GatewayDependency, by: Grouping = "day", days: Annotated[int, Query(ge=1, le=3660)] = 30
) -> Costs:
    """Costs of the last days, by day, subject, session or model."""
    found = await gateway.costs(by, days)
    return Costs(by=by, days=days, costs=[Cost(**(to_builtins(_rounded(used)) | {by: name})) for name, used in found])


@router.get("/limits")
async def limits(gateway: GatewayDependency) -> SpendingLimits:
    """Every limit, with what is used of it."""
    used = [(limit, _rounded(await gateway.spending.used_of(limit))) for limit in gateway.limits.all()]
    return SpendingLimits(limits=[ShownLimit(**to_builtins(limit), used=each) for limit, each in used])


@router.put("/limits/{subject}")
async def put_limit(subject: str, body: Limit, gateway: GatewayDependency) -> SpendingLimit:
    """Set the limit of a subject."""
    limit = SpendingLimit(checked_subject(subject), body.per, body.dollars, body.tokens)
    await gateway.limits.put(limit)
    return limit


@router.delete("/limits/{subject}")
async def delete_limit(subject: str, gateway: GatewayDependency) -> Done:
    """Take the limit of a subject away."""
    await gateway.limits.remove(subject)
    return Done()


def _rounded(used: Usage) -> Usage:
    return replace(used, dollars=round(used.dollars, 6))
