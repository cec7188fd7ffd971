"""Files that runs changed, as lines for a person."""

from itertools import groupby
from typing import Any


def waiting_lines(held: list[dict[str, Any]]) -> list[str]:
    """Return the lines about changes that wait; a repository and the like is one line, unless its differences are asked for."""
    lines = []
    for (root, why), group_of in groupby(held, key=lambda line: (line["root"], line["why"])):
        found = list(group_of)
        if len(found) == 1 or "diff" in found[0]:
            for line in found:
                lines += changed_lines(line, f"  waits: {why}")
        else:
            change = found[0]["change"] if found[0]["path"] == root else "changed"
            lines.append(f"    {change:<8} {one_line(root)}  ({len(found)} files and folders)  waits: {why}")
    return lines


def changed_lines(line: dict[str, Any], more: str) -> list[str]:
    """One path with its counts and `more`, and below it its difference if that was asked for."""
    counts = "" if line["added"] is None else f"  +{line['added']} -{line['removed']}"
    shown = [f"    {line['change']:<8} {one_line(line['path'])}{counts}{more}"]
    return shown + [f"      {text}" for text in (line.get("diff") or "").splitlines()]


def one_line(path: str) -> str:
    """A path in which no character ends the line, so that none passes for another path."""
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in path)
