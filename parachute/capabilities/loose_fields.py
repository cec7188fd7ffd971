"""Fields that are almost YAML, read line by line as other programs for agents do: most texts of people have a `: ` in a sentence."""

import re
from typing import Any

from parachute.base import documents
from parachute.base.documents import NotYaml
from parachute.core import front_matter

_LIKE_A_FIELD = re.compile(r"\W*[a-z_][\w.-]*[^\w.-]*:|\s*\?(\s|$)")
"""A line that was perhaps meant as a field, such as `"tools": Read`: those that are read have small letters at the beginning."""

_FIELD = re.compile(r"^([A-Za-z_][\w.-]*)[ \t]*:(?=[ \t]|$)", re.MULTILINE)


def read_loosely(front: str, wrong: NotYaml) -> dict[str, Any]:
    """The fields of lines `name: value`, of which only those are text that YAML cannot read; error: `wrong` if there are no such lines.

    What is refused in YAML is refused here: aliases, tags, a field that is there twice. So is a text with a line in it that may be
    meant as a field: fields restrict, and one that is lost would restrict nothing.
    """
    begins = list(_FIELD.finditer(front))
    if not wrong.is_syntax or not begins or _said(front[: begins[0].start()]):
        raise wrong
    found: dict[str, Any] = {}
    for begin, end in zip(begins, [*(each.start() for each in begins[1:]), len(front)], strict=True):
        try:
            read = documents.load_mapping(front[begin.start() : end], front_matter.BOUNDS)
        except NotYaml as error:
            value = front[begin.end() : end]
            text = _said(value)
            if not error.is_syntax or not text.isprintable() or any(map(_LIKE_A_FIELD.match, value.splitlines()[1:])):
                raise wrong from error
            is_quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
            read = {begin[1]: text[1:-1] if is_quoted else text}
        if found.keys() & read.keys():
            raise wrong
        found |= read
    return found


def _said(lines: str) -> str:
    """Lines as one text, without comments."""
    return " ".join(" ".join(line for line in lines.splitlines() if not line.lstrip().startswith("#")).split())
