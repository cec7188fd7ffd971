"""Shapes of transcripts, as Claude Code and its neighbours leave them, each made by a few lines."""

from . import branches, compactions, notices, tools, torn
from .writing import Talk

SHAPES = {
    f"{module.__name__.rpartition('.')[2]}: {name.replace('_', ' ')}": make
    for module in (branches, compactions, notices, tools, torn)
    for name, make in vars(module).items()
    if getattr(make, "__module__", None) == module.__name__ and not name.startswith("_")
}
"""The builders that write a shape into a new transcript, by its name."""

__all__ = ["SHAPES", "Talk"]
