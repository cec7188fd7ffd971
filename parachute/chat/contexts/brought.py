"""Files that a context brings with it: what its file imports, and the rules in `.claude/rules` of its folder."""

from dataclasses import replace
from pathlib import Path

from parachute.base.documents import NotYaml
from parachute.base.errors import ParachuteError
from parachute.base.folders import Folder
from parachute.base.steering.imports import MOST, imported
from parachute.chat.contexts.models import ContextFile, Found, Level
from parachute.chat.contexts.reading import Reader
from parachute.core import front_matter
from parachute.security.permissions.vault_files import may_list

_RULES = ".claude/rules"
_DEEPEST, _MOST_ENTRIES = 4, 1_000


class Bringing:
    """Reads in one open folder `top`, which lies at `root`; every method waits for the disk."""

    def __init__(self, reader: Reader, top: Folder, root: Path) -> None:
        self._reader = reader
        self._top = top
        self._root = root

    def file(self, found: Found, place: str, level: Level, folder: str) -> list[ContextFile]:
        """The file of a context with those that it imports, from below a folder of it alone."""
        files = {found.path: found}

        def references(path: str) -> tuple[str, ...] | None:
            if path not in files:
                if not _may_be_read(path, folder):
                    return ()
                files[path] = self._reader.file(self._top, self._root, path)
            each = files[path]
            return None if each.problem == "missing" else each.words.imports if each.words else ()

        main = self._shown(found, place, level)
        brought, not_read = list[ContextFile](), list[str]()
        for above, reference, path in imported(found.path, folder, references):
            if path is None or path not in files:
                not_read.append(reference)
            else:
                each = self._shown(files[path], place, level)
                brought.append(replace(each, brought_by=self._root / above))
        unused = None if main.unused in files else main.unused
        return [replace(main, unused=unused, not_read=tuple(not_read)), *brought]

    def rules(self, place: str, level: Level, folder: str) -> list[ContextFile]:
        """The rules of a folder, with what they import."""
        above = f"{folder}/{_RULES}" if folder else _RULES
        paths = list[str]()
        try:
            with self._top.folder(above) as opened:
                for inside, _, entries in opened.walk(deepest=_DEEPEST, most=_MOST_ENTRIES):
                    names = [each.name for each in entries if each.name.endswith(".md")]
                    paths += [f"{above}/{inside}/{name}" if inside else f"{above}/{name}" for name in names]
        except (OSError, ParachuteError):
            pass  # what was found until then counts
        files = list[ContextFile]()
        for path in sorted(paths)[:MOST]:
            rule, *brought = self.file(self._reader.file(self._top, self._root, path), place, level, folder)
            if rule.words is not None and (where := _where(rule.words.text)):
                rule = replace(rule, text=f"(For {where}.)\n{rule.text}")
            files += [replace(rule, brought_by=self._root / above), *brought]
        return files

    def _shown(self, found: Found, place: str, level: Level) -> ContextFile:
        words, real = found.words, self._root / found.path
        text, digest = (words.body, words.hash) if words else ("", "")
        return ContextFile(
            found.path,
            place,
            level,
            text,
            hash=digest,
            problem=found.problem,
            unused=found.unused,
            real=real,
            words=words,
        )


def _may_be_read(path: str, folder: str) -> bool:
    """Return whether no part of a path below a folder is hidden, but for that of Claude Code, and none may hold a secret."""
    parts = path.removeprefix(f"{folder}/" if folder else "").split("/")
    return all(may_list(part, hidden=part == ".claude") for part in parts)


def _where(text: str) -> str:
    """The files that a rule is for, as its field `paths` names them."""
    try:
        paths = (front_matter.read(text)[0] or {}).get("paths")
    except NotYaml:
        return ""
    found = paths if isinstance(paths, list) else [paths]
    return ", ".join(" ".join(each.split()) for each in found if isinstance(each, str))[:500]
