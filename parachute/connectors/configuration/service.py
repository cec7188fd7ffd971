"""Reading and changing the settings of bots; every method waits for the disk."""

from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from parachute.base.documents import Bounds, NotYaml, load_mapping
from parachute.base.errors import InvalidInput
from parachute.base.files import atomic_write, locked
from parachute.base.private_files import read_private
from parachute.connectors.configuration.models import PLATFORMS, Configuration, ConfigurationChanges, Platform
from parachute.connectors.configuration.tokens import BotTokens, checked_token

FILE = "bots.yaml"
_LIMIT = 256 * 1024
_BOUNDS = Bounds(core_schema=True)
"""Of YAML in which 22:00 is a time and no number."""


class BotConfiguration:
    """`bots.yaml` in the state directory, and the tokens; read anew each time, since it may be written by hand."""

    def __init__(self, root: Path) -> None:
        self._path = root / FILE
        self.tokens = BotTokens(root)

    def read(self) -> Configuration:
        """The settings; error: InvalidInput naming the field."""
        try:
            data = read_private(self._path, _LIMIT).data
        except FileNotFoundError:
            return Configuration()
        except OSError as error:
            raise InvalidInput(f"{self._path} cannot be read: {error.strerror or error}.") from error
        try:
            return Configuration.model_validate(load_mapping(data, _BOUNDS))
        except NotYaml as error:
            raise InvalidInput(f"{self._path}: {error.message}", key=error.key) from error
        except ValidationError as error:
            raise InvalidInput(f"{self._path}: {_said(error)}", "Correct it; until then no bot runs.") from error

    def change(self, changes: ConfigurationChanges) -> Configuration:
        """Change settings, what is not sent stays; errors: InvalidInput, and then nothing has changed."""
        given = {platform: token for platform in PLATFORMS if (token := changes.token(platform))}
        for token in given.values():
            checked_token(token)
        with locked(self._path):
            document = self.read().model_dump()
            if changes.language is not None:
                document["language"] = changes.language
            if changes.notices is not None:
                document["notices"] = changes.notices.model_dump()
            for platform in PLATFORMS:
                document[platform] |= changes.of(platform)
            try:
                changed = Configuration.model_validate(document)
            except ValidationError as error:
                raise InvalidInput(_said(error)) from error
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

    def as_json(self) -> dict[str, Any]:
        """The form of the app; error: InvalidInput."""
        return self.read().as_json(self.has_tokens())

    def _write(self, configuration: Configuration) -> None:
        atomic_write(self._path, yaml.safe_dump(configuration.model_dump(), sort_keys=False, allow_unicode=True))


def _said(error: ValidationError) -> str:
    """Return the errors with the names of their fields, never with the values given there."""
    found = []
    for each in error.errors(include_input=False, include_url=False)[:5]:
        where = ".".join(map(str, each["loc"])) or "the document"
        found.append(f"{where}: {str(each['msg']).removeprefix('Value error, ')}")
    return "; ".join(found) + "."
