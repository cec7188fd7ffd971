"""Questions and permission requests of agents at work, in the inbox."""

from collections.abc import Sequence
from typing import ClassVar

from parachute.chat.runs.postponed import is_owners, permission_item, source_of
from parachute.chat.runs.run import Question, Run
from parachute.chat.runs.service import Runs
from parachute.events.inbox.models import ALLOW, DENY, Answer, Item, Source

_ANSWER, _SKIP = "answer", "skip"
_CHARACTERS = 120


class RunsSource(Source):
    """The inbox of agents that wait for a person; what nobody answers in time is no, and may be yes for the next try."""

    kinds: ClassVar[frozenset[str]] = frozenset({"permission", "question"})

    def __init__(self, runs: Runs) -> None:
        self._runs = runs

    async def items(self) -> Sequence[Item]:
        """Return what waits in every run."""
        found = list(self._runs.postponed.items())
        for run in self._runs.running():
            found += [permission_item(run, each) for each in run.permissions.values() if not each.answer.done()]
            found += [_question(run, each) for each in run.questions.values() if not each.answer.done()]
        return found

    async def answer(self, item: Item, answer: Answer) -> None:
        """Let the agent go on with the answer; error: NotFound if it does not wait any more."""
        assert item.session is not None
        if item.kind == "question":
            values = dict(answer.values) if answer.word == _ANSWER else {}
            self._runs.answer(item.session, item.key, values)
            return
        grant = answer.word.removeprefix(f"{ALLOW} ") if answer.word.startswith(f"{ALLOW} ") else None
        await self._runs.permit(item.session, item.key, allow=answer.word != DENY, grant=grant)


def _question(run: Run, question: Question) -> Item:
    asked = [str(each.get("question", "")) for each in question.questions]
    return Item(
        kind="question",
        key=question.identifier,
        title=" ".join(" ".join(asked).split())[:_CHARACTERS] or "A question",
        source=source_of(run),
        since=question.since,
        details={"questions": question.questions},
        answers=(_ANSWER, _SKIP),
        rights=(("chat", "write"),),
        is_owners=is_owners(run),
        session=run.session.id,
    )
