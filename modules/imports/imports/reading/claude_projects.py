"""Projects of Claude with their documents, and what Claude remembers: files, each under a name of its own."""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from imports.reading.conversation import fields_of, items_of, moment, name_of, text_of

Document = tuple[tuple[str, ...], str, str | None]
"""Folder and name, text, and time."""

_MEMORIES = frozenset({"conversations_memory", "project_memories", "memory_files"})
_MEMORY = "Memory"
_SHORT = 8
_DEEPEST = 10


class Projects:
    """Names the files of one export, no two alike: people have two projects of one name, and two documents in one."""

    def __init__(self) -> None:
        self._folders: dict[str, str] = {}
        self._names: set[tuple[str, ...]] = set()

    def documents(self, value: Any) -> Iterator[Document] | None:
        """The files of a project or of a memory; None for anything else."""
        if isinstance(value, dict) and isinstance(value.get("docs"), list):
            return self._of_project(value)
        if isinstance(value, dict) and not _MEMORIES.isdisjoint(value):
            return self._of_memory(value)
        return None

    def _of_project(self, project: dict[str, Any]) -> Iterator[Document]:
        """Name them after their project; no export says which conversations belong to it."""
        name = name_of(project.get("name")) or name_of(project.get("uuid")) or "A project"
        (folder,) = self._own((name,), project.get("uuid"))
        if uuid := name_of(project.get("uuid")):
            self._folders[uuid] = folder
        for title, member in (("Project instructions.md", "prompt_template"), ("Description.md", "description")):
            if text := text_of(project.get(member)):
                yield self._own((folder, title)), text, moment(project.get("updated_at"))
        for document in map(fields_of, items_of(project.get("docs"))):
            if text := text_of(document.get("content")):
                title = name_of(document.get("filename")) or name_of(document.get("uuid")) or "document.md"
                yield self._own((folder, title), document.get("uuid")), text, moment(document.get("created_at"))

    def _of_memory(self, memory: dict[str, Any]) -> Iterator[Document]:
        if text := text_of(memory.get("conversations_memory")):
            yield self._own((_MEMORY, "Conversations.md")), text, None
        for uuid, text in fields_of(memory.get("project_memories")).items():
            if text_of(text):
                name = self._folders.get(uuid) or name_of(uuid) or "A project"
                yield self._own((_MEMORY, "Projects", f"{name}.md"), uuid), text, None
        for file in map(fields_of, items_of(memory.get("memory_files"))):
            parts = [part for part in text_of(file.get("path")).split("/") if part not in ("", ".", "..")][-_DEEPEST:]
            if text := text_of(file.get("content")):
                time = moment(file.get("updated_at")) or moment(file.get("created_at"))
                yield self._own((_MEMORY, "Files", *(parts or ["file.md"]))), text, time

    def _own(self, parts: tuple[str, ...], uuid: Any = None) -> tuple[str, ...]:
        """A name that no other file has, which is the same in the next export: by its id there."""
        *above, name = parts
        end = PurePosixPath(name).suffix if len(parts) > 1 else ""
        # A name may be cut short, or some of its letters replaced, where the file is put.
        number, stem = 1, name.removesuffix(end)
        while (key := tuple(part.casefold() for part in (*above, name))) in self._names:
            mark = (name_of(uuid) or str(number + 1))[:_SHORT] if number == 1 else f"{number}"
            name, number = f"{stem} ({mark}){end}", number + 1
        self._names.add(key)
        return (*above, name)
