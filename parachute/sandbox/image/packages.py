"""The packages in an image, and what a new build brought: Debian keeps one version of each, so none can be asked for again."""

import re
from collections.abc import Iterable, Iterator, Mapping

_SHOWN = 20
_DEPENDENCY = re.compile(r"[a-z0-9][a-z0-9+.-]*")


def installed(database: str) -> dict[str, str]:
    """The versions of packages by name, from the text of dpkg's database."""
    return dict(sorted((name, fields["Version"]) for name, fields in _packages(database)))


def shares(database: str, wanted: Iterable[str]) -> dict[str, int]:
    """The bytes that an image would be smaller by without each of the wanted packages, and what nothing else needs then."""
    found = dict(_packages(database))
    bring: dict[str, set[str]] = {}  # names of packages by what they are called or provide
    for name, fields in found.items():
        for called in (name, *_DEPENDENCY.findall(fields.get("Provides", ""))):
            bring.setdefault(called, set()).add(name)
    needs = {
        name: {
            package
            for clause in re.split(r"[,|]", f"{fields.get('Depends', '')},{fields.get('Pre-Depends', '')}")
            if (called := _DEPENDENCY.match(clause.strip()))
            for package in bring.get(called[0], ())
        }
        for name, fields in found.items()
    }
    base = {name for name, fields in found.items() if fields.get("Priority") == "required"}
    wanted = {name for name in wanted if name in found}

    def kilobytes(roots: set[str]) -> int:
        reached, waiting = set(roots), list(roots)
        while waiting:
            new = needs[waiting.pop()] - reached
            reached |= new
            waiting += new
        return sum(int(found[name].get("Installed-Size", "0")) for name in reached)

    everything = kilobytes(base | wanted)
    return {name: (everything - kilobytes(base | wanted - {name})) << 10 for name in sorted(wanted)}


def _packages(database: str) -> Iterator[tuple[str, dict[str, str]]]:
    for paragraph in database.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in paragraph.splitlines() if ": " in line and line[0] != " ")
        if fields.get("Status", "").endswith(" installed") and {"Package", "Version"} <= fields.keys():
            yield fields["Package"], fields


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
