"""The login of `claude login`, refreshed in the file where it lives, under the locks that Claude Code itself takes.

The address, the client, the request and the locks are those of the program that comes with claude-agent-sdk (2.1.330, read in
its bundle: `TOKEN_URL`, `CLIENT_ID`, `.oauth_refresh.lock`). A refresh token works once: whoever does not take part in these
locks logs the other out.
"""

import asyncio
import contextlib
import json
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeGuard

from msgspec import Struct

from parachute.base.clock import SYSTEM, Clock
from parachute.base.errors import ParachuteError, Unavailable
from parachute.base.files import atomic_write, read_regular
from parachute.base.folder_locks import folder_lock
from parachute.llm.gateway.models import Credential

log = logging.getLogger(__name__)

TOKEN_URL = "https://platform.claude.com/v1/oauth/token"  # noqa: S105 - an address
CLIENT_ID = "9d1c250a-e61b-44d9-88ed-5944d1962f5e"

EARLY_SECONDS = 300.0
"""Before it expires, a login is refreshed: as early as Claude Code does it."""

_ASK_SECONDS = 30.0
_REST_SECONDS, _WAIT_SECONDS = 30.0, 10.0
_STALE_SECONDS = 60.0
_WRITE_STALE_SECONDS = 15.0
_LIMIT = 64 * 1024
_LONGEST = 8192
_YEAR = 366 * 24 * 60 * 60
_AGAIN = "Sign in again with `claude login`, or store a token of `claude setup-token` with `parachute auth login`."

Client = Callable[[], Awaitable[Any]]
"""Factory of the HTTP client (httpx2.AsyncClient)."""


class _Unwritten(Struct, frozen=True):
    """A new login (`answer`, as fields of the file), the access token it came after, and the refresh token it was got for."""

    seen: str
    posted: str
    answer: dict[str, Any]


class SignInAgain(ParachuteError):
    """The login cannot be refreshed any more."""

    status = 503  # a 401 would look as if our caller's own key were wrong
    key = "expired_token"


class Login:
    """The login in one file; one refresh at a time serves everybody who waits.

    The file of before is kept as `.credentials.json.before` until the service has accepted the new login, and put back if that
    can neither be used nor refreshed. There is a pause between two refreshes, also if one fails; a lock that another program
    holds is waited for.

    `changed` hears when a refresh fails, and when one succeeds again.
    """

    def __init__(
        self, path: Path, changed: Callable[[], None], token_url: str = TOKEN_URL, clock: Clock = SYSTEM
    ) -> None:
        self.path = path
        self._changed = changed
        self._before = path.with_name(f"{path.name}.before")
        self._token_url = token_url
        self._clock = clock
        self._rest_until = 0.0
        self._running: asyncio.Task[None] | None = None
        self._problem: tuple[str, ParachuteError] | None = None
        self._spent: set[str] = set()
        self._unwritten: _Unwritten | None = None
        self._unproven: str | None = None

    def current(self, held: Credential) -> Credential:
        """The credential to use for what the file holds: a newer one, if that could not be written yet."""
        new = self._unwritten
        if new is None or new.seen != held.secret:
            return held
        return replace(held, secret=new.answer["accessToken"], expires_at=new.answer["expiresAt"] / 1000)

    def problem(self, held: Credential) -> ParachuteError | None:
        """The reason why this login could not be refreshed, until another is in the file."""
        return self._problem[1] if self._problem and self._problem[0] == held.secret else None

    async def refresh(self, held: Credential, client: Client, *, refused: bool = False) -> None:
        """Refresh the login if it ends soon, or was refused; whoever leaves meanwhile does not end the refresh.

        Errors: SignInAgain, and Unavailable for what may pass; in each case only if `held` is of no use any more.
        """
        if not held.renewable or not (refused or is_due(held, self._clock) or self._unwritten):
            return
        if self._running is None and self._clock.elapsed() >= self._rest_until:
            self._running = asyncio.create_task(self._refresh(held.secret, client), name="refresh of the login")
            self._running.add_done_callback(self._ended)
        if self._running is not None:
            await asyncio.shield(self._running)
        held = self.current(held)
        problem = self.problem(held)
        if problem is not None and (held.is_expired(self._clock) or (refused and isinstance(problem, SignInAgain))):
            raise problem

    def accepted(self, credential: Credential) -> None:
        """The service has accepted a credential: the file of before it is needed no more."""
        if self._unproven == credential.secret:
            self._unproven = None
            with contextlib.suppress(OSError):
                self._before.unlink()

    async def close(self) -> None:
        """Wait for a refresh under way: what is answered to it has to be written down."""
        if self._running is not None:
            await self._running

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running = None
        self._rest_until = self._clock.elapsed() + _REST_SECONDS

    async def _refresh(self, seen: str, client: Client) -> None:
        problem: ParachuteError | None = None
        folder = self.path.parent
        try:
            async with contextlib.AsyncExitStack() as locks:
                for path in (folder / ".oauth_refresh.lock", _of_older_versions(folder)):
                    lock = folder_lock(
                        path, stale_seconds=_STALE_SECONDS, wait_seconds=_WAIT_SECONDS, clock=self._clock
                    )
                    await locks.enter_async_context(lock)
                await self._refresh_locked(seen, client)
        except ParachuteError as error:
            problem = error
        except OSError as error:
            what = f"{error.strerror or error}: {error.filename or folder}"
            problem = Unavailable(
                f"The login in {self.path} cannot be refreshed: {what}.",
                "The computer must be able to write to this folder.",
                key="login_not_refreshed",
            )
        if problem is not None:
            log.warning("%s", problem.message)
        is_news = (problem is None) != (self._problem is None)
        new = self._unwritten.answer["accessToken"] if self._unwritten else seen
        self._problem = (new, problem) if problem else None
        if is_news:
            self._changed()

    async def _refresh_locked(self, seen: str, client: Client) -> None:
        if self._unwritten is not None:
            await self._save(self._unwritten)
            return
        raw, login = await asyncio.to_thread(self._read)
        if str(login.get("accessToken")).strip() != seen:
            return  # Claude Code or the owner was faster
        token = login.get("refreshToken")
        if not _is_token(token) or token in self._spent:
            raise _sign_in_again(self.path)
        if self._unproven is None:
            # This also shows that the folder takes a write, before the one token is spent.
            await asyncio.to_thread(atomic_write, self._before, raw, 0o600)
        try:
            answer = await self._ask(await client(), login, token)
        except SignInAgain:
            self._spent.add(token)
            if self._unproven is not None:
                await asyncio.to_thread(self._put_back, token)
            raise
        self._unwritten = _Unwritten(seen, token, answer)
        await self._save(self._unwritten)

    async def _ask(self, client: Any, login: dict[str, Any], token: str) -> dict[str, Any]:
        """Ask for the next login; errors: SignInAgain if the token is refused, Unavailable."""
        import httpx2

        body = {"grant_type": "refresh_token", "refresh_token": token, "client_id": login.get("clientId") or CLIENT_ID}
        if isinstance(scopes := login.get("scopes"), list) and scopes:
            body["scope"] = " ".join(str(scope) for scope in scopes)
        try:
            response = await client.post(self._token_url, json=body, timeout=_ASK_SECONDS, follow_redirects=False)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise _unavailable(f"{self._token_url} does not answer") from error
        try:
            answer = response.json()
        except (ValueError, RecursionError):
            answer = None
        if response.status_code in (400, 401) and _reason(answer) == "invalid_grant":
            raise _sign_in_again(self.path)
        if response.status_code != 200:
            raise _unavailable(f"{self._token_url} answered {response.status_code}")
        return _checked(answer, self._token_url, self._clock.now().timestamp())

    async def _save(self, new: "_Unwritten") -> None:
        lock = self.path.with_name(".storage-write.lock")
        async with folder_lock(lock, stale_seconds=_WRITE_STALE_SECONDS, wait_seconds=_WAIT_SECONDS, clock=self._clock):
            await asyncio.to_thread(self._replace, new)
        self._unwritten = None

    def _replace(self, new: "_Unwritten") -> None:
        raw, login = self._read()
        if login.get("refreshToken") != new.posted:
            return  # signed in anew meanwhile
        merged = {**login, **new.answer}
        # The end of a sign-in does not move with its refreshes.
        merged.pop("refreshTokenExpiresAt", None)
        if isinstance(ends := login.get("refreshTokenExpiresAt"), int | float):
            merged["refreshTokenExpiresAt"] = min(ends, new.answer.get("refreshTokenExpiresAt", ends))
        atomic_write(self.path, json.dumps({**json.loads(raw), "claudeAiOauth": merged}), 0o600)
        self._unproven = new.answer["accessToken"]

    def _put_back(self, spent: str) -> None:
        _, login = self._read()
        if login.get("refreshToken") == spent:
            self._before.replace(self.path)
        self._unproven = None

    def _read(self) -> tuple[bytes, dict[str, Any]]:
        """The file and its login; errors: Unavailable, OSError."""
        raw = read_regular(self.path, _LIMIT)
        try:
            login = json.loads(raw)["claudeAiOauth"]
        except (ValueError, KeyError, TypeError, RecursionError):
            login = None
        if not isinstance(login, dict):
            raise _unavailable(f"{self.path} no longer holds a login")
        return raw, login


def is_due(held: Credential, clock: Clock = SYSTEM) -> bool:
    """Return whether a login has to be refreshed before it is used."""
    return held.expires_at is not None and held.expires_at - clock.now().timestamp() <= EARLY_SECONDS


def _of_older_versions(folder: Path) -> Path:
    real = folder.resolve()
    return real.with_name(f"{real.name}.lock")


def _checked(answer: Any, url: str, now: float) -> dict[str, Any]:
    """Return the fields of an answer for the file; error: Unavailable if it is no login."""
    fields = answer if isinstance(answer, dict) else {}
    access, seconds = fields.get("access_token"), fields.get("expires_in")
    if (
        not _is_token(access)
        or isinstance(seconds, bool)
        or not isinstance(seconds, int | float)
        or not 0 < seconds < _YEAR
    ):
        raise _unavailable(f"{url} answered without a login")
    found = {"accessToken": access, "expiresAt": round((now + seconds) * 1000)}
    if _is_token(fields.get("refresh_token")):
        found["refreshToken"] = fields["refresh_token"]
    if isinstance(scope := fields.get("scope"), str) and scope.split():
        found["scopes"] = scope.split()
    left = fields.get("refresh_token_expires_in")
    if isinstance(left, int | float) and not isinstance(left, bool) and 0 < left < 10 * _YEAR:
        found["refreshTokenExpiresAt"] = round((now + left) * 1000)
    return found


def _is_token(value: Any) -> TypeGuard[str]:
    return isinstance(value, str) and 0 < len(value) <= _LONGEST and value.isascii() and value.isprintable()


def _reason(answer: Any) -> str | None:
    error = answer.get("error") if isinstance(answer, dict) else None
    reason = error.get("type") if isinstance(error, dict) else error
    return reason if isinstance(reason, str) else None


def _sign_in_again(path: Path) -> SignInAgain:
    return SignInAgain(f"The login in {path} has ended.", _AGAIN)


def _unavailable(what: str) -> Unavailable:
    return Unavailable(f"The login cannot be refreshed: {what}.", _AGAIN, key="login_not_refreshed")
