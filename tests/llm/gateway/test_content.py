"""An agent without a network cannot have the provider reach out for it."""

import pytest

from parachute.llm.gateway.content import refusal

PICTURE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aaaa"}}
ADDRESS = {"type": "image", "source": {"type": "url", "url": "https://example.org/?q=secret"}}


def _message(*content: object) -> dict[str, object]:
    return {"messages": [{"role": "user", "content": list(content)}]}


def _nested(times: int, block: object) -> object:
    for _ in range(times):
        block = {"type": "tool_result", "tool_use_id": "a", "content": [block]}
    return block


@pytest.mark.parametrize(
    "body",
    [
        {"messages": [{"role": "user", "content": "Hello"}], "system": "Be kind."},
        _message({"type": "text", "text": "Look"}, PICTURE),
        _message({"type": "tool_result", "tool_use_id": "a", "content": [PICTURE]}),
        {
            **_message(),
            "tools": [{"name": "Bash", "input_schema": {}}, {"type": "web_search_20250305", "name": "web_search"}],
        },
        {**_message(), "tools": [{"type": "custom", "name": "Bash"}], "mcp_servers": []},
    ],
)
def test_what_the_program_sends_passes(body: dict[str, object]) -> None:
    assert refusal(body) is None


@pytest.mark.parametrize(
    "body",
    [
        _message(ADDRESS),
        _message({"type": "tool_result", "tool_use_id": "a", "content": [ADDRESS]}),
        _message({"type": "document", "source": {"type": "file", "file_id": "x"}}),
        _message({"type": "document", "source": {"type": "content", "content": [ADDRESS]}}),
        _message(_nested(6, ADDRESS)),
        _message(_nested(60, ADDRESS)),
        {**_message(), "system": [ADDRESS]},
        {**_message(), "mcp_servers": [{"type": "url", "url": "https://example.org"}]},
        {**_message(), "container": {"skills": []}},
        {**_message(), "tools": [{"type": "web_fetch_20250910", "name": "web_fetch"}]},
        {**_message(), "tools": [{"type": "code_execution_20250825", "name": "code_execution"}]},
        {**_message(), "tools": [{"type": 3, "name": "x"}]},
    ],
)
def test_what_reaches_out_is_refused(body: dict[str, object]) -> None:
    sentence = refusal(body)
    assert sentence is not None
    assert "not open to agents" in sentence
