"""The API describes itself: keys, errors, and the routes of modules."""

from typing import Any

import httpx2
import pytest

from tests.support.installation import Installation
from tests.support.server import Server

HERE = Server


async def described(client: httpx2.AsyncClient) -> dict[str, Any]:
    answer = await client.get("/openapi.json")
    assert answer.status_code == 200
    document: dict[str, Any] = answer.json()
    return document


async def test_each_route_says_which_scope_it_needs_and_what_its_errors_look_like(owner: httpx2.AsyncClient) -> None:
    document = await described(owner)
    paths = document["paths"]
    assert paths["/api/health"]["get"]["security"] == []
    assert paths["/api/chat"]["post"]["x-scope"] == "chat:write"
    assert paths["/api/auth/keys"]["get"]["x-scope"] == "auth:admin"
    for path, operations in paths.items():
        for method, operation in operations.items():
            assert ("x-scope" in operation) == bool(operation["security"]), (method, path)
            content = operation["responses"]["default"]["content"]["application/json"]
            assert content["schema"] == {"$ref": "#/components/schemas/Error"}
            assert "422" not in operation["responses"]
    # The description holds for what is sent.
    refused = (await owner.get("/api/chat?limit=none")).json()
    assert refused.keys() == document["components"]["schemas"]["Error"]["properties"].keys()


async def test_a_wrong_method_is_answered_with_every_right_one(
    installation: Installation, owner: httpx2.AsyncClient
) -> None:
    document = await described(owner)
    wrong: list[str] = []
    for path, operations in document["paths"].items():
        methods = {method.upper() for method in operations}
        answer = await owner.request("TRACE", path.replace("{", "").replace("}", ""))
        assert answer.status_code == 405, path
        allowed = set(answer.headers["allow"].split(", "))
        if not methods <= allowed:
            wrong.append(f"{path}: {sorted(methods - allowed)} not in {sorted(allowed)}")
    assert wrong == []


@pytest.mark.parametrize("path", ["/api/workspaces", "/api/chat"])
async def test_allow_names_the_methods_of_all_routers(owner: httpx2.AsyncClient, path: str) -> None:
    answer = await owner.put(path)
    assert answer.status_code == 405
    assert answer.headers["allow"] == "GET, POST"
