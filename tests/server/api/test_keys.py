"""Keys with scopes over HTTP: what a caller may give away, and what the new key may do."""

import base64
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pytest

from tests.contract import models
from tests.contract.files import Folder
from tests.contract.responses import check_error, check_response
from tests.support.installation import Installation
from tests.support.server import Server

from .conftest import state_of

HERE = Server

PATH = "/api/auth/keys"
FULL = "*:read,write,admin"


async def made(client: httpx2.AsyncClient, label: str, *scopes: str) -> dict[str, Any]:
    """A key with these scopes."""
    answer = await client.post(PATH, json={"label": label, "scopes": list(scopes)})
    check_response(models.CreatedKey, answer)
    return dict(answer.json())


async def test_the_app_gets_a_key_with_all_rights_and_others_what_they_name(
    owner: httpx2.AsyncClient, installation: Installation
) -> None:
    plain = await owner.post(PATH, json={"label": "Phone of the app"})
    check_response(models.CreatedKey, plain)
    assert plain.json()["scopes"] == [FULL]
    family = await made(owner, "Shared family device", "daily:write", "chat:read")
    listed = {each["id"]: each["scopes"] for each in (await owner.get(PATH)).json()["keys"]}
    assert (listed[plain.json()["id"]], listed[family["id"]]) == ([FULL], ["daily:write", "chat:read"])
    async with installation.client(headers={"x-api-key": family["key"]}) as device:
        check_response(models.SessionList, await device.get("/api/chat"))
        check_error(await device.get("/api/usage/x"), 404)
        check_error(await device.post("/api/chat", json={"message": "Hello"}), 403, "chat")
        check_error(await device.get(PATH), 403, "auth")
        check_error(await device.post(PATH, json={"label": "more"}), 403, "auth")


async def test_no_key_makes_one_with_more_rights_than_its_own(
    owner: httpx2.AsyncClient, installation: Installation
) -> None:
    keeper = await made(owner, "Keeper", "auth:admin", "daily:write")
    before = state_of(installation)
    async with installation.client(headers={"authorization": f"Bearer {keeper['key']}"}) as client:
        for scopes in (
            None,
            [FULL],
            ["*:read"],
            ["daily:admin"],
            ["daily:write", "chat:read"],
            ["auth:admin,read", "vault:read"],
        ):
            refused = await client.post(PATH, json={"label": "Raised", "scopes": scopes})
            check_error(refused, 403)
            assert refused.json()["key"] == "more_than_own_rights", scopes
        assert state_of(installation) == before
        less = await made(client, "Less", "daily:read", "auth:read")
        assert less["scopes"] == ["daily:read", "auth:read"]
    async with installation.client(headers={"x-api-key": less["key"]}) as client:
        check_error(await client.get("/api/usage"), 403, "chat")


@pytest.mark.parametrize(
    "scopes",
    [
        [],
        ["daily"],
        ["daily:"],
        ["daily:fly"],
        ["daily:read,fly"],
        ["nothing:read"],
        ["Daily:read"],
        ["../x:read"],
        "daily:read",
        [3],
        [None],
        ["daily:read"] * 101,
        ["x" * 201],
    ],
)
async def test_scopes_that_cannot_be(owner: httpx2.AsyncClient, installation: Installation, scopes: Any) -> None:
    before = state_of(installation)
    check_error(await owner.post(PATH, json={"label": "Wrong", "scopes": scopes}), 422, "scope")
    assert state_of(installation) == before


@pytest.mark.parametrize("form", ["x-api-key", "bearer", "base64"])
async def test_every_call_of_the_key_screens_is_made_with_a_key_in_each_form_of_the_app(
    owner: httpx2.AsyncClient, installation: Installation, form: str
) -> None:
    key = (await made(owner, f"Phone {form}", FULL))["key"]
    secret = base64.b64encode(key.encode()).decode() if form == "base64" else key
    headers = {"x-api-key": secret} if form == "x-api-key" else {"authorization": f"Bearer {secret}"}
    before = datetime.now(UTC) - timedelta(seconds=1)
    async with installation.client(headers=headers) as phone:
        created = check_response(models.CreatedKey, await phone.post(PATH, json={"label": f"Watch {form}"}))
        listed = check_response(models.KeyList, await phone.get(PATH), present=["auth_mode"])
        (own,) = [each for each in listed.keys if each.label == f"Phone {form}"]
        assert own.last_used_at is not None
        for moment in (created.created_at, own.last_used_at):
            # This computer lies nine hours east of UTC.
            assert before.replace(microsecond=0) <= datetime.fromisoformat(moment) <= datetime.now(UTC)
        settings = check_response(models.AuthSettings, await phone.get("/api/auth/settings"))
        assert settings.key_count == len(listed.keys)
        check_response(models.Usage, await phone.get("/api/usage"))
        assert (await phone.delete(f"{PATH}/{created.id}")).status_code == 200
        check_response(Folder, await phone.get("/api/ls?path=Chat/contexts"))
