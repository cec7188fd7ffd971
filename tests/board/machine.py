"""A PC of QEMU with UEFI: its power, its keyboard, what it says on the serial line, and its port on our loopback."""

import json
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from types import TracebackType
from typing import Any

import httpx2

from tests.support.computer import free_port

SECONDS = 1500
"""The longest that a boot may take; an emulated processor is some twenty times as slow as a real one."""

_FIRMWARE = Path("/usr/share/OVMF")
_ESCAPES = re.compile(r"\x1b(?:\[[0-9;?=]*[A-Za-z]|c)")
_MEMORY = "2048"


class Board:
    """The machine; its disk stays when its power goes."""

    def __init__(self, disk: Path) -> None:
        self._disk = disk
        self._folder = Path(tempfile.mkdtemp(prefix="board-", dir="/tmp"))
        self._variables = self._folder / "variables.fd"
        shutil.copyfile(_FIRMWARE / "OVMF_VARS_4M.fd", self._variables)
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: Queue[str | None] = Queue()
        self._said: list[str] = []
        self.boots: list[float] = []
        """Seconds from power on to the first line of each screen that was waited for."""
        self._began = 0.0

    def __enter__(self) -> "Board":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cut()
        shutil.rmtree(self._folder)
        if error is not None:
            sys.stderr.write("\n".join(self._said[-60:]) + "\n")

    def start(self) -> None:
        """Switch it on."""
        firmware = "if=pflash,format=raw"
        command = [
            *(
                "qemu-system-x86_64",
                "-machine",
                "q35",
                "-accel",
                _acceleration(self._folder),
                "-cpu",
                "max",
                "-smp",
                "2",
            ),
            *("-m", _MEMORY, "-nodefaults", "-display", "none", "-serial", "stdio", "-device", "i6300esb"),
            *("-drive", f"{firmware},readonly=on,file={_FIRMWARE}/OVMF_CODE_4M.fd"),
            *("-drive", f"{firmware},file={self._variables}", "-drive", f"if=virtio,format=raw,file={self._disk}"),
            # Nothing goes out from there.
            *("-netdev", f"user,id=net,ipv6=off,restrict=on,hostfwd=tcp:127.0.0.1:{self.port}-:3333"),
            *("-device", "virtio-net-pci,netdev=net", "-qmp", f"unix:{self._folder}/qmp,server=on,wait=off"),
        ]
        self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        self._began = time.monotonic()
        self._lines = Queue()
        Thread(target=_read, args=(self._process, self._lines), daemon=True).start()

    def cut(self) -> None:
        """Take the power away."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def restart(self) -> None:
        """Press Ctrl, Alt and Delete: systemd ends everything and starts anew."""
        self._began = time.monotonic()
        keys = [{"type": "qcode", "data": name} for name in ("ctrl", "alt", "delete")]
        self._ask("send-key", {"keys": keys})

    def wait_for(self, text: str) -> str:
        """The next line on the serial line that has this text."""
        end = time.monotonic() + SECONDS
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, end - time.monotonic()))
            except Empty:
                raise AssertionError(f"The machine did not say {text!r}:\n{self.said()}") from None
            if line is None:
                raise AssertionError(f"The machine has ended:\n{self.said()}")
            self._said.append(line)
            if text in line:
                return line

    def shown_key(self) -> str:
        """The key on the console of a new computer, whose two halves stand in two lines."""
        self.wait_for("http://10.0.2.15:3333")
        self.boots.append(time.monotonic() - self._began)
        return "".join(line.split()[-1] for line in (self.wait_for(" para_"), self.wait_for("")))

    def said(self) -> str:
        """The last lines that it has said."""
        return "\n".join(self._said[-40:])

    def ask(self, method: str, path: str, key: str | None = None, **options: Any) -> httpx2.Response:
        """One request of a phone."""
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        with httpx2.Client(base_url=f"http://127.0.0.1:{self.port}", timeout=SECONDS, trust_env=False) as client:
            return client.request(method, path, headers=headers, **options)

    def _ask(self, command: str, arguments: dict[str, Any]) -> None:
        _monitor(self._folder / "qmp", command, arguments)


def _read(process: "subprocess.Popen[bytes]", lines: "Queue[str | None]") -> None:
    assert process.stdout is not None
    for line in process.stdout:
        # A screen that is cleared begins a line, too.
        for part in _ESCAPES.sub("", line.decode(errors="replace").replace("\x1bc", "\n")).splitlines():
            lines.put(part)
    lines.put(None)


def _monitor(path: Path, command: str, arguments: dict[str, Any]) -> None:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(path))
        with connection.makefile("rwb") as stream:
            stream.readline()
            for execute, given in (("qmp_capabilities", {}), (command, arguments)):
                stream.write(json.dumps({"execute": execute, "arguments": given}).encode() + b"\n")
                stream.flush()
                while "return" not in (answer := json.loads(stream.readline())):
                    assert "error" not in answer, answer


def _acceleration(folder: Path) -> str:
    """KVM where it runs the firmware, which not each machine with a /dev/kvm can; else emulation."""
    if not Path("/dev/kvm").exists():
        return "tcg,thread=multi"
    command = ["qemu-system-x86_64", "-machine", "q35", "-accel", "kvm", "-m", "256", "-nodefaults", "-display", "none"]
    command += ["-drive", f"if=pflash,format=raw,readonly=on,file={_FIRMWARE}/OVMF_CODE_4M.fd", "-serial", "stdio"]
    trial = folder / "trial.fd"
    shutil.copyfile(_FIRMWARE / "OVMF_VARS_4M.fd", trial)
    command += ["-drive", f"if=pflash,format=raw,file={trial}"]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        assert process.stdout is not None
        try:
            first = process.stdout.readline()
        finally:
            with suppress(ProcessLookupError):
                process.kill()
    return "kvm" if first and b"KVM" not in first and b"qemu" not in first else "tcg,thread=multi"
