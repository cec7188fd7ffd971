"""A folder of the guest that can only be read for a while, as on a disk that has failed."""

from collections.abc import Iterator
from contextlib import contextmanager

from testinfra.host import Host

from tests.appliance.agents import Agents


@contextmanager
def read_only(computer: Agents, host: Host, folder: str) -> Iterator[None]:
    """Nothing new can be written into a folder, by nobody who runs now: each service has its own view of the files."""
    units = ("parachute-core", "parachute-supervisor")
    processes = [computer.run(f"systemctl --user show {unit} --property=MainPID --value") for unit in units]
    own = [f"nsenter --target {process} --mount -- " for process in processes]
    for enter in own:
        # What is mounted or unmounted elsewhere stays there: it would take a service's own mounts along.
        host.check_output(f"{enter}mount --make-rprivate /")
    entered = ["", *own]
    for enter in entered:
        # Over the old one, which cannot be changed: some of its files are open.
        host.check_output(f"{enter}mount --bind {folder} {folder}")
        host.check_output(f"{enter}mount -o remount,bind,ro {folder}")
    try:
        yield
    finally:
        for enter in entered:
            host.check_output(f"{enter}umount --lazy {folder}")
