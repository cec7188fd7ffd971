"""The packages in an image, and what a new build brought: Debian keeps one version of each, so none can be asked for again."""

from collections.abc import Mapping

_SHOWN = 20


def installed(database: str) -> dict[str, str]:
    """The versions of packages by name, from the text of dpkg's database."""
    versions: dict[str, str] = {}
    for paragraph in database.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in paragraph.splitlines() if ": " in line and line[0] != " ")
        if fields.get("Status", "").endswith(" installed") and {"Package", "Version"} <= fields.keys():
            versions[fields["Package"]] = fields["Version"]
    return dict(sorted(versions.items()))


def changes(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Differences as lines for a person; none for an image without a list of packages."""
    if not before or not after:
        return []
    lines = []
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name), after.get(name)
        if old is None:
            lines.append(f"{name} {new} is new.")
        elif new is None:
            lines.append(f"{name} {old} has gone.")
        elif old != new:
            lines.append(f"{name} is {new} now, and was {old}.")
    if len(lines) > _SHOWN:
        lines[_SHOWN:] = [f"{len(lines) - _SHOWN} more packages are different."]
    return lines
