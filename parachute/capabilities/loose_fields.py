"""Fields that are almost YAML, read line by line as other programs for agents do: most texts of people have a `: ` in a sentence."""

import re
from typing import Any

from parachute.base import documents
from parachute.base.documents import NotYaml
from parachute.core import front_matter

_FIELD = re.compile(r"^([A-Za-z_][\w.-]*)[ \t]*:(?=[ \t]|$)", re.MULTILINE)


def read_loosely(front: str, wrong: NotYaml) -> dict[str, Any]:
    """The fields of lines `name: value`, of which only those are text that YAML cannot read; error: `wrong` if there are no such lines.

    What is refused in YAML is refused here: aliases, tags, a field that is there twice.
    """
    begins = list(_FIELD.finditer(front))
    if not wrong.is_syntax or not begins or _said(front[: begins[0].start()]):
        raise wrong
    found: dict[str, Any] = {}
    for begin, end in zip(begins, [*(each.start() for each in begins[1:]), len(front)], strict=True):
        if begin[1] in found:
            raise wrong
        try:
            found |= documents.load_mapping(front[begin.start() : end], front_matter.BOUNDS)
        except NotYaml as error:
            text = _said(front[begin.end() : end])
            if not error.is_syntax or not text.isprintable():
                raise wrong from error
            is_quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
            found[begin[1]] = text[1:-1] if is_quoted else text
    return found


def _said(lines: str) -> str:
    """Lines as one text, without comments."""
    return " ".join(" ".join(line for line in lines.splitlines() if not line.lstrip().startswith("#")).split())
