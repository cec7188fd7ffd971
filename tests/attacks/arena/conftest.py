"""No computer for the whole package: the arena starts servers."""

from tests.conftest import api

__all__ = ["api"]
