"""Warnings of a person's turn: what is not as it was asked for, and what was left out."""

import shlex
from collections.abc import Sequence

from parachute.chat.runs.capabilities import LeftOut
from parachute.chat.runs.events import RunWarning
from parachute.chat.runs.preparation import AgentServices, Preparation
from parachute.chat.runs.run import Run
from parachute.chat.sessions.models import Session

_LEFT_OUT = "instructions_left_out"
_WITHOUT_CONTEXT = "contexts_missing"
_CAPABILITIES_LEFT_OUT = "capabilities_left_out"


async def warnings_of(services: AgentServices, run: Run, preparation: Preparation) -> list[RunWarning]:
    """Return what a person is told before the answer; what is said again only when it changes is remembered."""
    found = list(preparation.execution.warnings)
    found += ((f"Hook {each.hook}", each.notice) for each in run.added if each.notice)
    if run.request.level == "direct" and preparation.execution.mode == "sandboxed":
        found.append(("Sandboxed", "The workspace of this conversation keeps it in a sandbox."))
    differences = services.sandboxes.opened.take_differences(run.session.id)
    found += (("Sandbox not as asked", sentence) for sentence in differences)
    wanted, provider = run.request.model, preparation.provider
    if wanted and provider.model and wanted not in (provider.model, f"{provider.called}/{provider.model}"):
        found.append(("Model", f"{wanted} is not used: {provider.model} answers, as the settings say."))
    if unknown := sorted(run.request.model_extra or ()):
        names = ", ".join(name[:40] for name in unknown[:5]) + (", …" if len(unknown) > 5 else "")
        found.append(("Unknown fields", f"The message has unknown fields: {names}."))
    empty = [attachment.file_name for attachment in run.request.attachments if attachment.base64_data is None]
    if empty:
        found.append(("Attachment without content", f"The app sent only the name of {', '.join(empty)}."))
    if provider.is_offline and services.settings.provider == "auto" and run.is_new:
        found.append(
            (
                "Offline model",
                "No credentials for Claude are configured, so a small model on this computer answers, often wrongly. "
                "`parachute auth login` connects Claude, or a server such as Ollama with --base-url.",
            )
        )
    found += await _left_out(services, run.session, preparation.prompt.left_out)
    found += (("Context", sentence) for sentence in services.contexts.sorted_out(run.request.chosen_contexts)[1])
    new = await _is_new(services, run.session, _WITHOUT_CONTEXT, preparation.prompt.problems)
    found += (("Context", sentence) for sentence in preparation.prompt.problems if new)
    found += await _capabilities_left_out(services, run.session, preparation.offered.left_out)
    return [RunWarning(title, message) for title, message in found]


async def _left_out(services: AgentServices, session: Session, names: list[str]) -> list[tuple[str, str]]:
    """Warnings about files without approval, in the first turn and when they change."""
    if not await _is_new(services, session, _LEFT_OUT, names):
        return []
    return [
        (
            "Instructions left out",
            f"{name} is not approved for direct conversations, so this one continues without it. "
            f"`parachute prompts approve {shlex.quote(name)}` shows it, and asks.",
        )
        for name in names
    ]


async def _is_new(services: AgentServices, session: Session, key: str, said: list[str]) -> bool:
    """Remember what was said of a session; False if it was said before."""
    if said == session.metadata.get(key, []):
        return False
    session.metadata[key] = said
    await services.sessions.save(session)
    return True


async def _capabilities_left_out(
    services: AgentServices, session: Session, left_out: Sequence[LeftOut]
) -> list[tuple[str, str]]:
    """Warnings about agents and skills without approval, in the first turn and when they change."""
    names = [f"{each.kind} {each.name}" for each in left_out]
    if not await _is_new(services, session, _CAPABILITIES_LEFT_OUT, names):
        return []
    return [
        (
            f"{each.kind.title()} left out",
            f"The {each.kind} {each.name} is not approved for direct conversations, so this one continues "
            f"without it. `{each.command} {each.name}` shows it, and asks.",
        )
        for each in left_out
    ]
