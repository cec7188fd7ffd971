"""Files that a context brings with it: what its file imports, and the rules in `.claude/rules` of its folder."""

from dataclasses import replace
from functools import partial
from pathlib import Path

from parachute.base.documents import NotYaml
from parachute.base.errors import ParachuteError
from parachute.base.folders import Folder
from parachute.base.steering.imports import MOST, Allowance, imported
from parachute.chat.contexts.models import ContextFile, Found, Level
from parachute.chat.contexts.reading import Reader
from parachute.core import front_matter
from parachute.security.permissions.vault_files import may_list

_RULES = ".claude/rules"
_DEEPEST, _MOST_ENTRIES = 4, 1_000


class Bringing:
    """Reads in one open folder `top`, which lies at `root`, what `allowance` leaves; every method waits for the disk."""

    def __init__(self, reader: Reader, top: Folder, root: Path, allowance: Allowance) -> None:
        self._reader = reader
        self._top = top
        self._root = root
        self._allowance = allowance

    def own(self, found: Found, level: Level) -> Found:
        """The file of a place itself, without its words where those of nearer ones are too large together."""
        has_room = self._allowance.take_own(found.size)
        # The vault's own is the owner's word for all conversations: nothing nearer takes it away.
        return (
            found if has_room or found.words is None or level == "root" else found._replace(words=None, problem="large")
        )

    def file(self, found: Found, place: str, level: Level, folder: str) -> list[ContextFile]:
        """The file of a context with those that it imports, from below a folder of it alone."""
        brought, not_read = dict[str, ContextFile](), list[str]()
        may_read = partial(_may_be_read, folder=folder)
        for each in imported(found.path, found, folder, self._found, self._allowance, may_read):
            if each.file is None:
                not_read.append(each.reference)
            elif each.path != found.path:
                file = brought.get(each.path) or self._shown(each.file, place, level)
                brought[each.path] = replace(file, brought_by=(*file.brought_by, self._root / each.above))
        main = self._shown(found, place, level)
        unused = None if main.unused in brought else main.unused
        return [replace(main, unused=unused, not_read=tuple(not_read)), *brought.values()]

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
        for path in sorted(each for each in paths if _may_be_read(each, folder))[:MOST]:
            if not self._allowance.has_room:
                break
            found = self._reader.file(self._top, self._root, path)
            self._allowance.take(found.size)
            rule, *brought = self.file(found, place, level, folder)
            if rule.words is not None and (where := _where(rule.words.text)):
                rule = replace(rule, text=f"(For {where}.)\n{rule.text}")
            files += [replace(rule, brought_by=(self._root / above,)), *brought]
        return files

    def _found(self, path: str) -> Found | None:
        found = self._reader.file(self._top, self._root, path)
        return None if found.problem == "missing" else found

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
    """Return whether no part of a path below a folder may hold a secret or is hidden, but for the rules of Claude Code."""
    # What else is in `.claude`, settings and the transcripts of other conversations, is for programs.
    inside = f"/{path.removeprefix(f'{folder}/' if folder else '')}".replace(f"/{_RULES}/", "/")
    return all(may_list(part, hidden=False) for part in inside[1:].split("/"))


def _where(text: str) -> str:
    """The files that a rule is for, as its field `paths` names them."""
    try:
        paths = (front_matter.read(text)[0] or {}).get("paths")
    except NotYaml:
        return ""
    found = paths if isinstance(paths, list) else [paths]
    return ", ".join(" ".join(each.split()) for each in found if isinstance(each, str))[:500]
