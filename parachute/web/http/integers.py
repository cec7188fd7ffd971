"""Whole numbers in requests, each with a bound: one that SQLite cannot bind would fail inside the computer."""

from typing import Annotated

from pydantic import Field

from parachute.base.integers import LARGEST

RowId = Annotated[int, Field(ge=1, le=LARGEST)]
"""The number under which something is kept."""

Count = Annotated[int, Field(ge=0, le=LARGEST)]
"""A number of things, or the place of one among them."""
