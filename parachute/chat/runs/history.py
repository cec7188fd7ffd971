"""The history of a conversation in a turn: the agent's transcript, or else the words of it that are stored."""

import asyncio
from collections import deque
from collections.abc import Iterable
from typing import Any

from parachute.chat.runs import events
from parachute.chat.runs.quoting import IMPORTED, quote
from parachute.chat.runs.run import CutOff, Run
from parachute.chat.sessions.imported import IMPORT
from parachute.chat.sessions.messages import assistant_text, until, user_text
from parachute.chat.sessions.models import Session
from parachute.chat.sessions.service import Sessions

_LIMIT = 60_000
"""Characters of each earlier text; the newest are kept."""

_PRIOR = "prior_conversation"

_REPORTED = "transcript_reported_missing"


class History:
    """Prepares the history of one run; `injected` texts were put before its message."""

    def __init__(self, sessions: Sessions, run: Run) -> None:
        self._sessions = sessions
        self._run = run
        self.injected = 0

    async def bring(self) -> bool:
        """Bring the transcript to where the agent reads it; False without one."""
        session, transcripts = self._run.session, self._sessions.transcripts
        if await self._sessions.level(session) == "direct":
            return await asyncio.to_thread(transcripts.find, session.id) is not None
        return await asyncio.to_thread(transcripts.bring, session.id)

    async def before_message(self, known: bool) -> list[str] | None:
        """The blocks that go before the message; `known`: the agent has the transcript.

        None if the run is over, because the transcript is gone and the person has to hear it first.
        """
        run, session = self._run, self._run.session
        parts: list[tuple[str, str]] = []
        if run.request.initial_context and not known:
            parts.append(("context", run.request.initial_context))
        if run.request.prior_conversation is not None:
            # Whoever says what was said before says all of it.
            if not known:
                parts.append((_PRIOR, run.request.prior_conversation))
        elif run.is_new and session.continued_from and session.branch is None:
            parts.append(await self._continued(session, session.continued_from))
        quoted = "" if known else await asyncio.to_thread(self._quoted, session.id)
        if quoted:
            parts.append((IMPORTED, quoted))
        if not known and session.message_count > _brought(session, quoted):
            reported = session.metadata.pop(_REPORTED, False)
            if not reported:
                session.metadata[_REPORTED] = True
            await self._sessions.save(session)
            if not reported:
                self._report_missing()
                return None
            # The app asked again after it heard that the transcript is gone: go on with the words that are stored.
            parts.append((_PRIOR, await self._sessions.search_index.words(session.id)))
        for each in await self._missing(known):
            parts.append(("interrupted_turn", "\n\n".join(f"{role}: {text}" for role, text in each.texts)))
        parts = [(name, text) for name, text in parts if text]
        self.injected = len(parts)
        # Blocks of this form are not shown as words of the person when the message is read back (`sessions.events`).
        return [f"<{name}>\n{text if name == IMPORTED else text[-_LIMIT:]}\n</{name}>\n\n" for name, text in parts]

    @property
    def stopped(self) -> str:
        """Tell the agent of tools that were at work when the last run ended; its program calls them refused."""
        at_work = self._run.cut_off[-1].at_work if self._run.cut_off else ()
        if not at_work:
            return ""
        listed = "\n".join(f"- {each}" for each in at_work)
        return (
            "The last answer was stopped while this was at work. Whatever is said of it above, it was begun and not refused, "
            f"and may have done a part of its work: look before you do it again.\n{listed}"
        )

    async def report_no_more(self, session: Session) -> None:
        """Let the next message go on with the stored words at once, unless the process that ended has left a transcript."""
        if await asyncio.to_thread(self._sessions.transcripts.find, session.id) is None:
            session.metadata[_REPORTED] = True
            await self._sessions.save(session)

    async def _missing(self, known: bool) -> list[CutOff]:
        """Earlier runs whose program was killed before it wrote their message into the transcript."""
        if not self._run.cut_off:
            return []
        written = {message["id"] for message in await self._sessions.messages(self._run.session.id)}
        # A message that is there has taken those along that were lost before it.
        last = max((number for number, each in enumerate(self._run.cut_off, 1) if each.message in written), default=0)
        return [each for each in self._run.cut_off[last:] if known or not each.is_recorded]

    async def _continued(self, session: Session, before: str) -> tuple[str, str]:
        """Quote the conversation that this one continues, until the message that it branches off at."""
        end = self._run.request.continued_before
        transcripts = self._sessions.transcripts
        if await asyncio.to_thread(transcripts.imported, before) is None:
            return _PRIOR, await asyncio.to_thread(_words_of, until(transcripts.events(before), end))
        # All of it: what was said here since may repeat what was imported.
        session.metadata.setdefault(IMPORT, {"continued": before})
        await self._sessions.save(session)
        return IMPORTED, await asyncio.to_thread(self._quoted, before, of_all=True, end=end)

    def _quoted(self, session: str, *, of_all: bool = False, end: str | None = None) -> str:
        transcripts = self._sessions.transcripts
        origin = transcripts.origin(session)
        if origin is None:
            return ""
        events = until(transcripts.events(session), end) if of_all else transcripts.imported_events(session)
        return quote(origin, events, _LIMIT)

    def _report_missing(self) -> None:
        run, session = self._run, self._run.session
        message = "The transcript of this conversation is no longer on this computer."
        run.log.append(
            events.SessionUnavailable(
                reason="transcript_not_found",
                session_id=session.id,
                has_markdown_history=False,
                message_count=session.message_count,
                message=f"{message} Send the message again to continue with the rest of it, or start a new chat.",
            )
        )
        run.status = "done"
        run.log.append(events.TurnDone(session.id, session.title, model=None, duration_ms=0))


def _words_of(said: Iterable[dict[str, Any]]) -> str:
    """The newest words of a conversation, with those that were put before its messages."""
    lines, size = deque[str](), 0
    for event in said:
        if text := user_text(event) or assistant_text(event):
            lines.append(f"{event['type']}: {event.get('before', '')}{text}")
            size += len(lines[-1])
        while size > _LIMIT and len(lines) > 1:
            size -= len(lines.popleft())
    return "\n\n".join(lines)


def _brought(session: Session, quoted: str) -> int:
    """Return the number of a session's imported messages, which are complete as long as they can be quoted."""
    known = session.metadata.get(IMPORT)
    count = known.get("messages") if quoted and isinstance(known, dict) else 0
    return count if isinstance(count, int) else 0
