"""The computer that checks examine, as it was when the doctor began."""

import asyncio
import os
import pwd
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from parachute.base.errors import ParachuteError
from parachute.config.settings.home import Home
from parachute.config.settings.models import Settings
from parachute.config.settings.store import load
from parachute.ops.doctor.open_files import Entry, entries
from parachute.supervisor import control

_STATUS_SECONDS = 5.0


class Computer(Struct, frozen=True):
    """One installation and the machine below it.

    `root` is where the system's own files are (`/`). `settings` is None where `config.yaml` cannot be understood, with the reason
    in `settings_problem`. `supervisor` is what the supervisor reports, None where none answers, with the reason in
    `supervisor_problem`, or with neither where nothing runs. `provider`, `memory` and `meaning` are what core says of its
    model, of notes of conversations and of the search by meaning, None where core is down. `unread` are the files that modules
    cannot read whole, each with its `path` and the `problem`. `restart_module` starts the module of a name anew, None where core is down.
    `entries` are the files of the state directory before anything was read: reading some of them closes them to others.
    """

    home: Home
    environment: Mapping[str, str]
    user: str
    uid: int
    user_home: Path
    root: Path = Path("/")
    settings: Settings | None = None
    settings_problem: ParachuteError | None = None
    supervisor: dict[str, Any] | None = None
    supervisor_problem: ParachuteError | None = None
    provider: dict[str, Any] | None = None
    memory: dict[str, Any] | None = None
    meaning: dict[str, Any] | None = None
    unread: list[dict[str, str]] | None = None
    restart_module: Callable[[str], object] | None = None
    entries: tuple[Entry, ...] = field(default=())

    @classmethod
    def inspect(cls, home: Home, root: Path = Path("/")) -> "Computer":
        """The computer of this user; waits for the disk and for the supervisor."""
        found = entries(home.root)
        settings, settings_problem = None, None
        try:
            settings = load(home)
        except ParachuteError as error:
            settings_problem = error
        supervisor, supervisor_problem = _supervisor(home)
        return cls(
            home=home,
            environment=dict(os.environ),
            user=_user_name(),
            uid=os.getuid(),
            user_home=Path.home(),
            root=root,
            settings=settings,
            settings_problem=settings_problem,
            supervisor=supervisor,
            supervisor_problem=supervisor_problem,
            entries=found,
        )

    @property
    def is_running(self) -> bool:
        """Return whether a supervisor is there, also one that does not answer."""
        return self.supervisor is not None or self.supervisor_problem is not None

    @property
    def core_runs(self) -> bool:
        """Return whether the API answers, as far as the supervisor knows."""
        return bool(self.supervisor and self.supervisor["main_server_healthy"])

    def refreshed(self) -> "Computer":
        """Return the same with what the supervisor reports now."""
        supervisor, problem = _supervisor(self.home)
        return replace(self, supervisor=supervisor, supervisor_problem=problem)

    def path(self, name: str) -> Path:
        """A file of the system by its absolute name."""
        return self.root / name.removeprefix("/")

    def read(self, name: str) -> str | None:
        """The text of a file of the system, None where there is none or it cannot be read."""
        try:
            return self.path(name).read_text(errors="replace")
        except OSError:
            return None


def _user_name() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())  # commands take the number, too


def _supervisor(home: Home) -> tuple[dict[str, Any] | None, ParachuteError | None]:
    # Asking for the folder of sockets would make it.
    if not os.path.lexists(home.root / "run" / "supervisor.sock"):
        return None, None
    try:
        return asyncio.run(control.ask(home, "status", _STATUS_SECONDS)), None
    except ParachuteError as error:
        return None, None if error.key == "not_running" else error
    except OSError as error:
        return None, ParachuteError(
            f"The supervisor cannot be asked: {error.strerror or error}.", key="supervisor_silent"
        )
