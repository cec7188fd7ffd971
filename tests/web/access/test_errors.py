"""Errors as a client sees them."""

import logging
from typing import Annotated, Literal

import pytest
from fastapi import FastAPI, HTTPException, Query
from pydantic import BaseModel, Field, field_validator
from starlette.testclient import TestClient

from parachute.base.errors import Conflict, NotFound, Unavailable
from parachute.web.http.errors import install_error_handlers


class Message(BaseModel):
    message: str = Field(min_length=1, max_length=10)
    trust: Literal["direct", "sandboxed"] = "sandboxed"
    name: str = "a"

    @field_validator("name")
    @classmethod
    def name_is_short(cls, value: str) -> str:
        if len(value) > 1:
            raise ValueError("must be one letter.")
        return value


@pytest.fixture
def client() -> TestClient:
    app = FastAPI()
    install_error_handlers(app)

    @app.post("/chat")
    async def chat(body: Message) -> None: ...

    @app.get("/list")
    async def listing(limit: Annotated[int, Query(ge=1, le=500)] = 50) -> None: ...

    @app.get("/missing")
    async def missing() -> None:
        raise NotFound(
            "There is no session x.", "See them with: parachute chat --list", session_id="x", when={1, 2} and 3
        )

    @app.get("/busy")
    async def busy() -> None:
        raise Conflict("It is busy.", key="busy", detail="cannot be overwritten", path=object)

    @app.get("/down")
    async def down() -> None:
        raise Unavailable("The model is down.")

    @app.get("/http/{kind}")
    async def http(kind: str) -> None:
        details: dict[str, object] = {"text": "Plain.", "map": {"message": "Inside."}, "list": ["a", "b"], "none": None}
        raise HTTPException(418, details[kind], headers={"X-Kept": "yes"})

    @app.get("/unchanged")
    async def unchanged() -> None:
        raise HTTPException(304)

    @app.get("/crash")
    async def crash() -> None:
        raise RuntimeError("secret path /home/anna")

    return TestClient(app, raise_server_exceptions=False)


def test_an_error_of_ours_has_detail_key_hint_and_fields(client: TestClient) -> None:
    response = client.get("/missing")
    assert response.status_code == 404
    assert response.headers["content-type"] == "application/json"
    assert response.json() == {
        "detail": "There is no session x.",
        "key": "not_found",
        "hint": "See them with: parachute chat --list",
        "session_id": "x",
        "when": 3,
    }


def test_fields_neither_hide_the_sentence_nor_break_the_answer(client: TestClient) -> None:
    response = client.get("/busy")
    assert response.status_code == 409
    assert response.json()["detail"] == "It is busy."
    assert response.json()["key"] == "busy"
    assert response.json()["hint"] is None
    assert isinstance(response.json()["path"], str)


def test_what_is_down_says_so(client: TestClient) -> None:
    assert client.get("/down").status_code == 503


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({}, ["message: this is required"]),
        ({"message": ""}, ["message", "at least 1 character"]),
        ({"message": "x" * 11}, ["message", "at most 10 characters"]),
        ({"message": 5}, ["message", "valid string"]),
        ({"message": "a", "trust": "full"}, ["trust", "'direct' or 'sandboxed'"]),
        ({"message": "a", "name": "bb"}, ["name: must be one letter."]),
        ({"message": "", "trust": "full"}, ["message", "trust"]),
        ([], ["body", "valid dictionary"]),
        (None, ["body"]),
    ],
)
def test_a_wrong_field_is_named_in_one_string(client: TestClient, body: object, says: list[str]) -> None:
    response = client.post("/chat", json=body)
    assert response.status_code == 422
    detail = response.json()["detail"]
    assert isinstance(detail, str)
    assert all(words in detail for words in says), detail
    assert "Value error" not in detail


def test_what_was_sent_is_not_repeated(client: TestClient) -> None:
    assert "para_secret" not in client.post("/chat", json={"message": ["para_secret"]}).text


def test_a_wrong_parameter_is_named(client: TestClient) -> None:
    detail = client.get("/list?limit=501").json()["detail"]
    assert "limit" in detail
    assert "500" in detail


@pytest.mark.parametrize("body", ["{", "hello", '{"message": }', "[1,]"])
def test_a_body_that_is_no_json_is_a_bad_request(client: TestClient, body: str) -> None:
    response = client.post("/chat", content=body, headers={"content-type": "application/json"})
    assert response.status_code == 400
    assert "not JSON" in response.json()["detail"]


def test_a_body_that_is_no_text_is_a_bad_request(client: TestClient) -> None:
    response = client.post("/chat", content=b"\xff\xfe{", headers={"content-type": "application/json"})
    assert response.status_code == 400
    assert isinstance(response.json()["detail"], str)


@pytest.mark.parametrize(("kind", "detail"), [("text", "Plain."), ("map", "Inside."), ("list", "a; b")])
def test_other_errors_get_a_string_and_keep_their_headers(client: TestClient, kind: str, detail: str) -> None:
    response = client.get(f"/http/{kind}")
    assert (response.status_code, response.json()["detail"]) == (418, detail)
    assert response.headers["x-kept"] == "yes"


def test_unknown_routes_and_methods_get_a_string(client: TestClient) -> None:
    assert isinstance(client.get("/nowhere").json()["detail"], str)
    response = client.delete("/chat")
    assert response.status_code == 405
    assert response.headers["allow"] == "POST"
    assert isinstance(response.json()["detail"], str)
    assert client.get("/unchanged").content == b""


def test_a_crash_is_logged_and_tells_the_client_nothing(client: TestClient, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        response = client.get("/crash")
    assert response.status_code == 500
    assert response.headers["content-type"] == "application/json"
    assert "anna" not in response.text
    assert "Traceback" not in response.text
    assert "secret path /home/anna" in caplog.text
    assert "Traceback" in caplog.text
