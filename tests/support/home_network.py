"""A second device on a network of its own that is joined to this machine's, as a phone is at home."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True, slots=True)
class Device:
    """The device, and the address at which it reaches this machine."""

    process: int
    machine: str
    address: str

    @property
    def prefix(self) -> list[str]:
        """The words before a command that runs on the device."""
        return ["nsenter", "--net", f"--target={self.process}", "--"]

    def wrapped(self, program: str, folder: Path) -> str:
        """A program that runs another one on the device."""
        script = folder / "on-the-device"
        script.write_text(f'#!/bin/sh\nexec {" ".join(self.prefix)} {program} "$@"\n')
        script.chmod(0o755)
        return str(script)


@contextmanager
def other_device() -> Iterator[Device]:
    """A device while a block runs; skips a test where this user may make no networks."""
    if os.geteuid() != 0 or not shutil.which("nsenter"):
        pytest.skip("only root makes networks")
    number = os.getpid() % 250
    machine, address = f"10.77.{number}.1", f"10.77.{number}.2"
    near, far = f"pc{os.getpid()}", "wlan0"
    # It ends with its standard input, so also with us; with the last process of a network its devices go.
    with subprocess.Popen(
        ["unshare", "--net", "sh", "-c", "echo; exec cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as network:
        assert network.stdout is not None
        network.stdout.readline()
        device = Device(network.pid, machine, address)
        for command in (
            f"ip link add {near} type veth peer name {far} netns {network.pid}",
            f"ip address add {machine}/24 dev {near}",
            f"ip link set {near} up",
            f"{' '.join(device.prefix)} ip address add {address}/24 dev {far}",
            f"{' '.join(device.prefix)} ip link set {far} up",
            f"{' '.join(device.prefix)} ip link set lo up",
        ):
            done = subprocess.run(command.split(), capture_output=True, text=True, check=False)
            if done.returncode != 0:
                pytest.skip(f"no network can be made here: {done.stderr.strip()}")
        try:
            yield device
        finally:
            assert network.stdin is not None
            network.stdin.close()
