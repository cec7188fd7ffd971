"""Questions and permission requests of agents at work, in the inbox."""

from collections.abc import Sequence
from typing import ClassVar

from parachute.chat.runs.run import Question, Run
from parachute.chat.runs.service import Runs
from parachute.events.inbox.models import ALLOW, DENY, Answer, Item, Kind, Source

_ANSWER, _SKIP = "answer", "skip"
_CHARACTERS = 120


class RunsSource(Source):
    """The inbox of agents that wait for a person; what nobody answers in time is no."""

    kinds: ClassVar[frozenset[Kind]] = frozenset({"permission", "question"})

    def __init__(self, runs: Runs) -> None:
        self._runs = runs

    async def items(self) -> Sequence[Item]:
        """Return what waits in every run."""
        found = []
        for run in self._runs.running():
            found += [_permission(run, each) for each in run.permissions.values() if not each.answer.done()]
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


def _permission(run: Run, request: Question) -> Item:
    tool = str(request.details["tool"])
    wanted = request.details["input"]
    shown = " ".join(str(wanted.get("command") or wanted.get("file_path") or "").split())[:_CHARACTERS]
    return Item(
        kind="permission",
        key=request.identifier,
        title=f"{tool}: {shown}" if shown else tool,
        source=_source(run),
        since=request.since,
        details=request.details,
        answers=(ALLOW, DENY, *(f"{ALLOW} {grant}" for grant in request.grants)),
        rights=(("chat", "write"),),
        is_owners=_is_owners(run),
        session=run.session.id,
    )


def _question(run: Run, question: Question) -> Item:
    asked = [str(each.get("question", "")) for each in question.questions]
    return Item(
        kind="question",
        key=question.identifier,
        title=" ".join(" ".join(asked).split())[:_CHARACTERS] or "A question",
        source=_source(run),
        since=question.since,
        details={"questions": question.questions},
        answers=(_ANSWER, _SKIP),
        rights=(("chat", "write"),),
        is_owners=_is_owners(run),
        session=run.session.id,
    )


def _source(run: Run) -> str:
    return run.session.title or "A new conversation"


def _is_owners(run: Run) -> bool:
    """As for its routes: whoever talks to a session that runs directly has anything done with the owner's rights."""
    return run.is_direct or run.session.trust_level == "direct"
