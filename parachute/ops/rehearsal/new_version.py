"""The new version's computer in the namespace: its supervisor is started, asked, measured and ended."""

import asyncio
import http.client
import json
import os
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from parachute_runner import processes

from parachute.base.errors import ParachuteError
from parachute.config.settings.home import Home
from parachute.ops.logs import files as log_files
from parachute.ops.rehearsal import confined
from parachute.supervisor import control
from parachute.supervisor.memory import held_bytes

START_SECONDS = 60.0
_END_SECONDS = 45.0
_ANSWER_SECONDS = 20.0
_HEALTH_SECONDS = 5.0
_PAUSE = 0.1
_LARGEST = 64 * 1024 * 1024
_LINES = 12
_OWN = "no control group"  # what runs here is added up by process
_SERVER = "parachute.server"


class NotAnswered(Exception):
    """The API gave no answer that can be used; the text is a sentence."""


class NewVersion:
    """A supervisor and all below it. `largest` is what they may take of the memory, in bytes: over that they are ended."""

    def __init__(
        self, python: str, port: int, home: Path, environment: dict[str, str], token: str, largest: int
    ) -> None:
        self._python = python
        self._port = port
        self._home = home
        self._environment = environment
        self._token = token
        self._largest = largest
        self._ended = threading.Event()
        self._watcher = threading.Thread(target=self._watch, name="memory", daemon=True)
        self._process: subprocess.Popen[bytes] | None = None
        self.took_too_much = False

    def start(self) -> str | None:
        """Start it and wait until it is healthy; otherwise why it is not, as a sentence."""
        logs = self._home / "logs"
        logs.mkdir(mode=0o700, exist_ok=True)
        command = [self._python, "-m", "parachute.supervisor", "--host", "127.0.0.1", "--port", str(self._port)]
        with (logs / "supervisor.log").open("ab") as log:
            self._process = subprocess.Popen(
                confined.command(command),
                env=self._environment,
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._watcher.start()
        deadline = time.monotonic() + START_SECONDS
        said = "Nothing accepts a connection."
        while time.monotonic() < deadline:
            if self.took_too_much:
                return "It was ended, because it takes too much memory."
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
        return f"It was not healthy within {START_SECONDS:.0f} seconds. {said}"

    def end(self) -> str | None:
        """End it as a person would; otherwise what is wrong with how it ended, as a sentence. Nothing of it is left."""
        assert self._process is not None
        try:
            if self.took_too_much:
                return None  # which was said already
            if (code := self._process.poll()) is not None:
                return f"It had ended by itself, with {code}."
            family = processes.descendants(self._process.pid)
            self._process.terminate()
            code = self._process.wait(_END_SECONDS)
            if code != 0:
                return f"It ended with {code}, not with 0."
            left = [process for process in family if Path(f"/proc/{process}").exists() and not _is_zombie(process)]
            return f"{len(left)} of its processes kept running." if left else None
        except subprocess.TimeoutExpired:
            return f"It did not end within {_END_SECONDS:.0f} seconds."
        finally:
            self.kill()

    def kill(self) -> None:
        """End whatever runs of it, at once."""
        self._ended.set()
        if self._process is not None:
            processes.kill([self._process.pid, *processes.descendants(self._process.pid)])
            self._process.wait()

    def ask(self, path: str, *, seconds: float = _ANSWER_SECONDS) -> tuple[int, Any]:
        """Return status and JSON of a GET; error: NotAnswered."""
        connection = self._connection(seconds)
        try:
            connection.request("GET", path, headers=self._headers())
            answer = connection.getresponse()
            data = answer.read(_LARGEST)
            return answer.status, json.loads(data) if data else None
        except ValueError as error:
            raise NotAnswered(f"GET {path} answers {answer.status} with what is no JSON.") from error
        except (OSError, http.client.HTTPException) as error:
            raise NotAnswered(f"GET {path} has no answer: {str(error) or type(error).__name__}.") from error
        finally:
            connection.close()

    def stream(self, path: str, document: dict[str, Any], seconds: float) -> Iterator[dict[str, Any]]:
        """Post JSON and give the events that it is answered with; error: NotAnswered."""
        deadline = time.monotonic() + seconds
        connection = self._connection(seconds)
        try:
            body = json.dumps(document)
            connection.request("POST", path, body, {**self._headers(), "content-type": "application/json"})
            answer = connection.getresponse()
            if answer.status != 200:
                raise NotAnswered(f"POST {path} answers {answer.status}: {answer.read(500).decode(errors='replace')}")
            while line := answer.readline(_LARGEST):
                if line.startswith(b"data: {"):
                    yield json.loads(line[6:])
                if time.monotonic() > deadline:
                    raise NotAnswered(f"POST {path} was not answered within {seconds:.0f} seconds.")
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise NotAnswered(f"POST {path} has no whole answer: {str(error) or type(error).__name__}.") from error
        finally:
            connection.close()

    def processor_seconds(self) -> float:
        """The processor time that it has taken until now."""
        ticks = 0
        for process in self._family():
            with suppress(OSError, IndexError, ValueError):
                # The name of a program, in parentheses, may hold blanks.
                fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
                ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def resident_bytes(self) -> int:
        """The proportional set size of supervisor and server; error: OSError where it cannot be read."""
        assert self._process is not None
        total = 0
        for process in self._family():
            if process == self._process.pid or _SERVER in _command_line(process):
                rows = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
                total += sum(int(row.split()[1]) * 1024 for row in rows if row.startswith("Pss:"))
        return total

    def said(self) -> str:
        """The last lines of its logs."""
        parts = []
        for name in ("supervisor", "core"):
            if lines := log_files.tail(self._home / "logs" / f"{name}.log", _LINES, 0):
                parts += [f"{name}.log says:", *lines]
        return "\n".join(parts)

    def _family(self) -> list[int]:
        assert self._process is not None
        return [self._process.pid, *processes.descendants(self._process.pid)]

    def _given_up(self) -> str | None:
        """Say that its supervisor starts the server no more, if that is so."""
        try:
            units = asyncio.run(control.ask(Home(self._home), "status", _HEALTH_SECONDS))["units"]
            core = next(unit for unit in units if unit["name"] == "core")
        except (ParachuteError, OSError, ValueError, LookupError, TypeError, StopIteration):
            return None  # it does not answer yet, or in another way than it did
        return f"Its server ends again and again: {core.get('reason')}" if core.get("state") == "failed" else None

    def _watch(self) -> None:
        assert self._process is not None
        while not self._ended.wait(_PAUSE):
            if held_bytes(self._process.pid, _OWN) > self._largest:
                self.took_too_much = True
                processes.kill(self._family())
                return

    def _connection(self, seconds: float) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self._port, timeout=seconds)

    def _headers(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self._token}", "accept": "application/json"}


def _command_line(process: int) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def _is_zombie(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (OSError, IndexError):
        return True
