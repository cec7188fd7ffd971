"""The server's worker thread that reconciles modules with the declared configuration."""

import asyncio
import logging
import threading
from concurrent.futures import CancelledError

from parachute.base.errors import ParachuteError
from parachute.modules.registry.reconcile import Outcome, is_needed, reconcile
from parachute.modules.registry.service import Modules

log = logging.getLogger(__name__)

_LAST_SECONDS = 2.0


class _Ended(Exception):
    """The server is about to end."""


class ReconcileWorker:
    """Owns the worker thread, which does not delay the server's end: the next start undoes an interrupted installation."""

    def __init__(self, modules: Modules) -> None:
        self._modules = modules
        self._ending = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the worker; call it in the event loop once the server is ready."""
        # A download that nobody can interrupt must not keep the interpreter from ending.
        self._thread = threading.Thread(
            target=self._work, args=(asyncio.get_running_loop(),), name="declared modules", daemon=True
        )
        self._thread.start()

    async def close(self) -> None:
        """Stop the worker at its next step."""
        self._ending.set()
        if self._thread is not None:
            await asyncio.to_thread(self._thread.join, _LAST_SECONDS)

    def step(self, text: str) -> None:
        """Log a step of an installation."""
        if self._ending.is_set():
            raise _Ended
        log.info("Declared module %s: %s", self._modules.declared.reconciling, text)

    def detail(self, text: str) -> None:
        """Drop progress within a step."""
        if self._ending.is_set():
            raise _Ended

    def _work(self, loop: asyncio.AbstractEventLoop) -> None:
        try:
            if is_needed(self._modules):
                reconcile(self._modules, self, lambda: self._notify(loop), self._log)
        except _Ended:
            pass  # the next start goes on
        except (ParachuteError, OSError) as error:
            log.error("Declared modules cannot be reconciled: %s", error)
        except Exception:
            log.exception("Reconciling declared modules failed")

    def _notify(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._ending.is_set():
            raise _Ended
        change = self._modules.changed()
        try:
            asyncio.run_coroutine_threadsafe(change, loop).result()
        except (RuntimeError, CancelledError) as error:
            change.close()
            raise _Ended from error

    def _log(self, outcome: Outcome) -> None:
        if outcome.problem:
            log.error("The module %s differs from its declaration: %s", outcome.name, outcome.problem)
        elif outcome.done:
            log.info("The module %s is as declared: %s.", outcome.name, outcome.done)
