"""The credential of the model: it is there, and has not expired."""

import time

from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.models import Group, Result, check, ok, problem, warning
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
        return problem("Anthropic is to answer, and there is no credential for it.", _LOGIN)
    if credential.expired:
        return problem(f"The credential from {credential.source} has expired.", _LOGIN)
    if credential.expires_at is not None and credential.expires_at - time.time() < _SOON:
        hours = (credential.expires_at - time.time()) / _HOUR
        return warning(f"The credential from {credential.source} expires in {hours:.0f} hours.", _LOGIN)
    return ok(f"There is a credential: {credential.source}.")


def _reported(provider: dict[str, object]) -> Result:
    """Judge what the server reports: its credential may come from the shell that started it."""
    if provider["provider"] is None:
        return problem(f"No model can answer: {provider['because']}", "`parachute config` shows what is set.")
    credential = provider["credential"]
    if provider["limit_reached"]:
        return warning(
            f"The limit of {provider['daily_spending_limit']} dollars for today is reached.",
            "`parachute config set daily_spending_limit 40` raises it.",
        )
    if isinstance(credential, dict) and credential["expired"]:
        return problem(f"The credential from {credential['source']} has expired.", _LOGIN)
    if provider["provider"] == "anthropic" and credential is None:
        return problem("Anthropic is to answer, and there is no credential for it.", _LOGIN)
    return ok(f"{str(provider['provider']).capitalize()} answers, because {provider['because']}.")
