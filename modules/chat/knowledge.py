"""Knowledge of Brain and the journal about a text, within a length."""

import asyncio
import dataclasses

from parachute.core import Module, ParachuteError
from parachute.core.interfaces import Context, Entity, JournalEntry, Mention

SURE = 0.8
"""From this confidence on a mention counts (spec 000, Daily's example)."""

_SUBJECTS = 5
_ENTRIES = 3
_ENTRY_CHARACTERS = 600
_JOURNAL_SHARE = 0.4


class Knowledge:
    """Looks things up by interfaces; whoever is absent or fails is left out."""

    def __init__(self, module: Module) -> None:
        self._module = module

    async def about(self, text: str, budget: int) -> Context:
        """Everything that is known of the subjects of a text, in at most `budget` characters."""
        mentions = await self._mentions(text)
        if not mentions:
            return Context("")
        asked = await asyncio.gather(*(self._subject(mention) for mention in mentions))
        entries = await self._entries([mention.name or mention.text for mention in mentions])
        found = _each_entry_once([each for each in asked if each is not None], entries)
        told = "\n".join(each.text for each in found)
        # Brain tells of entries as well.
        entries = [entry for entry in entries if entry.content.strip()[:80] not in told]
        for_journal = int(budget * _JOURNAL_SHARE) if entries else 0
        parts, sources = _fitting(found, budget - for_journal)
        if entries:
            journal = _journal(entries, budget - sum(map(len, parts)) - 2 * len(parts))
            parts += [journal] if journal else []
            sources += [Entity(each.id, each.title or each.date, "entry", path=each.path) for each in entries]
        instructions = [path for each in found for path in each.instructions]
        return Context("\n\n".join(parts), sources if parts else [], list(dict.fromkeys(instructions)))

    async def _mentions(self, text: str) -> list[Mention]:
        brain = self._module.get_interface("BrainInterface")
        if brain is None:
            return []
        try:
            mentions = await brain.suggest(text)
        except ParachuteError:
            return []
        known: dict[str, Mention] = {}
        for mention in sorted(mentions, key=lambda each: -each.confidence):
            if mention.para_id and mention.confidence > SURE:
                known.setdefault(mention.para_id, mention)
        return list(known.values())[:_SUBJECTS]

    async def _subject(self, mention: Mention) -> Context | None:
        brain = self._module.get_interface("BrainInterface")
        if brain is None or mention.para_id is None:
            return None
        try:
            return await brain.context(mention.para_id)
        except ParachuteError:
            return None

    async def _entries(self, names: list[str]) -> list[JournalEntry]:
        journal = self._module.get_interface("JournalInterface")
        if journal is None:
            return []
        found: dict[str, JournalEntry] = {}
        for name in names:
            try:
                for entry in await journal.search(name, limit=_ENTRIES):
                    found.setdefault(entry.id, entry)
            except ParachuteError:
                return list(found.values())
        return sorted(found.values(), key=lambda entry: entry.date, reverse=True)[: 2 * _ENTRIES]


def _each_entry_once(contexts: list[Context], entries: list[JournalEntry]) -> list[Context]:
    """The contexts, without the text of an entry that one before has as well: it may be about both."""
    told, found = "", []
    for context in contexts:
        text = context.text
        for entry in entries:
            shown = entry.content.strip()[:_ENTRY_CHARACTERS].rstrip()
            if shown in told:
                text = text.replace(f"\n{shown}", "\nSee above.")
        told += text
        found.append(dataclasses.replace(context, text=text))
    return found


def _fitting(contexts: list[Context], budget: int) -> tuple[list[str], list[Entity]]:
    """The first contexts that fit, the last of them cut, and what they were made from."""
    parts: list[str] = []
    sources: dict[str, Entity] = {}
    for context in contexts:
        room = budget - sum(len(part) + 2 for part in parts)
        text = context.text.strip()
        if not text or room < min(len(text), 200):
            continue
        parts.append(text if len(text) <= room else f"{text[: room - 6]}\n[cut]")
        for entity in context.entities:
            sources.setdefault(entity.para_id, entity)
    return parts, list(sources.values())


def _journal(entries: list[JournalEntry], budget: int) -> str:
    lines = ["# Recent journal entries"]
    for entry in entries:
        content = " ".join(entry.content.split())
        shown = content if len(content) <= _ENTRY_CHARACTERS else f"{content[:_ENTRY_CHARACTERS]} …"
        source = f" ({entry.path})" if entry.path else ""
        lines.append(f"- {entry.date}{source}: {shown}")
        if sum(len(line) + 1 for line in lines) > budget:
            lines.pop()
            break
    return "\n".join(lines) if len(lines) > 1 else ""
