"""Reading and changing `config.yaml`, over which goes what the system's configuration declares."""

import os
from collections.abc import Callable, Iterable
from typing import Any

import yaml

from parachute.base.documents import NotYaml
from parachute.base.documents import load as load_value
from parachute.base.files import atomic_write, locked, read_regular
from parachute.config.declared.file import load as load_declaration
from parachute.config.declared.settings import declares
from parachute.config.settings import checking
from parachute.config.settings.checking import MEND, ConfigError, is_valid, parse, removed_lines, validate
from parachute.config.settings.expectations import field_of, is_list, is_text, takes_word
from parachute.config.settings.home import Home
from parachute.config.settings.models import Settings

_LIMIT = 1024 * 1024


def load(home: Home) -> Settings:
    """The settings in force; errors: ConfigError naming file and line, key, or the variable, DeclarationInvalid."""
    return validate(home, _read_text(home))


def read_document(home: Home) -> dict[str, Any]:
    """The content of the file, unchecked; error: ConfigError if it is no YAML mapping."""
    return parse(home, _read_text(home))


def removed_settings(home: Home) -> dict[str, int]:
    """The settings in the file that are gone, each with its line; error: ConfigError."""
    return removed_lines(home, _read_text(home))


def set_value(home: Home, name: str, value: str) -> Settings:
    """Write one setting (`port`, `offline.model`) after checking the whole file with it, and return all.

    Errors: ConfigError, Declared.
    """
    return _change(home, name, _setting(name, value))[0]


def check_value(home: Home, name: str, value: str) -> None:
    """See that a setting can have a value, and change nothing; errors: ConfigError, Declared."""
    _change(home, name, _setting(name, value), write=False)


def _setting(name: str, value: str) -> Callable[[dict[str, Any]], bool]:
    try:
        parsed = load_value(value) if value else None
    except NotYaml as error:
        raise ConfigError(
            f"The value of {name} cannot be read: {value[:80]!r}.", "Put it in quotes; lists look like [one, two]."
        ) from error

    def edit(document: dict[str, Any]) -> bool:
        parent = document
        *folders, last = name.split(".")
        for folder in folders:
            if parent.get(folder) is None:
                parent[folder] = {}
            parent = parent[folder]
            if not isinstance(parent, dict):
                raise ConfigError(f"{name} is not a setting.", "`parachute config` lists all settings.")
        parent[last] = _fitting(name, value, parsed)
        checking.check_value(name, parent[last])
        return True

    return edit


def _fitting(name: str, written: str, value: object) -> object:
    """A single word as a list where a setting takes lists, and as it was written where one takes texts."""
    field = field_of(name.split("."))
    if field is None or not isinstance(value, str | int | float):
        return value
    if is_text(field):
        # YAML takes 21:30 for a number.
        return value if isinstance(value, str) else written
    return [value] if is_list(field) and not takes_word(field, value) else value


def change_list(home: Home, name: str, *, add: Iterable[str] = (), remove: Iterable[str] = ()) -> tuple[Settings, bool]:
    """Put entries into a setting that is a list, or take them out; returns all, and whether anything has changed.

    What is there is what the file says, or else the default. Errors: ConfigError, Declared.
    """
    path = name.split(".")
    field = field_of(path)
    if field is None or not is_list(field):
        raise ConfigError(f"{name} is not a list.", f"`parachute config set {name} VALUE` sets it.")
    gone = {os.path.expanduser(entry) for entry in remove}  # noqa: PTH111 -- not each of them is a path

    def edit(document: dict[str, Any]) -> bool:
        found: Any = document
        for part in path:
            found = found.get(part) if isinstance(found, dict) else None
        before = [str(entry) for entry in field.default] if found is None else found
        if not isinstance(before, list):
            raise ConfigError(
                f"{name} is {before!r}, not a list.", f"`parachute config set {name} '[one, two]'` sets one."
            )
        kept = [entry for entry in before if os.path.expanduser(str(entry)) not in gone]  # noqa: PTH111
        after = kept + [entry for entry in dict.fromkeys(add) if entry not in kept]
        return after != before and _setting(name, yaml.safe_dump(after))(document)

    return _change(home, name, edit)


def unset_value(home: Home, name: str) -> tuple[Settings, bool]:
    """Take one setting out of the file, so that its default holds; returns all, and whether it was there.

    If it is one of several mistakes, it is removed, and ConfigError names the next one. Errors: ConfigError, Declared.
    """

    def edit(document: dict[str, Any]) -> bool:
        parents = [document]
        *folders, last = name.split(".")
        for folder in folders:
            inner = parents[-1].get(folder)
            if not isinstance(inner, dict):
                return False
            parents.append(inner)
        if last not in parents[-1]:
            return False
        del parents[-1][last]
        for folder, parent, inner in zip(reversed(folders), reversed(parents[:-1]), reversed(parents[1:]), strict=True):
            if not inner:
                del parent[folder]
        return True

    return _change(home, name, edit, removing=True)


def _change(
    home: Home, name: str, edit: Callable[[dict[str, Any]], bool], *, write: bool = True, removing: bool = False
) -> tuple[Settings, bool]:
    """Let `edit` change the document, and write it if it says that it did and the result can be; else nothing changes."""
    check_free(name)
    with locked(home.config):
        text = _read_text(home)
        document = parse(home, text)
        if not edit(document):
            return validate(home, text), False
        changed = yaml.safe_dump(document, sort_keys=False, allow_unicode=True) if document else ""
        if removing and not is_valid(home, text):
            atomic_write(home.config, changed)
            return validate(home, changed), True
        settings = validate(home, changed, name, text)
        if write:
            atomic_write(home.config, changed)
    return settings, True


def check_free(name: str) -> None:
    """Error: Declared if the system's configuration says what a setting is, or something in that group."""
    declaration = load_declaration()
    if found := declares(declaration.settings, name.split(".")):
        raise declaration.refusal(f"The setting {found}", f"settings.{found}")


def _read_text(home: Home) -> str:
    try:
        return read_regular(home.config, _LIMIT).decode()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{home.config} cannot be read: {error}.", MEND) from error
