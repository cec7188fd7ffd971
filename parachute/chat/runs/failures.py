"""Failures of runs as the errors that the app knows."""

from typing import Any

from parachute.base.errors import ParachuteError, Unavailable
from parachute.chat.runs.events import Event, InternalError, TypedError
from parachute.llm.gateway.models import Problem
from parachute.llm.gateway.window import TOO_SMALL

_ACTIONS = {
    "retry": {"key": "r", "label": "Try again", "action": "retry"},
    "settings": {"key": "s", "label": "Open settings", "action": "settings"},
    "reauth": {"key": "a", "label": "Sign in again", "action": "reauth"},
    "new_session": {"key": "n", "label": "New chat", "action": "new_session"},
}

FAILURES: dict[str, tuple[str, tuple[str, ...]]] = {
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
"""The codes of `typed_error` with their titles, and what the app offers to do."""

_BY_NAME = {TOO_SMALL: ("The model's window is too small", ("settings",))}
"""The same for the key of an error, where its code says too little."""

_BY_STATUS = {
    401: "invalid_credentials",
    402: "billing_error",
    403: "invalid_credentials",
    429: "rate_limited",
    529: "service_unavailable",
}

_BY_KEY = {
    "agent_ended": "tool_execution_failed",
    **dict.fromkeys(("database_unavailable", "disk_full", "disk_read_only", "no_sandbox"), "unknown_error"),
}


def of_error(session: str, error: ParachuteError, problem: Problem | None) -> TypedError:
    """The error of a run that ended with one of the server's; the gateway knows best why the model did not answer."""
    if problem is not None:
        return typed_error(problem.code, problem.message, session, original=str(error), key=problem.key)
    return typed_error(_BY_KEY.get(error.key, "service_error"), str(error), session, key=error.key)


def of_result(session: str, result: Any, problem: Problem | None) -> TypedError:
    """The error of a turn that the agent ended with one; the gateway knows best why the model did not answer."""
    said = result.result or "; ".join(result.errors or []) or "The agent ended with an error."
    if problem is not None:
        seconds = problem.retry_seconds
        return typed_error(
            problem.code, problem.message, session, retry_seconds=seconds, original=said, key=problem.key
        )
    if result.api_error_status is not None:
        code = _BY_STATUS.get(result.api_error_status, "service_error")
    elif "prompt is too long" in said.lower():
        code = "context_exceeded"
    else:
        code = "tool_execution_failed"
    return typed_error(code, said, session)


def typed_error(
    code: str,
    message: str,
    session_id: str,
    *,
    retry_seconds: float | None = None,
    original: str | None = None,
    key: str | None = None,
) -> TypedError:
    """The error that ends a run; `key` says which one where the code does not."""
    title, actions = _BY_NAME.get(key or "") or FAILURES.get(code, ("Error", ("retry",)))
    return TypedError(
        code=code,
        title=title,
        message=message,
        actions=[_ACTIONS[action] for action in actions],
        can_retry="retry" in actions,
        retry_delay_ms=round(retry_seconds * 1000) if retry_seconds is not None else None,
        original_error=original,
        session_id=session_id,
        key=key or None,
    )


def as_error(event: Event | None) -> Unavailable | None:
    """The error for a module or an agent that waits for a run, if the run has failed."""
    match event:
        case TypedError(code=code, message=message):
            return Unavailable(message, key=code)
        case InternalError(error=message):
            return Unavailable(message, key="agent_failed")
    return None
