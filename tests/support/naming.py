"""Folders of tests that are left out of runs that do not name them."""

from pathlib import Path

import pytest


def is_named(config: pytest.Config, folder: Path) -> bool:
    """True if the command line names a folder of tests, or something in it."""
    named = [Path(config.invocation_params.dir, argument.partition("::")[0]).resolve() for argument in config.args]
    return any(path.is_relative_to(folder) for path in named)
