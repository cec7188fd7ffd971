"""All tests here work in real views."""

import pytest


@pytest.fixture(autouse=True)
def _in_views(views_work: None) -> None:
    """Skip where there are none."""
