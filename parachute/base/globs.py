"""Patterns of paths: `*` within a name, `**` any folders."""

import re
from collections.abc import Callable, Iterable


def matcher(patterns: Iterable[str]) -> Callable[[str], bool]:
    """Make a test for whole paths (`a/b`): True if one of the patterns matches."""
    texts = []
    for pattern in patterns:
        parts = re.split(r"(\*\*/|\*)", pattern)
        texts.append("".join({"**/": "(?:.*/)?", "*": "[^/]*"}.get(part, re.escape(part)) for part in parts))
    expression = re.compile("|".join(texts), re.DOTALL)
    return lambda path: expression.fullmatch(path) is not None
