"""A model for each test, and no computer: what is attacked here is core without one."""

from tests.conftest import api

__all__ = ["api"]
