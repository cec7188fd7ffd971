"""Content that enters a run before its agent speaks: the message, its attachments, and the prompt."""

from collections.abc import Sequence
from pathlib import Path

from parachute.chat.agent_processes.models import OwnTool
from parachute.chat.origins.service import Origins
from parachute.chat.runs.run import Run
from parachute.chat.sessions.imported import IMPORT
from parachute.events.hooks.defaults import load_context
from parachute.modules.runtime.models import OfferedTool
from parachute.security.origin import Origin, lowest

_MEMORY = load_context.__name__.rpartition(".")[2]
"""The hook that adds the memory: what is in it was said by the owner, or seen."""


async def entering(
    run: Run,
    origins: Origins,
    told: Sequence[Path] = (),
    tools: Sequence[OfferedTool] = (),
    attached: Sequence[bytes] = (),
) -> Origin:
    """The lowest origin of it; `told` are files of the prompt that an agent wrote and the owner has not seen.

    `tools` describe themselves in it; `attached` are the files that the owner sends along.
    """
    session, request = run.session, run.request
    found = [run.given]
    if run.profile is not None:
        found.append(run.profile.origin)
    if session.from_outside:
        found.append(Origin.GUEST)
    if request.initial_context or request.attachments:
        found.append(await origins.of_contents(attached))
    if request.prior_conversation or IMPORT in session.metadata:
        found.append(Origin.IMPORT)
    if session.continued_from and run.is_new:
        found.append(await origins.of_session(session.continued_from))
    if any(each.text and each.hook != _MEMORY for each in run.added):
        found.append(Origin.OWN_FILE)
    if run.knows:
        found.append(await origins.of_knowledge())
    if told:
        found += (Origin.AGENT_FILE, await origins.of_files(told))
    found += (tool.described for tool in tools if isinstance(tool, OwnTool))
    return lowest(*found)
