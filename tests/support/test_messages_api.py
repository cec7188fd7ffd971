"""Refusals of the fake Messages API, and failures that it tells: a test that relies on them would not notice if they stopped."""

from typing import Any

import httpx2
import pytest

from .messages_api import MessagesAPI, Reply, text

pytestmark = pytest.mark.process

QUESTION = {"model": "claude-x", "max_tokens": 100, "messages": [{"role": "user", "content": "Hello"}]}


def ask(api: MessagesAPI, headers: dict[str, str] | None = None) -> httpx2.Response:
    """Send a question without the CLI, from sync code."""
    return httpx2.post(f"{api.url}/v1/messages", json=QUESTION, headers=headers)


def test_credentials(api: MessagesAPI) -> None:
    api.default(text("ok"))
    api.require(api_key="right")
    keys: list[dict[str, str]] = [{"x-api-key": "wrong"}, {"authorization": "Bearer right"}, {}]
    refused = [ask(api, headers=headers) for headers in keys]
    assert [answer.status_code for answer in refused] == [401, 401, 401]
    assert refused[0].json()["error"]["type"] == "authentication_error"
    assert ask(api, headers={"x-api-key": "right"}).status_code == 200


def test_a_request_that_nobody_scripted_is_refused(api: MessagesAPI) -> None:
    assert ask(api).status_code == 400


def test_a_callable_sees_the_body_and_its_failure_reaches_the_test() -> None:
    def broken(body: dict[str, Any]) -> Reply:
        raise LookupError(body["messages"][0]["content"])

    api = MessagesAPI().start()
    api.script(lambda body: text(body["model"]), broken)
    assert ask(api).json()["content"][0]["text"] == "claude-x"
    assert ask(api).status_code == 500
    with pytest.raises(LookupError, match="Hello"):
        api.stop()
