"""Contents that arrive in pieces, for modules."""

from parachute.base.pieces import Announced, Pieces

__all__ = ["Announced", "Pieces"]
