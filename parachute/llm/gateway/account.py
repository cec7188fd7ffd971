"""The account at the provider: its models, and the limits of a subscription."""

import math
from datetime import UTC, datetime
from typing import Any

from msgspec import convert
from msgspec.structs import replace

from parachute.llm.gateway.models import Credential, CredentialKind, Provider
from parachute.llm.gateway.reports import ExtraUsage, ListedModel, Window, Windows

_VERSION = {"anthropic-version": "2023-06-01"}
OAUTH_MARK = "oauth-2025-04-20"
"""The name in `anthropic-beta` without which Anthropic refuses an OAuth token."""

_OAUTH_BETA = {"anthropic-beta": OAUTH_MARK}
_NO_LIST = (404, 405, 501)
"""Statuses of a compatible server that has no list of models."""

_WINDOWS = ("five_hour", "seven_day", "seven_day_sonnet", "seven_day_opus")


def headers(credential: Credential | None) -> dict[str, str]:
    """The headers that carry a credential."""
    if credential is None:
        return {}
    if credential.kind is CredentialKind.API_KEY:
        return {"x-api-key": credential.secret}
    return {"authorization": f"Bearer {credential.secret}"}


async def models(client: Any, provider: Provider, credential: Credential | None, show_all: bool) -> list[ListedModel]:
    """The models that a provider lists, newest first; without `show_all` the newest of each family.

    Of a compatible server that lists none, the one that the settings name.
    """
    beta = _OAUTH_BETA if credential and credential.kind is CredentialKind.OAUTH else {}
    response = await client.get(
        f"{provider.base_url.rstrip('/')}/v1/models",
        params={"limit": 100},
        headers={**_VERSION, **beta, **headers(credential)},
        timeout=20,
    )
    is_compatible = provider.name == "compatible"
    listed: Any = None
    if not (is_compatible and response.status_code in _NO_LIST):
        response.raise_for_status()
        listed = response.json()
    entries = listed.get("data") if isinstance(listed, dict) else None
    found: list[ListedModel] = []
    if is_compatible and not entries and provider.model:
        entries = [{"id": provider.model}]
    for entry in entries if isinstance(entries, list) else []:
        if not isinstance(entry, dict) or not isinstance(identifier := entry.get("id"), str):
            continue
        name = str(entry.get("display_name") or identifier)
        family = next((each for each in ("opus", "sonnet", "haiku") if each in identifier), "other")
        created = _moment(entry.get("created_at")) or "1970-01-01T00:00:00Z"
        found.append(ListedModel(identifier, name, created, family, False, provider.at_home))
    found.sort(key=lambda model: model.created_at, reverse=True)
    newest = {model.family: model for model in reversed(found)}
    found = [replace(model, is_latest=newest[model.family] is model) for model in found]
    return found if show_all else [model for model in found if model.is_latest or model.family == "other"]


async def subscription(client: Any, provider: Provider, credential: Credential) -> Windows:
    """The windows of a subscription and how far they are used, in percent."""
    response = await client.get(
        f"{provider.base_url.rstrip('/')}/api/oauth/usage",
        headers={**_VERSION, **_OAUTH_BETA, **headers(credential)},
        timeout=20,
    )
    response.raise_for_status()
    value = response.json()
    if not isinstance(value, dict):
        raise ValueError("the answer is not an object")
    report: dict[str, Window | ExtraUsage] = {}
    for name in _WINDOWS:
        window = value.get(name)
        if isinstance(window, dict):
            report[name] = Window(_number(window.get("utilization")) or 0, _moment(window.get("resets_at")))
    if isinstance(extra := value.get("extra_usage"), dict):
        limit, used, share = (_number(extra.get(name)) for name in ("monthly_limit", "used_credits", "utilization"))
        if limit is not None and used is not None and share is not None:  # the app reads all three as numbers
            report["extra_usage"] = ExtraUsage(extra.get("is_enabled") is True, round(limit), used, share)
    return convert(report, Windows)


def _number(value: Any) -> float | int | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return value if is_number else None


def _moment(value: Any) -> str | None:
    """The time with its zone, as the app can read it."""
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else datetime.fromtimestamp(value, UTC)
    except (ValueError, TypeError, OverflowError, OSError):
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).isoformat().replace("+00:00", "Z")
