"""The bubblewrap sandbox of a module's process: what the consent screen said, and nothing else."""

import fcntl
import os
from pathlib import Path

from parachute.base.errors import InvalidInput
from parachute.base.folders import Folder
from parachute.sandbox.engines import own_process
from parachute.sandbox.engines.own_process import FIRST_FREE
from parachute.supervisor.specifications.host import HostSpecification, specification_path

# What the host process imports outside of Python's own library.
_PACKAGES = ("parachute", "parachute_runner", "msgspec", "yaml", "uvicorn", "h11", "httptools", "click", "ijson")
_COMPILED = "_yaml"  # only there where PyYAML has its part in C


def command(specification: HostSpecification) -> list[str]:
    """The command line of a module's process in its sandbox; descriptor 3 is its listening socket.

    Folders of the vault are opened here, and stay open for the sandbox; so does a pipe on descriptors 8 and 9. Error: InvalidInput
    when a folder that is to be written is a link or cannot be made.
    """
    mounts = ["--ro-bind", specification.code, specification.code]
    # A module without dependencies has no such folder.
    mounts += ["--ro-bind-try", specification.packages, specification.packages]
    own = str(specification_path(specification.name))
    sockets = os.path.dirname(specification.core_socket)  # noqa: PTH120 - text in, text out
    for option, folder in (("--ro-bind", own), ("--ro-bind-try", sockets), ("--bind", specification.data)):
        mounts += [option, folder, folder]
    mounts += _vault(specification)
    packages = (*_PACKAGES, _COMPILED) if own_process.is_installed(_COMPILED) else _PACKAGES
    return own_process.command(
        mounts,
        packages,
        "parachute.modules.host_process",
        ["--sandbox", specification.name],
        root=own.removesuffix(f"/run/module/{specification.name}/spec.json"),
        folder=specification.data,
    )


def _vault(specification: HostSpecification) -> list[str]:
    """The folders of the vault, each as a descriptor that was reached without following a link within the vault.

    An agent that writes there could otherwise put a link in the place of a folder, and open the rest of the home to this sandbox.
    """
    arguments: list[str] = []
    with Folder.open(Path(specification.vault)) as root:
        for path in specification.read:
            try:
                arguments += ["--ro-bind-fd", str(_opened(root, path, specification.vault, make=False)), path]
            except FileNotFoundError:
                continue
            except OSError as error:
                raise InvalidInput(
                    f"{path} cannot be given to the module: {error.strerror}.", key="folder_not_given"
                ) from error
        # After those that are read only, since they may lie inside of one.
        for path in specification.write:
            try:
                arguments += ["--bind-fd", str(_opened(root, path, specification.vault, make=True)), path]
            except OSError as error:
                raise InvalidInput(
                    f"{path} cannot be given to the module: {error.strerror}.", key="folder_not_given"
                ) from error
    return arguments


def _opened(root: Folder, path: str, vault: str, make: bool) -> int:
    inside = Path(path).relative_to(vault)
    if make:
        root.folder(inside, make=True, mode=0o777).close()
    descriptor = root.path_descriptor(inside)
    raised = fcntl.fcntl(descriptor, fcntl.F_DUPFD, FIRST_FREE)
    os.close(descriptor)
    return raised
