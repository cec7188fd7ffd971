"""OpenSSH's server on the loopback, and a person's home with a key that it lets in."""

import os
import pwd
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.real import installed
from tests.support.computer import free_port
from tests.support.waiting import wait_until

_CONFIGURATION = """
ListenAddress 127.0.0.1
Port {port}
HostKey {folder}/host
AuthorizedKeysFile {folder}/let-in
StrictModes no
UsePAM no
PidFile none
PasswordAuthentication no
KbdInteractiveAuthentication no
Subsystem sftp internal-sftp
"""


@dataclass
class Sftp:
    """A machine for backups; `home` is the folder of who asks it, whose `.ssh` has the key."""

    folder: Path
    home: Path
    port: int

    @property
    def address(self) -> str:
        """The place of backups, as `parachute backup init` takes it."""
        name = pwd.getpwuid(os.getuid()).pw_name
        return f"sftp://{name}@127.0.0.1:{self.port}/{self.folder}/backup"

    def know(self, public: Path) -> None:
        """Note a key as the machine's, as a person does who has connected before."""
        (self.home / ".ssh/known_hosts").write_text(f"[127.0.0.1]:{self.port} {public.read_text()}")

    def as_person(self) -> list[str]:
        """Begin a command whose ssh finds that home: it asks the system's list of people for it, and not the environment."""
        me = pwd.getpwuid(os.getuid())
        listed = self.folder / "passwd"
        listed.write_text(f"{me.pw_name}:x:{me.pw_uid}:{me.pw_gid}::{self.home}:/bin/sh\n")
        bubble = ["bwrap", "--dev-bind", "/", "/", "--ro-bind", str(listed), "/etc/passwd"]
        return [*bubble, "--cap-add", "ALL"] if os.geteuid() == 0 else bubble


def make_key(path: Path) -> Path:
    """Make a key of ssh; its public half."""
    program = installed.debian("ssh-keygen", "openssh-client")
    subprocess.run([program, "-q", "-t", "ed25519", "-N", "", "-f", path], check=True)
    return path.with_name(f"{path.name}.pub")


@contextmanager
def sshd(folder: Path, home: Path) -> Iterator[Sftp]:
    """Run it while a block runs."""
    found = Sftp(folder, home, free_port())
    (home / ".ssh").mkdir(mode=0o700)
    shutil.copy(make_key(home / ".ssh/id_ed25519"), folder / "let-in")
    found.know(make_key(folder / "host"))
    (folder / "sshd.conf").write_text(_CONFIGURATION.format(folder=folder, port=found.port))
    # It wants an empty folder below /run, where only a real one should be.
    bubble = ["bwrap", "--die-with-parent", "--dev-bind", "/", "/", "--tmpfs", "/run", "--dir", "/run/sshd"]
    if os.geteuid() == 0:
        bubble += ["--cap-add", "ALL"]
    program = [installed.debian("sshd", "openssh-server"), "-D", "-e", "-f", str(folder / "sshd.conf")]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen([*bubble, *program], stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def is_there() -> bool:
        assert process.poll() is None, (folder / "log").read_text()
        with socket.socket() as asked:
            return asked.connect_ex(("127.0.0.1", found.port)) == 0

    try:
        wait_until(is_there, "sshd listens", (folder / "log").read_text)
        yield found
    finally:
        process.terminate()
        process.wait()
