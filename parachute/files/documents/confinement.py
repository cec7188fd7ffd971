"""The command line of the process that reads a document: no network, no vault, no other program, and nothing to write.

On macOS, which has no bubblewrap, the process is the same with its limits alone; elsewhere nothing is read without it.
"""

import shutil
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from parachute.base.errors import Unavailable
from parachute.sandbox.engines.bubblewrap import (
    ISOLATION,
    interpreter,
    kernel_files,
    library_folders,
    memory_folder,
    system_files,
)

_LIBRARIES = "/opt/parachute/lib"
_PACKAGES = ("parachute", "pypdfium2", "pypdfium2_raw", "pypdfium2_cfg")
_MODULE = "parachute.files.documents.program"
_ENVIRONMENT = {"LANG": "C.UTF-8", "OMP_THREAD_LIMIT": "1"}
_TESSERACT = "tesseract"


def command(kind: str) -> list[str]:
    """Return the command line that reads its standard input as a document of a kind; error: Unavailable without a sandbox."""
    return [*_confined(), _MODULE, kind]


def reads(kind: str) -> bool:
    """Return True where what reads a kind is installed: a library for PDF, for pictures a program of the machine."""
    if kind == "picture":
        return sys.platform == "linux" and shutil.which(_TESSERACT) is not None
    return kind != "pdf" or _has_pdfium()


@cache
def _has_pdfium() -> bool:
    return find_spec("pypdfium2") is not None


def environment() -> dict[str, str]:
    """Return the variables of the process, where no sandbox sets its own."""
    return {**_ENVIRONMENT, "PATH": _search_path()}


def _confined() -> tuple[str, ...]:
    found = library_folders(_PACKAGES)
    program = shutil.which("bwrap")
    if program is None and sys.platform == "linux":
        raise Unavailable(
            "Documents are not read: without bubblewrap nothing can hold the program that reads them back.",
            "`sudo apt-get install bubblewrap` installs it on Debian and Ubuntu.",
            key="no_confinement",
        )
    if program is None:
        places = dict.fromkeys(str(Path(folder).parent) for folder in found.values())
        return (sys.executable, "-ISB", "-c", _start(list(places)))
    arguments = [program, *ISOLATION, *kernel_files()]
    # First, since what follows may lie below them: an interpreter in /tmp.
    for folder, megabytes in (("/tmp", 16), ("/run", 1)):  # noqa: S108 - inside of the sandbox
        arguments += memory_folder(folder, megabytes)
    arguments += system_files()
    for name, folder in found.items():
        arguments += ["--ro-bind", folder, f"{_LIBRARIES}/{name}"]
    arguments += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/"]
    for name, value in environment().items():
        arguments += ["--setenv", name, value]
    return (*arguments, "--", interpreter(), "-ISB", "-c", _start([_LIBRARIES]))


def _start(places: list[str]) -> str:
    return (
        f"import sys; sys.path += {places!r}; import runpy; "
        "sys.argv = sys.argv[1:]; runpy.run_module(sys.argv[0], run_name='__main__', alter_sys=False)"
    )


def _search_path() -> str:
    program = shutil.which(_TESSERACT)
    own = [str(Path(program).parent)] if program else []
    return ":".join(dict.fromkeys((*own, "/usr/bin", "/bin")))
