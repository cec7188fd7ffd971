"""The model as the event loop sees it: loading in the background, one generation at a time, a short queue."""

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from msgspec import Struct

from parachute.base.errors import ParachuteError, Unavailable
from parachute.llm.offline.context_window import fit
from parachute.llm.offline.conversation import Turn
from parachute.llm.offline.llama import LlamaModel, Usage, load_model, read_ahead
from parachute.llm.offline.model_file import ModelUnavailable, find_model
from parachute.llm.offline.settings import OfflineSettings
from parachute.supervisor.activity import Activity

MAX_WAITING = 8
# Between our count of the prompt and the engine's own.
_MARGIN_TOKENS = 8


class Prompt(Struct, frozen=True):
    """The turns that the model will see, and their exact number of tokens with everything around them."""

    turns: list[Turn]
    tokens: int


class Engine:
    """Owns the model; create it inside the event loop. `folder` is private to this process."""

    def __init__(self, settings: OfflineSettings, activity: Activity, folder: Path) -> None:
        self._settings = settings
        self._activity = activity
        self._folder = folder
        self._loop = asyncio.get_running_loop()
        self._model: LlamaModel | None = None
        self._loaded = asyncio.Event()
        self._turn = asyncio.Lock()
        self._admitted = 0
        self._stops: set[threading.Event] = set()
        self._stopping = False
        self.problem: ParachuteError | None = None
        self.completed = 0
        self.stopped = 0

    @property
    def state(self) -> Literal["loading", "ready", "unavailable"]:
        """The state of the model."""
        if self.problem is not None:
            return "unavailable"
        return "loading" if self._model is None else "ready"

    @property
    def generating(self) -> bool:
        """True while the model computes."""
        return self._turn.locked()

    @property
    def waiting(self) -> int:
        """Requests admitted that do not have the model yet."""
        return max(0, self._admitted - int(self.generating))

    def start(self) -> None:
        """Find the model and load it in the background; `problem` is set at once when there is none."""
        try:
            path = find_model(self._settings.model)
        except ModelUnavailable as error:
            self._settle(None, error)
            return
        self._activity.begin()
        # A daemon thread: nothing can interrupt the engine's loading, and it must not hold up the end of the process.
        threading.Thread(target=self._load, args=(path,), name="load-model", daemon=True).start()

    def stop(self) -> None:
        """End the running generation and refuse the waiting ones, so that the process can end."""
        self._stopping = True
        for stop in self._stops:
            stop.set()

    async def ready(self) -> LlamaModel:
        """The loaded model, waiting for it; errors: ModelUnavailable."""
        await self._loaded.wait()
        if self.problem is not None:
            raise self.problem
        assert self._model is not None
        return self._model

    async def prepare(self, turns: Sequence[Turn]) -> Prompt:
        """The newest part of a conversation that fits the context window together with an answer."""
        model = await self.ready()
        room = self._settings.context_tokens - self._settings.answer_tokens - _MARGIN_TOKENS
        return Prompt(*await asyncio.to_thread(fit, turns, room, model.tokenizer))

    @contextmanager
    def admission(self) -> Iterator[None]:
        """A place in the queue; errors: Unavailable when it is full, the problem when there is no model at all."""
        if self.problem is not None:
            raise self.problem
        if self._admitted > MAX_WAITING:
            raise Unavailable(
                f"{MAX_WAITING} requests wait for the offline model already.",
                "Try again when they are answered.",
                key="overloaded_error",
            )
        self._admitted += 1
        try:
            yield
        finally:
            self._admitted -= 1

    async def generate(self, prompt: Prompt, max_tokens: int | None, on_text: Callable[[str], None]) -> Usage:
        """Wait for the model and answer, calling `on_text` in the event loop; cancelling it stops the model.

        At most `max_tokens`, and never more than the settings allow. Error: Unavailable.
        """
        model = await self.ready()
        limit = min(max_tokens or self._settings.answer_tokens, self._settings.answer_tokens)
        stop = threading.Event()

        def receive(text: str) -> None:
            self._loop.call_soon_threadsafe(on_text, text)

        await self._turn.acquire()
        if self._stopping:
            self._turn.release()
            raise Unavailable("The offline model is stopping.", key="model_stopping")
        self._stops.add(stop)
        work = asyncio.ensure_future(asyncio.to_thread(model.complete, prompt.turns, limit, receive, stop))

        def finished(work: asyncio.Future[Usage | None]) -> None:
            # Here and not where it is awaited: a cancelled request leaves at once, while the thread needs a moment to end.
            self._stops.discard(stop)
            self._turn.release()
            if work.cancelled() or work.exception() is not None:
                return
            if work.result() is None:
                self.stopped += 1
            else:
                self.completed += 1

        work.add_done_callback(finished)
        try:
            usage = await asyncio.shield(work)
        except asyncio.CancelledError:
            stop.set()
            raise
        if usage is None:
            raise Unavailable("The offline model is stopping.", key="model_stopping")
        return usage

    def _load(self, path: Path) -> None:
        model: LlamaModel | None = None
        problem: ParachuteError | None = None
        try:
            read_ahead(path)
            model = load_model(path, self._settings.context_tokens, self._folder)
        except ParachuteError as error:
            problem = error
        except Exception as error:
            problem = ModelUnavailable(f"The offline model could not be loaded: {error!r}.", key="model_not_loaded")
        try:
            self._loop.call_soon_threadsafe(self._loading_ended, model, problem)
        except RuntimeError:
            pass  # the loop has ended meanwhile, and the process with it

    def _loading_ended(self, model: LlamaModel | None, problem: ParachuteError | None) -> None:
        self._settle(model, problem)
        self._activity.end()

    def _settle(self, model: LlamaModel | None, problem: ParachuteError | None) -> None:
        self._model, self.problem = model, problem
        self._loaded.set()
