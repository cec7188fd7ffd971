"""The new version's computer in the namespace: its supervisor is started, asked and ended."""

import asyncio
import http.client
import json
import subprocess
import time
from pathlib import Path
from typing import Any

from parachute_runner import processes

from parachute.base.errors import ParachuteError
from parachute.config.settings.home import Home
from parachute.ops.logs import files as log_files
from parachute.ops.rehearsal.plan import Plan
from parachute.security.keys.cli_token import CliToken
from parachute.supervisor import control

_START_SECONDS = 60.0
_END_SECONDS = 45.0
_ANSWER_SECONDS = 60.0
_HEALTH_SECONDS = 5.0
_PAUSE = 0.1
_LARGEST = 64 * 1024 * 1024
_LINES = 12


class NotAnswered(Exception):
    """The API gave no answer that can be used; the text is a sentence."""


class NewVersion:
    """A supervisor and all below it."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._home = Home(Path(plan.home))
        self._token = CliToken(self._home.root).obtain()
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> str | None:
        """Start it and wait until it is healthy; otherwise why it is not, as a sentence."""
        command = [self._plan.python, "-m", "parachute.supervisor", "--host", "127.0.0.1"]
        with (self._home.logs / "supervisor.log").open("ab") as log:
            self._process = subprocess.Popen(
                [*command, "--port", str(self._plan.port)],
                env=self._plan.environment,
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        deadline = time.monotonic() + _START_SECONDS
        said = "Nothing accepts a connection."
        while time.monotonic() < deadline:
            if (code := self._process.poll()) is not None:
                return f"Its supervisor ended with {code}."
            try:
                # The socket holds what comes in while the server starts, and also when it never will.
                status, document = self.ask("/api/health", seconds=_HEALTH_SECONDS)
            except NotAnswered as error:
                said = str(error)
                if reason := self._given_up():
                    return reason
            else:
                if status == 200 and isinstance(document, dict):
                    return None
                said = f"Its health answers {status}."
            time.sleep(_PAUSE)
        return f"It was not healthy within {_START_SECONDS:.0f} seconds. {said}"

    def end(self) -> str | None:
        """End it as a person would; otherwise what is wrong with how it ended, as a sentence."""
        assert self._process is not None
        if (code := self._process.poll()) is not None:
            return f"It had ended by itself, with {code}."
        self._process.terminate()
        try:
            code = self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            return f"It did not end within {_END_SECONDS:.0f} seconds."
        return f"It ended with {code}, not with 0." if code else None

    def kill(self) -> None:
        """End whatever runs of it, at once."""
        if self._process is not None:
            processes.kill([self._process.pid, *processes.descendants(self._process.pid)])
            self._process.wait()

    def ask(self, path: str, *, seconds: float = _ANSWER_SECONDS) -> tuple[int, Any]:
        """Return status and JSON of a GET; error: NotAnswered."""
        connection = http.client.HTTPConnection("127.0.0.1", self._plan.port, timeout=seconds)
        try:
            headers = {"authorization": f"Bearer {self._token}", "accept": "application/json"}
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            data = answer.read(_LARGEST)
            return answer.status, json.loads(data) if data else None
        except ValueError as error:
            raise NotAnswered(f"GET {path} answers {answer.status} with what is no JSON.") from error
        except (OSError, http.client.HTTPException) as error:
            raise NotAnswered(f"GET {path} has no answer: {str(error) or type(error).__name__}.") from error
        finally:
            connection.close()

    def said(self) -> str | None:
        """The last lines of its logs."""
        parts = []
        for name in ("supervisor", "core"):
            if lines := log_files.tail(self._home.root / "logs" / f"{name}.log", _LINES, 0):
                parts += [f"{name}.log says:", *lines]
        return "\n".join(parts) or None

    def _given_up(self) -> str | None:
        """Say that its supervisor starts the server no more, if that is so."""
        try:
            units = asyncio.run(control.ask(self._home, "status", _HEALTH_SECONDS))["units"]
            core = next(unit for unit in units if unit["name"] == "core")
        except (ParachuteError, OSError, ValueError, LookupError, TypeError, StopIteration):
            return None  # it does not answer yet, or in another way than it did
        return f"Its server ends again and again: {core.get('reason')}" if core.get("state") == "failed" else None
