"""From what went wrong to the error that the app knows."""

from typing import Any

from parachute.gateway.models import Problem
from parachute.runs import events
from parachute.runs.events import Event

_BY_STATUS = {
    401: "invalid_credentials",
    402: "billing_error",
    403: "invalid_credentials",
    429: "rate_limited",
    529: "service_unavailable",
}


def of_result(session: str, result: Any, problem: Problem | None) -> Event:
    """The error of a turn that the agent ended with one; the gateway knows best why the model did not answer."""
    said = result.result or "; ".join(result.errors or []) or "The agent ended with an error."
    if problem is not None:
        return events.typed_error(
            problem.code, problem.message, session, retry_seconds=problem.retry_seconds, original=said
        )
    if result.api_error_status is not None:
        code = _BY_STATUS.get(result.api_error_status, "service_error")
    elif "prompt is too long" in said.lower():
        code = "context_exceeded"
    else:
        code = "tool_execution_failed"
    return events.typed_error(code, said, session)
