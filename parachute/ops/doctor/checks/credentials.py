"""The credential of the model: it is there, has not expired, and can be refreshed."""

import time
from datetime import datetime

from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.models import Group, Level, Result, check, ok, problem, warning
from parachute.ops.doctor.provider import provider_of

_SOON = 3 * 24 * 60 * 60
_HOUR = 60 * 60
_LOGIN = (
    '`claude setup-token` makes one that lasts; write it into ~/.parachute/credentials.json as {"oauth_token": "…"}.'
)


@check("Credential of the model", Group.ACCESS)
def examine(computer: Computer) -> Result:
    if computer.provider is not None:
        return _reported(computer.provider)
    provider, credential = provider_of(computer)
    if provider.is_offline:
        return ok(f"The model of this machine answers, because {provider.chosen_because}.")
    if provider.name == "compatible":
        return ok(f"{provider.base_url} answers, because {provider.chosen_because}.")
    if credential is None:
        return problem("Anthropic should answer, but there is no credential for it.", _LOGIN)
    return _ending(credential.source, credential.lasts_until) or ok(f"There is a credential: {credential.source}.")


def _reported(provider: dict[str, object]) -> Result:
    """Judge what the server reports: its credential may come from the shell that started it."""
    if provider["provider"] is None:
        return problem(f"No model can answer: {provider['because']}", "`parachute config` shows what is set.")
    credential = provider["credential"]
    if provider["limit_reached"]:
        return warning(str(provider["limit_reached"]), "`parachute config` shows the limits.")
    if isinstance(credential, dict):
        if credential["expired"]:
            return problem(f"The credential from {credential['source']} has expired.", _LOGIN)
        if credential["problem"]:
            return problem(str(credential["problem"]), _LOGIN)
        ends = credential["ends_at"] and datetime.fromisoformat(credential["ends_at"]).timestamp()
        if ending := _ending(credential["source"], ends):
            return ending
    if provider["provider"] == "anthropic" and credential is None:
        return problem("Anthropic should answer, but there is no credential for it.", _LOGIN)
    return ok(f"{str(provider['provider']).capitalize()} answers, because {provider['because']}.")


def _ending(source: str, ends: float | None) -> Result | None:
    """Judge when a credential ends for good."""
    if ends is None or (left := ends - time.time()) >= _SOON:
        return None
    if left <= 0:
        return problem(f"The credential from {source} has expired.", _LOGIN)
    return Result(
        Level.WARNING, f"The credential from {source} ends in {left / _HOUR:.0f} hours for good.", _LOGIN, is_told=True
    )
