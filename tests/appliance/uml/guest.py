"""A booted system with a kernel of its own, and with the interface of the one under systemd-nspawn."""

import shlex
import signal
import sys
from pathlib import Path

from tests.appliance.booted import Booted
from tests.appliance.recipe import TREE, USER, USER_ID
from tests.appliance.uml.backend import LineBackend
from tests.appliance.uml.build import Machine
from tests.appliance.uml.recipe import MEMORY_MEBIBYTES, MODULES
from tests.appliance.uml.serial_line import SerialLine

_KERNEL_OPTIONS = ("panic=-1", "loglevel=5", "audit=0", "selinux=0", "systemd.mask=getty@tty1.service")


class UmlGuest(Booted):
    """A guest under User-Mode Linux; `options` are further words of its kernel's command line."""

    def __init__(self, machine: Machine, options: tuple[str, ...] = ()) -> None:
        super().__init__()
        self._machine = machine
        self._options = options
        self._serial_line = SerialLine(self._console.text)

    def close(self) -> None:
        super().close()
        self._serial_line.close()

    def _boot(self, deadline: float) -> None:
        line, machine = self._serial_line.guests.fileno(), self._machine
        self._start(
            Path(__file__).with_name("boot.sh"),
            *(
                str(machine.kernel_folder),
                str(machine.image),
                str(TREE),
                str(machine.compiled),
                str(line),
                " ".join(MODULES),
            ),
            *(f"mem={MEMORY_MEBIBYTES}M", *_KERNEL_OPTIONS, *machine.kernel.options, *self._options),
            passed=(line,),
        )
        self._serial_line.guests.close()
        while not self._serial_line.listens(0.2):
            self._check(deadline)
        self.root = LineBackend.host(self._serial_line, "root")
        self.user = LineBackend.host(self._serial_line, USER)
        # Started before the rest of the system is up, it waits for what it needs.
        started = self.root.run(f"systemctl start user@{USER_ID}.service")
        assert started.rc == 0, f"{started.stderr}\n{self.journal()}"


def main() -> int:
    """Run a command in a guest, as its user: `python -m tests.appliance.uml.guest COMMAND...`."""
    from tests.appliance.uml.build import build, missing

    if reason := missing():
        sys.stderr.write(f"{reason}\n")
        return 1
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with UmlGuest(build()) as guest:
        sys.stderr.write(f"It booted in {guest.boot_seconds:.1f} s.\n")
        done = guest.user.run(shlex.join(sys.argv[1:]))
        sys.stdout.write(done.stdout)
        sys.stderr.write(done.stderr)
        return int(done.rc)


if __name__ == "__main__":
    sys.exit(main())
