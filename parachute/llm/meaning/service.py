"""The server's side of the index: it starts its process, gives it texts and time to read them, and asks it."""

import asyncio
import functools
import json
import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from parachute.base import local_http
from parachute.base.answers import Answer
from parachute.base.clock import SYSTEM, Clock
from parachute.base.errors import ParachuteError, Unavailable
from parachute.config.settings.groups.local_models import MeaningSettings
from parachute.config.settings.home import Home
from parachute.core.errors import error_from_document
from parachute.llm.gateway.embeddings import Embeddings
from parachute.llm.gateway.service import Gateway
from parachute.llm.meaning.asking import Asking
from parachute.llm.meaning.full_text import Hit
from parachute.llm.meaning.models import MeaningUnavailable, Near
from parachute.llm.meaning.searched import Searched
from parachute.llm.meaning.source import Source
from parachute.supervisor import control, units

log = logging.getLogger(__name__)

_WORK_SECONDS = 1.0
_AGAIN_SECONDS = 60.0
_BUSY_SECONDS = 2.0
"""Poll interval for chat activity; indexing yields to chats."""
_ANSWER_SECONDS, _FIND_SECONDS = 60.0, 5.0
_LARGEST_ANSWER = 4 << 20
_LONGEST_TEXT, _LONGEST_KEY, _MOST_TEXTS = 64_000, 300, 1_000
_LONGEST_QUESTION = 1_000


class MeaningStatus(Answer, frozen=True):
    """Progress of the index: texts that wait, and the reason why some may be absent."""

    enabled: bool
    source: str
    server: str | None
    waiting: int
    total: int
    problem: str | None


class MeaningIndex:
    """Without a source of meanings, or where it is switched off, each call is an error, and words alone are searched."""

    def __init__(
        self,
        home: Home,
        settings: MeaningSettings,
        gateway: Gateway | None,
        is_busy: Callable[[], bool],
        collections: Callable[[], Iterable[str]],
        clock: Clock = SYSTEM,
    ) -> None:
        """`gateway` is how the server of the settings is reached.

        While chats go on, it `is_busy`: texts are read afterwards. `collections` are kept; those of modules that are gone are forgotten.
        """
        self._home = home
        self._settings = settings
        self._clock = clock
        self._server: Asking | None = None
        if settings.enabled and settings.server and gateway:
            self._server = Asking(settings, Embeddings(settings, gateway), clock)
        self.is_busy = is_busy
        self._collections = collections
        self._task: asyncio.Task[None] | None = None
        self._wanted = asyncio.Event()
        self.waiting = self.total = self.progress = 0
        self.problem: str | None = None

    @functools.cached_property
    def _source(self) -> Source:
        # Looked up by the server, too: an index without a source would only collect texts.
        return Source.of_settings(self._settings)

    @property
    def is_on(self) -> bool:
        """False where it is switched off."""
        return self._settings.enabled

    @property
    def is_ready(self) -> bool:
        """True where meanings are known; words can be searched without."""
        return self.is_on and self._source.error is None

    async def put(self, collection: str, texts: Mapping[str, str], gone: Iterable[str] = ()) -> str:
        """Take texts over by their keys, and forget others; the name of the index: another one has none of the earlier texts.

        Errors: MeaningUnavailable, Unavailable.
        """
        own = {key[:_LONGEST_KEY]: text[:_LONGEST_TEXT] for key, text in list(texts.items())[:_MOST_TEXTS]}
        document = {"collection": collection, "texts": own, "gone": list(gone), **self._named()}
        answer = await self._ask("POST", "/put", document, _ANSWER_SECONDS)
        self._counted(answer)
        if self.waiting or gone:
            self._wake()
        return str(answer["index"])

    async def put_marked(self, collection: str, texts: Mapping[str, str], marks: Mapping[str, str]) -> None:
        """Take texts over with what marks them as they are now, also where no meanings are known. Error: Unavailable."""
        own = {key: text[:_LONGEST_TEXT] for key, text in texts.items()}
        document = {"collection": collection, "texts": own, "marks": dict(marks), **self._named()}
        answer = await self._request("POST", "/put", document, _ANSWER_SECONDS)
        if self.is_ready:
            self._counted(answer)
            self._wake()

    async def missing(
        self, collection: str, marks: Mapping[str, str], limit: int, gone: Iterable[str] | None = None
    ) -> list[str]:
        """Keys whose texts are not there as these marks say; those `gone` are forgotten, by default all others. Error: Unavailable."""
        forgotten = None if gone is None else list(gone)
        document = {"collection": collection, "marks": dict(marks), "limit": limit, "gone": forgotten}
        return list(map(str, (await self._request("POST", "/missing", document, _ANSWER_SECONDS))["missing"]))

    async def search(self, collection: str, question: str, limit: int) -> list[Hit]:
        """Texts of a collection that was put with marks, by their words, the best first. Error: Unavailable."""
        document = {"collection": collection, "query": question[:_LONGEST_QUESTION], "limit": max(1, min(limit, 200))}
        answer = await self._request("POST", "/search", document, _ANSWER_SECONDS)
        return [
            Hit(str(key), float(score), bool(has_all), str(said), int(offset))
            for key, score, has_all, said, offset in answer["results"]
        ]

    async def find(self, collection: str, question: str, limit: int) -> tuple[str, list[Near]]:
        """Texts of a collection that are near to a question, the nearest first, and the name of the index.

        Errors: MeaningUnavailable, Unavailable, also where it does not answer in time.
        """
        question = question[:_LONGEST_QUESTION]
        document = {"collection": collection, "query": question, "limit": max(1, min(limit, 200)), **self._named()}
        answer = await self._ask("POST", "/find", document, _FIND_SECONDS)
        if answer["lacks"] and self.problem is None:
            self._wake()  # the model is another one than before
        if self._server is not None and (name := answer.get("wants")):
            vector = await self._server.question(name, question)
            answer = await self._ask("POST", "/find", {**document, "vector_of": name, "vector": vector}, _FIND_SECONDS)
        return str(answer["index"]), [
            Near(str(key), float(score), int(offset)) for key, score, offset in answer["results"]
        ]

    def status(self) -> MeaningStatus:
        """Return the progress; nothing is started for this."""
        missing = self._source.problem if self.is_on else None
        server, failed = (self._server.where, self._server.problem) if self._server else (None, None)
        problem = missing or self.problem or failed
        return MeaningStatus(self.is_on, self._source.kind, server, self.waiting, self.total, problem)

    def searched(self, count: int) -> Searched:
        """Return what a search of so many things looks through."""
        return Searched(count, self.waiting, self.total)

    def _counted(self, answer: Mapping[str, Any]) -> None:
        self.waiting, self.total = int(answer["waiting"]), int(answer["total"])

    async def close(self) -> None:
        """End reading; the index goes on from where it is when the next text comes."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def _wake(self) -> None:
        self._wanted.set()
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._read())

    async def _read(self) -> None:
        """Give the index time until nothing waits, and again when more has come."""
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            keep: list[str] | None = sorted(await asyncio.to_thread(self._collections))
            left = 1
            while left:
                while self.is_busy():
                    await self._clock.sleep(_BUSY_SECONDS)
                try:
                    answer = await self._read_some(keep)
                except ParachuteError as error:
                    if self.problem != str(error):
                        log.warning("Texts are not read for the search by meaning: %s", error)
                    self.problem = str(error)
                    if isinstance(error, MeaningUnavailable):
                        return  # what is missing comes with another start of the server
                    await self._clock.wait(self._wanted, _AGAIN_SECONDS)
                    continue
                keep, self.problem = None, None
                self._counted(answer)
                left = self.waiting
                self.progress += 1

    async def _read_some(self, keep: list[str] | None) -> dict[str, Any]:
        if self._server is None:
            return await self._ask("POST", "/work", {"seconds": _WORK_SECONDS, "keep": keep}, _ANSWER_SECONDS)
        wanted = await self._ask("POST", "/wanted", {"keep": keep, **self._named()}, _ANSWER_SECONDS)
        if not wanted["texts"]:
            return wanted
        texts = await self._server.texts(wanted["texts"])
        return await self._ask("POST", "/vectors", {"texts": texts, **self._named()}, _ANSWER_SECONDS)

    def _named(self) -> dict[str, str]:
        return {} if self._server is None else {"server": self._server.model.name}

    async def _ask(self, method: str, path: str, document: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        if not self.is_on:
            raise MeaningUnavailable(
                "Search by meaning is switched off.", "`parachute config set meaning.enabled true` switches it on."
            )
        if self._source.error is not None:
            raise MeaningUnavailable(self._source.error.message, self._source.error.hint)
        return await self._request(method, path, document, seconds)

    async def _request(self, method: str, path: str, document: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        try:
            await control.ask(self._home, "open", unit="meaning")
            body = (await asyncio.to_thread(json.dumps, document)).encode()
            headers = [(b"host", b"meaning"), (b"content-type", b"application/json")]
            asking = local_http.request(units.meaning_socket(self._home), method, path, headers, body)
            status, answer = await local_http.ask(asking, seconds, _LARGEST_ANSWER)
        except (TimeoutError, OSError, ValueError) as error:
            raise Unavailable(
                "The index of meanings does not answer.", "Its log is meaning.log.", key="index_silent"
            ) from error
        if status != 200 or not isinstance(answer, dict):
            raise _error(answer)
        return answer


def _error(answer: Any) -> ParachuteError:
    error: ParachuteError = error_from_document(answer)
    return MeaningUnavailable(error.message, error.hint) if error.key == MeaningUnavailable.key else error
