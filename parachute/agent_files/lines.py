"""Where in an agent file a field is written."""

import re

import yaml

_FIELD = re.compile(r"([A-Za-z_]+(?:\.[A-Za-z_]+)*): ")


def line_of(front: str, message: str) -> int:
    """The line of the file, from 1, that a message about the text between the two `---` means; 1 if it cannot be told."""
    named = _FIELD.match(message)
    try:
        node = yaml.compose(front, yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        return mark.line + 2 if mark else 1
    except (yaml.YAMLError, ValueError, RecursionError):
        return 1
    line = 1
    for name in named[1].split(".") if named else ():
        if not isinstance(node, yaml.MappingNode):
            break
        found = [(key, value) for key, value in node.value if isinstance(key, yaml.ScalarNode) and key.value == name]
        if not found:
            break
        key, node = found[0]
        # The first line of the file is the `---`, and marks count from 0.
        line = key.start_mark.line + 2
    return line
