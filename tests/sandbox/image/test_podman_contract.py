"""The program that stands for Podman keeps to what builds expect of it."""

import pytest

from tests.sandbox.image.conftest import Programs
from tests.sandbox.image.podman_contract import *  # noqa: F403 - the tests
from tests.sandbox.image.podman_contract import Images

pytestmark = pytest.mark.process


@pytest.fixture
def images(programs: Programs) -> Images:
    """Images of the program's own list."""
    return lambda: programs.images
