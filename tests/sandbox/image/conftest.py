"""Podman and mmdebstrap as programs that keep to the same protocol, so that builds take no minutes and need no rights."""

import io
import json
import os
import stat
import sys
import tarfile
from pathlib import Path

import pytest

from parachute.sandbox.image import recipe

PODMAN = """
import json, os, sys
folder, arguments = "{folder}", sys.argv[1:]
with open(folder + "/calls", "a") as calls:
    calls.write(json.dumps(arguments) + "\\n")
with open(folder + "/images") as images:
    known = json.load(images)
if arguments[0] == "import":
    import hashlib

    made = hashlib.sha256(open(arguments[-1], "rb").read()).hexdigest()
    known[made] = []
    print("sha256:" + made)
elif arguments[:2] == ["image", "list"]:
    print("\\n".join("sha256:" + each for each in known))
elif arguments[:2] == ["image", "inspect"]:
    print(4096)
elif arguments[:2] == ["image", "rm"] and os.path.exists(folder + "/runs") and arguments[2] in open(folder + "/runs").read():
    sys.exit("Error: image used by a container")
elif arguments[:2] == ["image", "rm"]:
    del known[arguments[2]]
elif arguments[0] == "tag":
    known[arguments[1]].append(arguments[2])
else:
    sys.exit(f"podman: {{arguments}}")
with open(folder + "/images", "w") as images:
    json.dump(known, images)
"""

MMDEBSTRAP = """#!/bin/sh
echo "I: retrieving packages"
echo "what a package says"
[ ! -e {folder}/hangs ] || sleep "$(cat {folder}/hangs)"
[ ! -e {folder}/fails ] || {{ echo "E: there is no such mirror" >&2; exit 1; }}
for root; do :; done
cp {folder}/root.tar "$root" && touch -d "@${{SOURCE_DATE_EPOCH:?}}" "$root"
"""

DATABASE = """Package: git
Status: install ok installed
Version: 1:2.47.3-0+deb13u1
Description: fast
 Version: this is a description

Package: old
Status: deinstall ok config-files
Version: 1

Package: curl
Status: install ok installed
Version: 8.14.1-2
"""


class Programs:
    """Folder of the two programs, which record their calls."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "images").write_text("{}")
        with tarfile.open(folder / "root.tar", "w") as root:
            for path, text in (("etc/parachute-recipe", f"{recipe.digest()}\n"), ("var/lib/dpkg/status", DATABASE)):
                member = tarfile.TarInfo(f"./{path}")
                member.size = len(text.encode())
                root.addfile(member, io.BytesIO(text.encode()))
        for name, code in (("podman", f"#!{sys.executable} -IS{PODMAN}"), ("mmdebstrap", MMDEBSTRAP)):
            program = folder / "bin" / name
            program.parent.mkdir(exist_ok=True)
            program.write_text(code.format(folder=folder))
            program.chmod(program.stat().st_mode | stat.S_IXUSR)

    @property
    def images(self) -> dict[str, list[str]]:
        """Ids of the images that there are, with their tags."""
        found: dict[str, list[str]] = json.loads((self.folder / "images").read_text())
        return found

    @property
    def calls(self) -> list[list[str]]:
        """Return the calls of podman."""
        path = self.folder / "calls"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Programs:
    """Both programs are there, and who asks is an ordinary user."""
    folder = tmp_path / "programs"
    folder.mkdir()
    made = Programs(folder)
    monkeypatch.setenv("PATH", f"{folder}/bin:{os.environ['PATH']}")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    return made


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A state directory."""
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    return folder
