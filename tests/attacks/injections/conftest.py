"""A model for each test, and no computer: what is attacked here is core without one."""

from collections.abc import Iterator

import pytest

from tests.support.messages_api import MessagesAPI


@pytest.fixture
def api() -> Iterator[MessagesAPI]:
    """A scripted model service."""
    with MessagesAPI() as service:
        yield service
