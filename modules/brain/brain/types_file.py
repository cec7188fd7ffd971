"""Brain/types.yaml: the kinds of entities, the defaults until the user changes something."""

from collections.abc import Mapping
from typing import Any

from parachute.core import Conflict, InvalidInput, NotFound, ParachuteError, front_matter
from parachute.core.files import Files

from . import yaml_text
from .entity import ROOT
from .entity_types import DEFAULTS, Kind

PATH = "Brain/types.yaml"

_MOST = 100


class TypesFile:
    """Reads the file when it has changed, and changes it without touching what stays the same.

    A file that cannot be read changes nothing: the last good kinds hold, and `problem` says why.
    """

    def __init__(self, files: Files) -> None:
        self._files = files
        self._seen: tuple[int, int] | None = None
        self._kinds: dict[str, Kind] = {kind.name: kind for kind in DEFAULTS}
        self.problem: str | None = None

    async def all(self) -> dict[str, Kind]:
        """Kinds by name; error: none of the file's own."""
        status = await self._files.stat(PATH)
        if status != self._seen:
            try:
                self._kinds, self.problem = _kinds(await self._text()), None
            except ParachuteError as error:
                self.problem = error.message
            # Afterwards: who asks meanwhile must not take the old kinds for the new ones.
            self._seen = status
        return self._kinds

    async def get(self, name: str) -> Kind:
        """One kind, whatever the case of its name; error: InvalidInput naming those that there are."""
        kinds = await self.all()
        found = find(kinds, name)
        if found is None:
            raise InvalidInput(
                f"type: there is no type {name[:40]!r}; there are {', '.join(kinds)}.", key="unknown_type"
            )
        return found

    async def check_new(self, name: str, value: Mapping[str, Any]) -> Kind:
        """The kind that `create` would add; errors: InvalidInput, Conflict."""
        kinds = await self.all()
        kind = Kind.of(name, value)
        if find(kinds, name) is not None:
            raise Conflict(f"There is a type {name} already.", "Change it, or choose another name.", key="type_exists")
        if len(kinds) >= _MOST:
            raise InvalidInput(f"name: there are {_MOST} types already.", key="too_many_types")
        _check_folder(kind, kinds)
        return kind

    async def create(self, name: str, value: Mapping[str, Any]) -> Kind:
        """Add a kind; errors: InvalidInput, Conflict."""
        kind = await self.check_new(name, value)
        await self._write(kind.name, kind)
        return kind

    async def change(self, name: str, value: Mapping[str, Any]) -> Kind:
        """Change what is given of a kind; its folder stays, since its entities lie there. Errors: NotFound, InvalidInput."""
        kinds = await self.all()
        known = find(kinds, name)
        if known is None:
            raise NotFound(f"There is no type {name[:40]!r}.", key="no_such_type")
        kind = Kind.of(known.name, known.document() | {key: item for key, item in value.items() if item is not None})
        if kind.folder != known.folder:
            raise InvalidInput("folder: the entities lie there; it cannot be changed.", key="folder_fixed")
        await self._write(kind.name, kind)
        return kind

    async def remove(self, name: str) -> None:
        """Remove a kind; error: NotFound."""
        kinds = await self.all()
        known = find(kinds, name)
        if known is None:
            raise NotFound(f"There is no type {name[:40]!r}.", key="no_such_type")
        await self._write(known.name, None)

    async def _text(self) -> str | None:
        if await self._files.stat(PATH) is None:
            return None
        return await self._files.read(PATH)

    async def _write(self, name: str, kind: Kind | None) -> None:
        text = await self._text()
        kinds = _kinds(text)  # one that cannot be read is not overwritten
        wanted = {key: entry.document() for key, entry in kinds.items() if key != name}
        if kind is not None:
            wanted = {key: wanted.get(key, kind.document()) for key in dict.fromkeys([*kinds, name])}
        if text is None:
            new = yaml_text.write({"types": wanted})
        else:
            new = _edited(text, name, None if kind is None else kind.document(), wanted)
        if not await self._files.replace(PATH, new, None if text is None else text.encode()):
            raise Conflict(f"{PATH} was changed meanwhile.", "Try again.", key="changed_meanwhile")
        self._seen = None


def find(kinds: Mapping[str, Kind], name: str) -> Kind | None:
    """A kind by its name or its folder, whatever their case."""
    wanted = name.casefold()
    by_name = (kind for kind in kinds.values() if kind.name.casefold() == wanted)
    by_folder = (kind for kind in kinds.values() if kind.folder.casefold() == wanted)
    return next(by_name, None) or next(by_folder, None)


def folder_of(path: str) -> str:
    """The folder below Brain/entities that a file lies in; empty for none."""
    folder, slash, _ = path.removeprefix(f"{ROOT}/").partition("/")
    return folder if slash else ""


def type_of(kinds: Mapping[str, Kind], written: str, folder: str) -> str:
    """The type of an entity: what its file says, or else that of the folder it lies in."""
    if written:
        found = find(kinds, written)
        return found.name if found else written[:40]
    return next((kind.name for kind in kinds.values() if kind.folder.casefold() == folder.casefold()), "")


def _kinds(text: str | None) -> dict[str, Kind]:
    if text is None:
        return {kind.name: kind for kind in DEFAULTS}
    try:
        types = yaml_text.read(text).get("types")
    except yaml_text.NotYaml as error:
        raise InvalidInput(f"{PATH}: {error}.", key="types_invalid") from error
    if not isinstance(types, Mapping):
        raise InvalidInput(f"{PATH}: `types:` with the types below it is expected.", key="types_missing")
    found: dict[str, Kind] = {}
    for name, value in types.items():
        kind = Kind.of(name, value)
        if find(found, name) is not None:
            raise InvalidInput(f"{PATH}: two types are called {name}.", key="type_twice")
        _check_folder(kind, found)
        found[name] = kind
    return found


def _check_folder(kind: Kind, kinds: Mapping[str, Kind]) -> None:
    for other in kinds.values():
        if other.folder.casefold() == kind.folder.casefold():
            raise InvalidInput(f"folder: {kind.folder} belongs to {other.name} already.", key="folder_taken")


def _edited(text: str, name: str, document: dict[str, Any] | None, wanted: dict[str, Any]) -> str:
    """The file with one type changed; comments and other types stay as they are written."""
    newline = "\r\n" if "\r\n" in text else "\n"
    try:
        return front_matter.edit(text, {("types", name): document}, newline, yaml_text.BOUNDS)
    except front_matter.NotEditable:
        return yaml_text.edit(text, {"types": wanted}, newline)
