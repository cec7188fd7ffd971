"""The events of a run in the app's exact shapes (contract, section 3).

`text_delta` is our own: readers turn it into the app's cumulative `text`.
"""

from typing import Any

Event = dict[str, Any]

TERMINAL = frozenset({"done", "error", "typed_error", "aborted"})
TEXT_DELTA = "text_delta"

ABORTED: Event = {"type": "aborted", "message": "Stopped."}
INTERRUPTED: Event = {
    "type": "aborted",
    "message": "The computer was restarted during this answer; send a message to go on.",
}
PANIC: Event = {
    "type": "aborted",
    "message": "All agents were stopped; `parachute resume` lets them work again, and then a message goes on here.",
}

_ACTIONS = {
    "retry": {"key": "r", "label": "Try again", "action": "retry"},
    "settings": {"key": "s", "label": "Open settings", "action": "settings"},
    "reauth": {"key": "a", "label": "Sign in again", "action": "reauth"},
    "new_session": {"key": "n", "label": "New chat", "action": "new_session"},
}

_FAILURES: dict[str, tuple[str, tuple[str, ...]]] = {
    "invalid_api_key": ("The API key was refused", ("settings",)),
    "invalid_credentials": ("The credentials were refused", ("reauth", "settings")),
    "expired_token": ("The sign-in has expired", ("reauth",)),
    "billing_error": ("Spending limit or billing", ("settings",)),
    "rate_limited": ("Too many requests", ("retry",)),
    "service_error": ("The model's service refused the request", ("retry",)),
    "service_unavailable": ("The model's service is overloaded", ("retry",)),
    "context_exceeded": ("The conversation is too long", ("new_session",)),
    "network_error": ("No connection", ("retry",)),
    "mcp_connection_failed": ("A tool server does not answer", ("retry",)),
    "tool_execution_failed": ("The agent ended", ("retry", "new_session")),
    "session_not_found": ("Session not found", ("new_session",)),
    "session_unavailable": ("Session not available", ("new_session",)),
    "unknown_error": ("The computer cannot go on", ("retry",)),
}


def session(session_id: str, *, trust_level: str, title: str | None, resume: Event | None = None) -> Event:
    """Which session this is; the row exists when it is sent."""
    event: Event = {"type": "session", "sessionId": session_id, "trustLevel": trust_level, "title": title}
    if resume is not None:
        event["sessionResume"] = resume
    return event


def session_resume(
    method: str, *, resumed: bool, warm: bool, previous: int, injected: int = 0, failed: bool = False
) -> Event:
    """How the conversation so far came into this turn; `injected` counts messages that were put into its text."""
    return {
        "method": method,
        "sdkSessionValid": resumed,
        "sdkResumeAttempted": resumed or failed,
        "sdkResumeFailed": failed,
        "contextInjected": injected > 0,
        "messagesInjected": injected,
        "tokensEstimate": 0,
        "previousMessageCount": previous,
        "loadedFromDisk": resumed and not warm,
        "cacheHit": warm,
    }


def tool_use(identifier: str, name: str, tool_input: Any) -> Event:
    """The agent calls a tool."""
    arguments = tool_input if isinstance(tool_input, dict) else {"value": tool_input}
    return {"type": "tool_use", "tool": {"id": identifier, "name": name, "input": arguments, "isError": False}}


def tool_result(identifier: str, content: str, *, is_error: bool) -> Event:
    """A tool has answered."""
    return {"type": "tool_result", "toolUseId": identifier, "content": content, "isError": is_error}


def warning(title: str, message: str, details: tuple[str, ...] = ()) -> Event:
    """Something the person should know; the run goes on."""
    return {"type": "warning", "title": title, "message": message, "details": list(details)}


def typed_error(
    code: str,
    message: str,
    session_id: str,
    *,
    retry_seconds: float | None = None,
    original: str | None = None,
    key: str | None = None,
) -> Event:
    """The run ends with an error that the app knows by its code; `key` is that of an error of our own."""
    title, actions = _FAILURES.get(code, ("Error", ("retry",)))
    return {
        "type": "typed_error",
        "code": code,
        "title": title,
        "message": message,
        "actions": [_ACTIONS[action] for action in actions],
        "canRetry": "retry" in actions,
        "retryDelayMs": round(retry_seconds * 1000) if retry_seconds is not None else None,
        "originalError": original,
        "sessionId": session_id,
        **({"key": key} if key else {}),
    }
