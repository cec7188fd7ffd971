"""Asking the owner's server for the meanings of texts and questions, for an index whose process reaches nobody."""

import base64
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from parachute.base.clock import SYSTEM, Clock
from parachute.base.errors import ParachuteError, Unavailable
from parachute.config.settings.groups.local_models import MeaningSettings
from parachute.llm.gateway.embeddings import Embeddings
from parachute.llm.meaning.models import ServerModel

_TEXT_SECONDS = 120.0
"""A batch on a slow machine, which may have to load the model first."""

_QUESTION_SECONDS = 4.0
_PAUSE_SECONDS = 10.0
"""So long after a question without an answer nobody waits for the next one."""

_KEPT = 200


class Asking:
    """Embeddings of questions by the server, kept in memory: a person who types asks for the same more than once."""

    def __init__(self, settings: MeaningSettings, embeddings: Embeddings, clock: Clock = SYSTEM) -> None:
        self._embeddings = embeddings
        self._clock = clock
        self._batch = settings.server_batch
        self.model = ServerModel.at(embeddings.address, settings.server_model)
        self.where = f"{settings.server_model} at {embeddings.address}"
        self.problem: str | None = None
        """Problem with the last question."""
        self._known: OrderedDict[tuple[str, str], str] = OrderedDict()
        self._silent_until = 0.0

    async def question(self, name: str, text: str) -> str:
        """A question's embedding in base64, by the name of the model. Errors: Unavailable, LimitReached, Stopped."""
        known = (name, text)
        if known not in self._known:
            if self._clock.elapsed() < self._silent_until:
                raise Unavailable(self.problem or "The server for meanings does not answer.", key="no_embeddings")
            try:
                (vector,) = await self._embeddings.of(ServerModel.named(name).model, [text], _QUESTION_SECONDS)
            except ParachuteError as error:
                self.problem, self._silent_until = str(error), self._clock.elapsed() + _PAUSE_SECONDS
                raise
            self._known[known] = base64.b64encode(vector).decode()
            while len(self._known) > _KEPT:
                self._known.popitem(last=False)
        self.problem = None
        self._known.move_to_end(known)
        return self._known[known]

    async def texts(self, wanted: Sequence[Any]) -> list[Any]:
        """Texts as the index wants them, with the embeddings of their parts; errors as of a question."""
        parts = [part for _, _, own in wanted for part in own]
        vectors: list[bytes] = []
        for first in range(0, len(parts), self._batch):
            vectors += await self._embeddings.of(self.model.model, parts[first : first + self._batch], _TEXT_SECONDS)
        given = iter(base64.b64encode(vector).decode() for vector in vectors)
        return [[number, digest, [next(given) for _ in own]] for number, digest, own in wanted]
