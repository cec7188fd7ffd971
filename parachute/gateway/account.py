"""What the provider says about the account: its models, and the limits of a subscription."""

from datetime import UTC, datetime
from typing import Any

from parachute.gateway.models import Credential, CredentialKind, Provider

_VERSION = {"anthropic-version": "2023-06-01"}
_OAUTH_BETA = {"anthropic-beta": "oauth-2025-04-20"}
_WINDOWS = ("five_hour", "seven_day", "seven_day_sonnet", "seven_day_opus")


def headers(credential: Credential | None) -> dict[str, str]:
    """The headers that carry a credential."""
    if credential is None:
        return {}
    if credential.kind is CredentialKind.API_KEY:
        return {"x-api-key": credential.secret}
    return {"authorization": f"Bearer {credential.secret}"}


async def models(
    client: Any, provider: Provider, credential: Credential | None, show_all: bool
) -> list[dict[str, Any]]:
    """The models that a provider lists, newest first; without `show_all` the newest of each family."""
    beta = _OAUTH_BETA if credential and credential.kind is CredentialKind.OAUTH else {}
    response = await client.get(
        f"{provider.base_url.rstrip('/')}/v1/models",
        params={"limit": 100},
        headers={**_VERSION, **beta, **headers(credential)},
        timeout=20,
    )
    response.raise_for_status()
    found: list[dict[str, Any]] = []
    for entry in response.json().get("data", []):
        identifier = str(entry.get("id", ""))
        found.append(
            {
                "id": identifier,
                "display_name": str(entry.get("display_name") or identifier),
                "created_at": str(entry.get("created_at") or datetime.fromtimestamp(0, UTC).isoformat()),
                "family": next((name for name in ("opus", "sonnet", "haiku") if name in identifier), "other"),
                "is_latest": False,
            }
        )
    found.sort(key=lambda model: model["created_at"], reverse=True)
    seen: set[str] = set()
    for model in found:
        model["is_latest"] = model["family"] not in seen
        seen.add(model["family"])
    return found if show_all else [model for model in found if model["is_latest"] or model["family"] == "other"]


async def subscription(client: Any, provider: Provider, credential: Credential) -> dict[str, Any]:
    """The windows of a subscription and how far they are used, in percent."""
    response = await client.get(
        f"{provider.base_url.rstrip('/')}/api/oauth/usage",
        headers={**_VERSION, **_OAUTH_BETA, **headers(credential)},
        timeout=20,
    )
    response.raise_for_status()
    value = response.json()
    report: dict[str, Any] = {}
    for name in _WINDOWS:
        window = value.get(name)
        if isinstance(window, dict):
            report[name] = {"utilization": window.get("utilization") or 0, "resets_at": window.get("resets_at")}
    if isinstance(extra := value.get("extra_usage"), dict):
        report["extra_usage"] = extra
    return report
