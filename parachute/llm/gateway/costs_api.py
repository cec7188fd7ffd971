"""Routes of costs: what was used by whom, and the limits of each."""

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, ConfigDict, Field

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


@router.get("/costs")
async def costs(
    gateway: GatewayDependency, by: Grouping = "day", days: Annotated[int, Query(ge=1, le=3660)] = 30
) -> dict[str, Any]:
    """Costs of the last days, by day, subject, session or model."""
    found = [{by: name, **_shown(used)} for name, used in await gateway.costs(by, days)]
    return {"by": by, "days": days, "costs": found}


@router.get("/limits")
async def limits(gateway: GatewayDependency) -> dict[str, Any]:
    """Every limit, with what is used of it."""
    return {
        "limits": [
            {**asdict(limit), "used": _shown(await gateway.spending.used_of(limit))} for limit in gateway.limits.all()
        ]
    }


@router.put("/limits/{subject}")
async def put_limit(subject: str, body: Limit, gateway: GatewayDependency) -> dict[str, Any]:
    """Set the limit of a subject."""
    limit = SpendingLimit(checked_subject(subject), body.per, body.dollars, body.tokens)
    await gateway.limits.put(limit)
    return asdict(limit)


@router.delete("/limits/{subject}")
async def delete_limit(subject: str, gateway: GatewayDependency) -> dict[str, bool]:
    """Take the limit of a subject away."""
    await gateway.limits.remove(subject)
    return {"success": True}


def _shown(used: Usage) -> dict[str, Any]:
    return {**asdict(used), "dollars": round(used.dollars, 6)}
