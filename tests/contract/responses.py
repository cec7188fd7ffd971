"""Whole HTTP answers, checked as the app receives them."""

from collections.abc import Sequence

import httpx2

from .dart import Model, check
from .service import ErrorBody


def check_response(
    model: type[Model], response: httpx2.Response, status: int = 200, present: Sequence[str] = ()
) -> Model:
    """Read an answer as `model`; `AssertionError` on another status or content type.

    The app takes 200 only, except where the test says so, and reads JSON as UTF-8 only if its content type is JSON.
    """
    where = f"{response.request.method} {response.request.url.path}"
    assert response.status_code == status, f"{where}: {response.status_code}, not {status}: {response.text[:500]}"
    kind = response.headers.get("content-type", "")
    assert kind.split(";")[0].strip() == "application/json", f"{where}: content type {kind!r} is not application/json"
    return check(model, response.json(), present)


def check_error(response: httpx2.Response, status: int, *mentions: str) -> str:
    """Read a refusal, whose sentence must contain every text in `mentions`, and return the sentence."""
    detail = check_response(ErrorBody, response, status).detail
    assert "Traceback" not in detail, f"a traceback went to the client: {detail[:500]}"
    absent = [mention for mention in mentions if mention not in detail]
    assert not absent, f"the sentence does not mention {absent}: {detail!r}"
    return detail
