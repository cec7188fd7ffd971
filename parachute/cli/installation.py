"""Services of this installation that import pydantic, which takes longer than a page of help: not at the top."""

from pathlib import Path
from typing import TYPE_CHECKING

from parachute.base.errors import InvalidInput
from parachute.config.settings.home import Home

if TYPE_CHECKING:
    from parachute.capabilities.plugins.library import Library
    from parachute.cli.settings import SettingsFile
    from parachute.config.settings.models import Settings
    from parachute.modules.registry.service import Modules


def settings(home: Home | None = None) -> "Settings":
    """The settings in force; error: ConfigError."""
    from parachute.config.settings.store import load

    return load(home or Home.find())


def user_home(home: Home) -> Path | None:
    """The user's folder, if what Claude Code keeps in there counts."""
    return Path.home() if settings(home).capabilities.read_home else None


def project(directory: Path | None) -> Path | None:
    """A project's folder, as --directory names it; error: InvalidInput for what is none."""
    if directory is not None and not directory.is_dir():
        raise InvalidInput(f"--directory: there is no folder {directory}.", key="no_such_folder")
    return directory and directory.absolute()


def library(home: Home) -> "Library":
    """The installed plugins."""
    from parachute.capabilities.plugins.library import Library

    return Library(home, user_home(home))


def settings_file(home: Home) -> "SettingsFile":
    """The settings with where they come from, and to change."""
    from parachute.cli.settings import SettingsFile

    return SettingsFile(home)


def modules(home: Home) -> "Modules":
    """The installed modules."""
    from parachute.modules.registry.service import Modules

    found = settings(home)
    return Modules(home, found.vault, projects=found.project_folders)
