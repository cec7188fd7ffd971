"""Where in an agent file a field is written."""

import re

from parachute.base.documents import child, compose, line_of

_FIELD = re.compile(r"([A-Za-z_]+(?:\.[A-Za-z_]+)*): ")


def line_in_file(front: str, message: str) -> int:
    """The line of the file, from 1, that a message about the text between the two `---` means; 1 if it cannot be told."""
    named, node, line = _FIELD.match(message), compose(front), 1
    for name in named[1].split(".") if named else ():
        if (found := child(node, name)) is None:
            break
        # The first line of the file is the `---`.
        line, node = line_of(found[0]) + 1, found[1]
    return line
