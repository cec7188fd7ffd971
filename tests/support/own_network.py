"""A network for each worker of pytest: what one test does to its addresses and ports, no other test sees.

A browser drops every connection when an address of its machine comes or goes, so two tests with a network of their own
would break those of all other workers.
"""

import ctypes
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Generator
from pathlib import Path

import pytest

_NEW_NETWORK = 0x4000_0000
"""CLONE_NEWNET of sched.h."""

_libc = ctypes.CDLL(None)


class OwnNetwork:
    """A new network of this thread and of all that it starts, in which tests run that download nothing."""

    def __init__(self) -> None:
        self._machine = _opened()
        _libc.unshare(_NEW_NETWORK)
        for command in _commands():
            subprocess.run(command.split(), check=True)
        self._own = _opened()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Leave a test that downloads something in the network of the machine."""
        if not item.get_closest_marker("downloads"):
            return (yield)
        _libc.setns(self._machine, _NEW_NETWORK)
        try:
            return (yield)
        finally:
            _libc.setns(self._own, _NEW_NETWORK)


def pytest_configure(config: pytest.Config) -> None:
    """Give a worker a network of its own, where this user may make one."""
    if hasattr(config, "workerinput") and _is_permitted():
        config.pluginmanager.register(OwnNetwork())


def _opened() -> int:
    # Of this thread: each has a network.
    return os.open(f"/proc/self/task/{threading.get_native_id()}/ns/net", os.O_RDONLY | os.O_CLOEXEC)


def _is_permitted() -> bool:
    is_known = Path("/etc/resolv.conf").exists()
    if os.geteuid() != 0 or not is_known or not shutil.which("unshare") or not shutil.which("ip"):
        return False
    # All of it is tried first: there is no way back from a network in which nothing answers.
    attempt = ["unshare", "--net", "sh", "-c", " && ".join(_commands())]
    return subprocess.run(attempt, capture_output=True, check=False).returncode == 0


def _commands() -> list[str]:
    resolvers = re.findall(r"^nameserver\s+([0-9.]+)\s*$", Path("/etc/resolv.conf").read_text(), re.M)
    return [
        "ip link set lo up",
        "ip link add eth0 type veth peer name router",
        # As at home: browsers count a machine that has only loopback as offline.
        "ip address add 192.0.2.2/24 dev eth0",
        "ip link set router up",
        "ip link set eth0 up",
        "ip route add default via 192.0.2.1",
        # Nobody answers, which is known at once: otherwise each name that is asked for takes six seconds.
        *(f"ip route add unreachable {address}" for address in resolvers if not address.startswith("127.")),
    ]
