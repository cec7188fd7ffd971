"""Chains: which files a conversation is told, in which order, and how much of each."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from parachute.base.folders import Folder
from parachute.base.steering.imports import Allowance
from parachute.chat.contexts.brought import Bringing
from parachute.chat.contexts.models import CHAIN_TOKENS, Chain, ContextFile, Level, is_text, shortened, tokens_of
from parachute.chat.contexts.paths import depth_of, is_text_file, parents_of
from parachute.chat.contexts.reading import Reader
from parachute.config.vault.service import Vault
from parachute.security.approved_prompts import shown_name

_CUT = "\n[cut]"
_FEWEST_TOKENS = 50
"""Less of a file than this says nothing."""

_REPOSITORY = ".git"


class _Place(NamedTuple):
    place: str
    level: Level


def read_chain(
    vault: Vault,
    reader: Reader,
    selected: Sequence[str],
    directory: Path | None,
    is_approved: Callable[[str, str], bool] | None,
) -> Chain:
    """The chain of chosen places and of a working directory; waits for the disk.

    `is_approved` is given for what runs directly: it says whether a file, by its name and text, may steer that. What does not fit
    is cut from the file that is least near to the work, the vault's own.
    """
    groups, allowance = list[list[ContextFile]](), Allowance()
    root = vault.root.resolve()
    directory = directory if directory is not None and is_text(str(directory)) else None
    inside, outside = _in_vault(root, directory), _outside(root, directory, is_hierarchy=is_approved is not None)
    # The nearest first, so that what a far one brings takes no room from it.
    for folder in reversed(outside):
        with suppress(OSError), Folder.open_unlinked(folder) as top:
            bringing = Bringing(reader, top, folder, allowance)
            why: Level = "directory" if folder == outside[-1] else "parent"
            found = bringing.own(reader.in_folder(top, folder, ""), why)
            own = bringing.file(found, str(folder), why, "") if found.problem != "missing" else []
            here = (*own, *bringing.rules(str(folder), why, ""))
            groups.append([replace(e, path=str(e.real), unused=e.unused and str(folder / e.unused)) for e in here])
    with suppress(OSError), Folder.open(root) as top:
        bringing = Bringing(reader, top, root, allowance)
        groups += (_of_place(bringing, reader, top, root, each) for each in reversed(_places(selected, inside)))
    files = _each_once(each for group in reversed(groups) for each in group)
    working = str(outside[-1]) if outside else inside
    return Chain(tuple(_cut([_checked(vault, each, is_approved) for each in files])), working)


def _of_place(bringing: Bringing, reader: Reader, top: Folder, root: Path, of: _Place) -> list[ContextFile]:
    """The files of one place of the vault."""
    place, level = of
    is_file = is_text_file(place) and level == "direct"
    found = reader.file(top, root, place) if is_file else None
    if found is None or found.problem == "missing":
        is_file, found = False, reader.in_folder(top, root, place)
    found, above = bringing.own(found, level), place.rpartition("/")[0] if is_file else place
    own = bringing.file(found, place, level, above) if level == "direct" or found.problem != "missing" else []
    return own if is_file else [*own, *bringing.rules(place, level, above)]


def _each_once(files: Iterable[ContextFile]) -> list[ContextFile]:
    """Each file once: as that of its own place, and else where it is nearest, with all that bring it."""
    found = dict[Path, ContextFile]()
    for each in files:
        before = found.get(each.real)
        if before is None or not each.brought_by:
            found.pop(each.real, None)
            found[each.real] = each
        elif before.brought_by:
            del found[each.real]
            found[each.real] = replace(each, brought_by=(*before.brought_by, *each.brought_by))
    return list(found.values())


def _places(selected: Sequence[str], directory: str | None) -> list[_Place]:
    """The places in the vault, each once: its own, those above, the chosen ones and the working directory."""
    chosen = sorted(dict.fromkeys(selected), key=depth_of)
    working = [] if directory is None else [directory]
    known = {"", *chosen, *working}
    above = {parent for place in (*chosen, *working) for parent in parents_of(place)} - known
    found = [_Place("", "root")]
    found += (_Place(place, "parent") for place in sorted(above, key=lambda each: (depth_of(each), each)))
    found += (_Place(place, "direct") for place in chosen if place)
    found += (_Place(place, "directory") for place in working if place and place not in chosen)
    return found


def _in_vault(root: Path, directory: Path | None) -> str | None:
    if directory is None or not directory.resolve().is_relative_to(root):
        return None
    place = str(directory.resolve().relative_to(root))
    return "" if place == "." else place


def _outside(root: Path, directory: Path | None, *, is_hierarchy: bool) -> list[Path]:
    """A project elsewhere; `is_hierarchy`: from the top of its repository down to it."""
    if directory is None or (real := directory.resolve()).is_relative_to(root):
        return []
    if is_hierarchy:
        for number, folder in enumerate((real, *real.parents)):
            if folder == Path.home() or folder == Path(folder.anchor):
                break
            if (folder / _REPOSITORY).exists():
                return [*reversed(real.parents[:number]), real]
    return [real]


def _checked(vault: Vault, file: ContextFile, is_approved: Callable[[str, str], bool] | None) -> ContextFile:
    if is_approved is None or file.words is None or not file.text:
        return file
    if is_approved(shown_name(vault.root, file.real), file.words.text):
        return file
    return replace(file, text="", needs_approval=True)


def _cut(files: Sequence[ContextFile]) -> list[ContextFile]:
    """Give each file its share, the nearest first."""
    left, found = CHAIN_TOKENS, list[ContextFile]()
    for file in reversed(files):
        tokens = tokens_of(file.text)
        if tokens <= left:
            found.append(replace(file, tokens=tokens))
        elif left < _FEWEST_TOKENS:
            found.append(replace(file, text="", tokens=0, is_cut=True))
            tokens = 0
        else:
            text = shortened(file.text, left - tokens_of(_CUT)).rstrip() + _CUT
            tokens = tokens_of(text)
            found.append(replace(file, text=text, tokens=tokens, is_cut=True))
        left -= tokens
    return found[::-1]
