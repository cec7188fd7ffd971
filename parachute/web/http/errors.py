"""Error responses of routes: one JSON object whose `detail` is a sentence."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Match

from parachute.base.disk_errors import disk_error
from parachute.base.errors import ParachuteError
from parachute.web.http.refusals import body_of

log = logging.getLogger(__name__)

_PLACES = frozenset(("body", "query", "path", "header", "cookie"))
_MAXIMUM_PROBLEMS = 5
_MAXIMUM_LOOKED_AT = 100
_WITHOUT_BODY = frozenset((204, 205, 304))


def install_error_handlers(app: FastAPI) -> None:
    """Make the application answer every error with `{"detail": "…", "key": "…", "hint": …}`."""
    app.add_exception_handler(ParachuteError, _parachute_error)
    app.add_exception_handler(RequestValidationError, _validation_error)
    app.add_exception_handler(HTTPException, _http_exception)
    app.add_exception_handler(OSError, _of_the_disk)
    app.add_exception_handler(Exception, _unexpected)


def validation_detail(problems: Sequence[Any]) -> str:
    """One sentence that names each wrong field and what is allowed; values that were sent are not repeated."""
    sentences = dict.fromkeys(_sentence(problem) for problem in problems[:_MAXIMUM_LOOKED_AT])
    shown = list(sentences)[:_MAXIMUM_PROBLEMS]
    rest = len(sentences) - len(shown) + len(problems[_MAXIMUM_LOOKED_AT:])
    return "; ".join(shown) + (f"; and {rest} more." if rest else ".")


def _sentence(problem: Mapping[str, Any]) -> str:
    location = list(problem.get("loc", ()))
    place = str(location.pop(0)) if location and location[0] in _PLACES else ""
    field = ".".join(str(part) for part in location)[:200] or place or "request"
    if problem.get("type") == "missing":
        message = "this is required"
    else:
        message = str(problem.get("msg", "not valid")).removeprefix("Value error, ").removesuffix(".")
    return f"{field}: {message}"


async def _parachute_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ParachuteError)
    if error.status >= 500:
        log.warning("%s %s: %s", request.method, request.url.path, error)
    return Response(body_of(error), error.status, media_type="application/json")


async def _validation_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    problems = error.errors()
    for problem in problems:
        if problem.get("type") == "json_invalid":
            position = problem["loc"][-1]
            reason = (problem.get("ctx") or {}).get("error", "not understood")
            return _answer(400, f"The body is not JSON: {reason} at character {position}.", "malformed_json")
    return _answer(422, validation_detail(problems), "invalid_input")


async def _http_exception(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code in _WITHOUT_BODY or error.status_code < 200:
        return Response(status_code=error.status_code, headers=error.headers)
    headers = error.headers
    if error.status_code == 405:
        headers = {**(headers or {}), "Allow": ", ".join(_methods(request))}
    return _answer(error.status_code, _text(error.detail), f"http_{error.status_code}", headers)


def _methods(request: Request) -> list[str]:
    """Every method of a path: the first route that fits it names only its own."""
    routes: list[BaseRoute] = request.app.router.routes
    return [
        method
        for method in ("DELETE", "GET", "PATCH", "POST", "PUT")
        if any(route.matches({**request.scope, "method": method})[0] is Match.FULL for route in routes)
    ]


async def _of_the_disk(request: Request, error: Exception) -> Response:
    if known := disk_error(error):
        return await _parachute_error(request, known)
    raise error


async def _unexpected(request: Request, error: Exception) -> Response:
    if known := disk_error(error):
        return await _parachute_error(request, known)
    log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return _answer(
        500,
        "Something went wrong in the server; its log says what.",
        "internal",
        hint="See it with: parachute logs core",
    )


def _answer(
    status: int, detail: str, key: str, headers: Mapping[str, str] | None = None, hint: str | None = None
) -> JSONResponse:
    return JSONResponse({"detail": detail, "key": key, "hint": hint}, status, headers)


def _text(detail: object) -> str:
    if isinstance(detail, Mapping):
        detail = (
            detail.get("detail") or detail.get("message") or "; ".join(f"{name}: {detail[name]}" for name in detail)
        )
    elif isinstance(detail, list | tuple):
        is_validation = all(isinstance(part, Mapping) and "msg" in part for part in detail)
        detail = validation_detail(detail) if is_validation else "; ".join(str(part) for part in detail)
    return str(detail)
