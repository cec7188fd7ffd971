"""Answers that many routes give."""

from typing import Literal

from pydantic import BaseModel


class Done(BaseModel):
    """Answer of a finished request."""

    success: Literal[True] = True
