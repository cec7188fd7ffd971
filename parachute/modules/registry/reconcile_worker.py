"""Core's part in what is declared of modules: once it serves, a thread brings them in line."""

import asyncio
import logging
import threading
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING

from parachute.errors import ParachuteError
from parachute.modules.service import Modules

if TYPE_CHECKING:
    from parachute.modules.applying import Outcome

log = logging.getLogger(__name__)

_LAST_SECONDS = 2.0


class _Ended(Exception):
    """Core is about to end."""


class DeclaredModules:
    """Owns the thread. It does not hold up core's end: what is killed in the middle is undone by the next start."""

    def __init__(self, modules: Modules) -> None:
        self._modules = modules
        self._ending = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin; called in the event loop, once core has said that it is ready."""
        # A download that nobody can interrupt must not keep the interpreter from ending.
        self._thread = threading.Thread(
            target=self._work, args=(asyncio.get_running_loop(),), name="declared modules", daemon=True
        )
        self._thread.start()

    async def close(self) -> None:
        """Have it stop at its next step."""
        self._ending.set()
        if self._thread is not None:
            await asyncio.to_thread(self._thread.join, _LAST_SECONDS)

    def step(self, text: str) -> None:
        """What an installation does goes to the log."""
        if self._ending.is_set():
            raise _Ended
        log.info("Declared module %s: %s", self._modules.declared.applying, text)

    def detail(self, text: str) -> None:
        """Nobody watches."""
        if self._ending.is_set():
            raise _Ended

    def _work(self, loop: asyncio.AbstractEventLoop) -> None:
        try:
            # Not before core is ready: most computers declare nothing, and the start would wait for the import.
            from parachute.modules.applying import apply, is_needed

            if is_needed(self._modules):
                apply(self._modules, self, lambda: self._tell(loop), self._say)
        except _Ended:
            pass  # the next start goes on
        except (ParachuteError, OSError) as error:
            log.error("What is declared of modules cannot be brought about: %s", error)
        except Exception:
            log.exception("What is declared of modules was not brought about")

    def _tell(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._ending.is_set():
            raise _Ended
        change = self._modules.changed()
        try:
            asyncio.run_coroutine_threadsafe(change, loop).result()
        except (RuntimeError, CancelledError) as error:
            change.close()
            raise _Ended from error

    def _say(self, outcome: "Outcome") -> None:
        if outcome.problem:
            log.error("The module %s is not as declared: %s", outcome.name, outcome.problem)
        elif outcome.done:
            log.info("The module %s is as declared: %s.", outcome.name, outcome.done)
