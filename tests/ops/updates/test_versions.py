"""Code that the versions of the long tests change exists."""

from pathlib import Path

import parachute

from . import versions

ROOT = Path(parachute.__file__).parents[1]


def test_each_text_that_a_version_changes_is_in_its_file() -> None:
    all_changes = [value for name, value in vars(versions).items() if name.isupper() and isinstance(value, dict)]
    assert len(all_changes) > 6
    for path, (before, _) in (item for changes in all_changes for item in changes.items()):
        assert before in (ROOT / path).read_text(), (path, before)
