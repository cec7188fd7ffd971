"""Reading and changing the settings of bots; every method waits for the disk."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from parachute.base.documents import Bounds, NotYaml, load_mapping
from parachute.base.errors import InvalidInput
from parachute.base.files import atomic_write, locked
from parachute.base.private_files import read_private
from parachute.config.declared.models import Declared
from parachute.config.settings.groups.messengers import QuietHours
from parachute.config.settings.home import Home
from parachute.config.settings.store import check_free, load, set_value
from parachute.connectors.configuration.models import PLATFORMS, Configuration, ConfigurationChanges, Platform
from parachute.connectors.configuration.tokens import BotTokens, checked_token

FILE = "bots.yaml"
_COMMON = {"language", "notices"}
_LIMIT = 256 * 1024
_BOUNDS = Bounds(core_schema=True)
"""Of YAML in which 22:00 is a time and no number."""


class BotConfiguration:
    """`bots.yaml`, the group `messengers` of `config.yaml`, and the tokens; read anew each time, since they may be written by hand."""

    def __init__(self, root: Path) -> None:
        self._home = Home(root)
        self._path = root / FILE
        self.tokens = BotTokens(root)

    def read(self) -> Configuration:
        """The settings; error: InvalidInput naming the field."""
        common = load(self._home).messengers
        notices = {"enabled": common.notices, **common.model_dump(include=set(QuietHours.model_fields))}
        try:
            # What an earlier version, or the owner, has written to `bots.yaml` is meant.
            return Configuration.model_validate({"language": common.language, "notices": notices, **self._document()})
        except ValidationError as error:
            raise InvalidInput(
                f"{self._path}: {_said(error)}", "Correct it; until then no bot runs.", key="bots_invalid"
            ) from error

    def move(self) -> None:
        """Move to `config.yaml` what an earlier version has kept for all messengers in `bots.yaml`; error: InvalidInput."""
        with locked(self._path):
            if not _COMMON.isdisjoint(self._document()):
                self._write(self.read())

    def change(self, changes: ConfigurationChanges) -> Configuration:
        """Change settings, what is not sent stays; errors: InvalidInput, Declared, and then nothing has changed."""
        given = {platform: token for platform in PLATFORMS if (token := changes.token(platform))}
        for token in given.values():
            checked_token(token)
        with locked(self._path):
            before = self.read()
            document = before.model_dump()
            if changes.language is not None:
                document["language"] = changes.language
            if changes.notices is not None:
                document["notices"] = changes.notices.model_dump()
            for platform in PLATFORMS:
                document[platform] |= changes.of(platform)
            try:
                changed = Configuration.model_validate(document)
            except ValidationError as error:
                raise InvalidInput(_said(error), key="setting_invalid") from error
            for name, value in _common(changed).items():
                if value != _common(before)[name]:
                    check_free(f"messengers.{name}")
            self._write(changed)
        for platform, token in given.items():
            self.tokens.set(platform, token)
        return changed

    def enable(self, platform: Platform, enabled: bool) -> Configuration:
        """Have a bot run from now on and after a restart, or not any more."""
        with locked(self._path):
            found = self.read()
            found.of(platform).enabled = enabled
            self._write(found)
        return found

    def has_tokens(self) -> dict[Platform, bool]:
        """Return whether each platform has a token; error: InvalidInput."""
        return {platform: self.tokens.of(platform) is not None for platform in PLATFORMS}

    def _document(self) -> dict[str, Any]:
        try:
            return load_mapping(read_private(self._path, _LIMIT).data, _BOUNDS)
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise InvalidInput(
                f"{self._path} cannot be read: {error.strerror or error}.", key="bots_unreadable"
            ) from error
        except NotYaml as error:
            raise InvalidInput(f"{self._path}: {error.message}", key=error.key) from error

    def _write(self, configuration: Configuration) -> None:
        common = load(self._home).messengers
        for name, value in _common(configuration).items():
            if value != getattr(common, name):
                with suppress(Declared):  # which goes over what is in a file
                    set_value(self._home, f"messengers.{name}", json.dumps(value))
        # Second: what is in both files is moved again, and what is in neither would be lost.
        document = configuration.model_dump(exclude=_COMMON)
        atomic_write(self._path, yaml.safe_dump(document, sort_keys=False, allow_unicode=True))


def _common(configuration: Configuration) -> dict[str, Any]:
    """Settings that hold for every messenger, by their names."""
    notices = configuration.notices.model_dump()
    return {"language": configuration.language, "notices": notices.pop("enabled"), **notices}


def _said(error: ValidationError) -> str:
    """Return the errors with the names of their fields, never with the values given there."""
    found = []
    for each in error.errors(include_input=False, include_url=False)[:5]:
        where = ".".join(map(str, each["loc"])) or "the document"
        found.append(f"{where}: {str(each['msg']).removeprefix('Value error, ')}")
    return "; ".join(found) + "."
