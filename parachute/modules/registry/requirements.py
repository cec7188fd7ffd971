"""Requirements that a module may have, and the lock of the packages that answer them."""

import hashlib
import re
import sys
import sysconfig
from pathlib import Path

from msgspec import Struct

from parachute.base.answers import Answer
from parachute.base.errors import InvalidInput
from parachute.base.files import read_regular
from parachute.modules.manifest.models import REQUIREMENT

_WHEEL = re.compile(r"([A-Za-z0-9._]+)-([A-Za-z0-9._+!]+)(?:-[0-9][A-Za-z0-9_.]*)?-[^-]+-[^-]+-[^-]+\.whl")
_LINE = re.compile(r"([A-Za-z0-9._]+)==([A-Za-z0-9._+!]+) --hash=sha256:([0-9a-f]{64})")
_MAXIMUM = 100
_LOCK_BYTES = 1024 * 1024


class Package(Answer, frozen=True):
    """One wheel: the name and version in its file name, and the digest of its content in hex."""

    name: str
    version: str
    sha256: str


class Lock(Struct, frozen=True):
    """The exact packages that answer `requires` on the interpreter with this tag."""

    requires: tuple[str, ...]
    interpreter: str
    packages: tuple[Package, ...]

    def render(self) -> str:
        """The text of `lock.txt`, which pip reads too."""
        lines = [f"# interpreter: {self.interpreter}", *(f"# requires: {text}" for text in self.requires)]
        lines += [f"{each.name}=={each.version} --hash=sha256:{each.sha256}" for each in self.packages]
        return "\n".join(lines) + "\n"

    @classmethod
    def read(cls, path: Path) -> "Lock":
        """The lock in a file; errors: OSError, InvalidInput."""
        requires, interpreter, packages = [], "", []
        for number, line in enumerate(read_regular(path, _LOCK_BYTES).decode().splitlines(), 1):
            if line.startswith("# interpreter: "):
                interpreter = line.removeprefix("# interpreter: ")
            elif line.startswith("# requires: "):
                requires.append(line.removeprefix("# requires: "))
            elif match := _LINE.fullmatch(line):
                packages.append(Package(*match.groups()))
            else:
                raise InvalidInput(f"{path}, line {number}: this is no line of a lock.", key="lock_invalid")
        return cls(tuple(requires), interpreter, tuple(packages))


def interpreter_tag() -> str:
    """The tag of this interpreter: implementation, version, platform and C library, to which compiled packages are tied."""
    return f"{sys.implementation.cache_tag}-{sysconfig.get_config_var('SOABI')}-{sysconfig.get_platform()}"


def check_requirements(requires: tuple[str, ...]) -> None:
    """Error: InvalidInput for the first that is more than a name with versions."""
    if len(requires) > _MAXIMUM:
        raise InvalidInput(f"dependencies: at most {_MAXIMUM} are allowed.", key="too_many_dependencies")
    for text in requires:
        if len(text) > 300 or not REQUIREMENT.fullmatch(text):
            raise InvalidInput(
                f"dependencies: {text[:80]!r} is not allowed.",
                "Write a name and versions, such as pyyaml>=6.0. Addresses, paths and options are not taken.",
                key="invalid_dependency",
            )


def locked_wheels(requires: tuple[str, ...], wheels: Path) -> Lock:
    """The lock that the files of a folder make; error: InvalidInput if one is not a wheel."""
    packages = []
    for path in sorted(wheels.iterdir()):
        match = _WHEEL.fullmatch(path.name)
        if match is None or path.is_symlink() or not path.is_file():
            raise InvalidInput(
                f"dependencies: {path.name[:80]} is not a wheel.",
                "Only wheels are installed: building a package runs its code before you approved it.",
                key="not_a_wheel",
            )
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        packages.append(Package(match[1], match[2], digest))
    return Lock(requires, interpreter_tag(), tuple(packages))
