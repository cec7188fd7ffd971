"""The models of the contract take what the app takes and refuse what would break it."""

from typing import Any

import httpx2
import pytest

from . import models
from .models import check, check_error, check_response, check_stream, parse_event

NOW = "2026-02-23T18:03:00Z"
QUESTION = {"question": "Which?", "header": "H", "options": [{"label": "a", "description": "b"}], "multiSelect": False}
CALL = {"type": "tool_use", "id": "t1", "name": "Read", "input": {}}

GOOD: list[tuple[type, Any]] = [
    (models.Health, {"status": "ok"}),
    (models.DetailedHealth, {"version": "1", "vault": {"path": None}, "docker": {"available": True}}),
    (models.Session, {"id": "a", "createdAt": NOW, "lastAccessed": NOW, "trust_level": "direct", "messageCount": 3}),
    (models.Session, {"id": "a", "archived": None, "metadata": {"bot_settings": {"response_mode": "all_messages"}}}),
    (models.SessionList, {"sessions": []}),
    (models.SessionList, [{"id": "a"}]),
    (models.SessionWithMessages, {"id": "a", "messages": [{"role": "user", "content": "Hi"}]}),
    (models.Message, {"role": "assistant", "content": ["a", {"text": "b"}, CALL]}),
    (models.Transcript, {"events": [{"type": "user", "timestamp": 1700000000000, "message": {"content": "Hi"}}]}),
    (models.TranscriptMessage, {"content": [CALL, {"type": "image", "source": {}}]}),
    (models.ToolResultBlock, {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "x"}]}),
    (models.Segment, {}),
    (models.StreamStatus, {}),
    (models.ActiveStreams, {"streams": ["a", {"session_id": "b"}]}),
    (models.Accepted, {}),
    (models.PendingQuestions, {"pending": [{"request_id": "r", "questions": [QUESTION]}]}),
    (models.KeyList, {"keys": [{"id": "k", "label": "phone", "created_at": NOW}]}),
    (models.CreatedKey, {"id": "k", "label": "phone", "key": "secret", "created_at": NOW}),
    (models.AuthSettings, {"require_auth": "always", "key_count": 1}),
    (models.Usage, {"five_hour": {"utilization": 12.5, "resets_at": NOW}, "seven_day": {"utilization": 3}}),
    (models.SupervisorModels, {"models": [{"id": "m", "display_name": "M", "created_at": NOW, "family": "f"}]}),
    (models.ClaudeCodeSession, {"sessionId": "0123456789", "messageCount": 2, "createdAt": NOW, "cwd": None}),
    (models.ClaudeCodeProject, {"encodedName": "-a", "path": "/a", "sessionCount": 1}),
    (models.ClaudeCodeDetails, {"sessionId": "a", "messages": [{"type": "user", "content": "Hi", "timestamp": NOW}]}),
    (models.ClaudeCodeAdoption, {"success": True, "parachuteSessionId": "a", "message": "Done."}),
    (models.ErrorBody, {"detail": "message must not be empty", "key": "invalid_input"}),
]

SUPERVISOR = {
    "supervisor_uptime_seconds": 5,
    "supervisor_version": "1",
    "main_server_healthy": True,
    "main_server_status": "running",
    "config_loaded": True,
}

BAD: list[tuple[type, Any, str]] = [
    (models.Health, [], "the whole"),
    (models.Health, {"version": 1}, "version"),
    (models.DetailedHealth, {"docker": {"available": "yes"}}, "docker.available"),
    (models.Session, {"messageCount": "3"}, "messageCount"),
    (models.Session, {"messageCount": 3.0}, "messageCount"),
    (models.Session, {"messageCount": True}, "messageCount"),
    (models.Session, {"archived": 0}, "archived"),
    (models.Session, {"title": 5}, "title"),
    (models.Session, {"createdAt": "2026-02-23T18:03:00"}, "createdAt"),
    (models.Session, {"lastAccessed": "2026-02-31T18:03:00Z"}, "lastAccessed"),
    (models.Session, {"workspace_id": 1}, "workspace_id"),
    (models.Session, {"metadata": "none"}, "metadata"),
    (models.SessionList, {}, "sessions"),
    (models.SessionList, {"sessions": None}, "sessions"),
    (models.SessionList, [{"id": "a"}, {"id": 1}], "sessions[1].id"),
    (models.SessionEnvelope, {"id": "a"}, "session"),
    (models.SessionWithMessages, {"messages": {}}, "messages"),
    (models.Message, {"content": "Hi"}, "role"),
    (models.Message, {"role": "user", "content": [{**CALL, "input": "{}"}]}, "input"),
    (models.Message, {"role": "user", "content": [3]}, "content"),
    (models.Transcript, {"events": [{"timestamp": 1.5}]}, "events[0].timestamp"),
    (models.Transcript, {"segments": [{"index": "0"}]}, "segments[0].index"),
    (models.Transcript, {"eventCount": "1"}, "eventCount"),
    (models.TranscriptMessage, {"content": [{"type": "text"}]}, "text"),
    (models.ToolResultBlock, {"type": "tool_result", "tool_use_id": "t", "content": {"a": 1}}, "content"),
    (models.StreamStatus, {"active": "true"}, "active"),
    (models.ActiveStreams, {"streams": [1]}, "streams[0]"),
    (models.Accepted, "ok", "the whole"),
    (models.PendingQuestions, {"pending": [{"questions": [{"header": "H"}]}]}, "question"),
    (models.KeyList, {"keys": [{"id": "k", "label": None, "created_at": NOW}]}, "keys[0].label"),
    (models.CreatedKey, {"id": "k", "label": "phone", "created_at": NOW}, "key"),
    (models.AuthSettings, {"require_auth": "sometimes"}, "require_auth"),
    (models.Usage, {"five_hour": {"utilization": "12"}}, "five_hour.utilization"),
    (models.Usage, {"five_hour": {"utilization": True}}, "five_hour.utilization"),
    (models.Usage, {"extra_usage": {"monthly_limit": 1.5}}, "extra_usage.monthly_limit"),
    (models.SupervisorStatus, {**SUPERVISOR, "main_server_status": "up"}, "main_server_status"),
    (models.SupervisorStatus, {**SUPERVISOR, "supervisor_uptime_seconds": 1.5}, "supervisor_uptime_seconds"),
    (models.SupervisorModels, {"models": [{"id": "m"}]}, "models[0].family"),
    (models.ClaudeCodeSession, {"sessionId": "0123456789", "lastTimestamp": 17}, "lastTimestamp"),
    (models.ClaudeCodeSession, {"sessionId": "short"}, "sessionId"),
    (models.ClaudeCodeDetails, {"messages": [{"type": "user", "content": [{"text": "Hi"}]}]}, "messages[0].content"),
    (models.ClaudeCodeAdoption, {"success": "yes"}, "success"),
    (models.ErrorBody, {"detail": [{"loc": ["body"]}]}, "detail"),
    (models.ErrorBody, {"error": "x"}, "detail"),
]


@pytest.mark.parametrize(("model", "payload"), GOOD)
def test_what_the_app_takes(model: type, payload: Any) -> None:
    check(model, payload)


@pytest.mark.parametrize(("model", "payload", "where"), BAD)
def test_what_would_break_the_app(model: type, payload: Any, where: str) -> None:
    with pytest.raises(AssertionError) as failure:
        check(model, payload)
    named = [line.split(":")[0].strip() for line in str(failure.value).splitlines()[1:]]
    assert any(where in name for name in named), str(failure.value)


def test_defaults_stand_in_for_null_and_absent_members() -> None:
    session = check(models.Session, {"id": "a", "messageCount": None, "trustLevel": None, "trust_level": "direct"})
    assert (session.message_count, session.trust_level) == (0, "direct")
    check(models.SupervisorStatus, SUPERVISOR)


def test_members_that_must_be_there_in_one_case() -> None:
    done = {"type": "done", "title": None, "sessionResume": {"method": "new"}}
    check(models.DoneEvent, done, present=["sessionResume.method"])
    with pytest.raises(AssertionError, match=r"title, sessionResume\.cacheHit"):
        check(models.DoneEvent, done, present=["title", "sessionResume.method", "sessionResume.cacheHit"])


GOOD_EVENTS: list[dict[str, Any]] = [
    {"type": "session", "sessionId": None, "sessionResume": {"method": "new", "messagesInjected": 0}},
    {"type": "prompt_metadata", "contextFiles": ["CLAUDE.md"], "totalPromptTokens": 10, "trustMode": False},
    {"type": "user_message", "content": "Hi"},
    {"type": "init", "tools": ["Read"]},
    {"type": "model", "model": "m"},
    {"type": "text", "content": "Hello"},
    {"type": "thinking", "content": "Hm"},
    {"type": "tool_use", "tool": {"id": "t1", "name": "Read", "input": {"path": "a"}}},
    {"type": "tool_result", "toolUseId": "t1", "content": "found", "isError": False},
    {"type": "user_question", "requestId": "r", "sessionId": "s", "questions": [QUESTION]},
    {"type": "session_unavailable", "reason": "transcript_missing", "message": "It no longer exists."},
    {"type": "warning", "message": "Offline model", "details": ["x"]},
    {"type": "aborted"},
    {"type": "done", "durationMs": 12, "title": None},
    {"type": "error", "error": "It failed."},
    {
        "type": "typed_error",
        "code": "rate_limited",
        "message": "Later.",
        "actions": [{"key": "r", "label": "Again", "action": "retry"}],
        "retryDelayMs": 1000,
    },
]

BAD_EVENTS: list[tuple[dict[str, Any], str]] = [
    ({"type": "session", "sessionId": 1}, "sessionId"),
    ({"type": "session", "sessionResume": {"previousMessageCount": "1"}}, "previousMessageCount"),
    ({"type": "prompt_metadata", "contextTokens": 1.5}, "contextTokens"),
    ({"type": "prompt_metadata", "availableAgents": [1]}, r"availableAgents\[0\]"),
    ({"type": "user_message"}, "content"),
    ({"type": "model", "model": None}, "model"),
    ({"type": "text", "content": None}, "content"),
    ({"type": "thinking", "content": ["Hm"]}, "content"),
    ({"type": "tool_use", "id": "t1", "name": "Read"}, "tool"),
    ({"type": "tool_use", "tool": {"input": "{}"}}, "tool.input"),
    ({"type": "tool_result", "toolUseId": "t1", "content": [{"type": "text", "text": "x"}]}, "content"),
    ({"type": "tool_result", "tool_use_id": "t1", "content": "x"}, "toolUseId"),
    ({"type": "user_question", "requestId": "r", "sessionId": "s"}, "questions"),
    ({"type": "session_unavailable", "message": "It no longer exists."}, "reason"),
    ({"type": "warning", "details": "x"}, "details"),
    ({"type": "aborted", "message": 1}, "message"),
    ({"type": "done", "durationMs": 12.5}, "durationMs"),
    ({"type": "error", "message": "x"}, "error"),
    ({"type": "typed_error", "code": "mcp_load_failed", "message": "x"}, "code"),
    ({"type": "typed_error", "code": "rate_limited", "message": "x", "actions": [{"key": "r"}]}, "label"),
]


@pytest.mark.parametrize("event", GOOD_EVENTS, ids=lambda event: event["type"])
def test_events_that_the_app_takes(event: dict[str, Any]) -> None:
    assert parse_event(event).type == event["type"]


@pytest.mark.parametrize(("event", "where"), BAD_EVENTS)
def test_events_that_would_break_the_app(event: dict[str, Any], where: str) -> None:
    with pytest.raises(AssertionError, match=rf"\n  {event['type']}\.(\S+\.)?{where}:"):
        parse_event(event)


@pytest.mark.parametrize(("event", "words"), [({"content": "x"}, "Unable to extract"), ({"type": "txt"}, "'txt'")])
def test_events_without_a_known_type(event: dict[str, Any], words: str) -> None:
    with pytest.raises(AssertionError, match=words):
        parse_event(event)


def test_a_type_that_only_other_apps_know_is_ignored() -> None:
    assert parse_event({"type": "permission_denied"}) == {"type": "permission_denied"}


def test_a_stream_has_one_end() -> None:
    text, done = {"type": "text", "content": "Hi"}, {"type": "done"}
    assert len(check_stream([text, done])) == 2
    for broken in ([text], [done, text], [text, done, done], []):
        with pytest.raises(AssertionError, match="one terminal event"):
            check_stream(broken)


def test_whole_answers() -> None:
    request = httpx2.Request("GET", "http://localhost/api/health")
    good = httpx2.Response(200, json={"version": "1"}, request=request)
    assert check_response(models.Health, good).version == "1"
    for response in (
        httpx2.Response(503, json={"version": "1"}, request=request),
        httpx2.Response(200, text='{"version": "1"}', request=request),
    ):
        with pytest.raises(AssertionError, match="GET /api/health"):
            check_response(models.Health, response)


def test_refusals() -> None:
    request = httpx2.Request("POST", "http://localhost/api/chat")
    refusal = httpx2.Response(422, json={"detail": "trustLevel must be direct or sandboxed"}, request=request)
    assert "direct" in check_error(refusal, 422, "trustLevel")
    with pytest.raises(AssertionError, match="does not mention"):
        check_error(refusal, 422, "workspaceId")
    broken = httpx2.Response(500, json={"detail": "Traceback (most recent call last)"}, request=request)
    with pytest.raises(AssertionError, match="traceback"):
        check_error(broken, 500)
