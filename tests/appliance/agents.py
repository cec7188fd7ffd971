"""A computer that runs as services in a guest, and whose agents run in containers what a message says; the same in both guests."""

import json
import shlex
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from testinfra.host import Host

from tests.appliance.agent_root import tarball
from tests.appliance.guest import Guest
from tests.appliance.recipe import ENVIRONMENT, SOURCE, USER, USER_ID
from tests.appliance.services import URL, Services
from tests.support.sse import Parser, text_of

STORE = f"/home/{USER}/.local/share/containers"
IMAGES = f"{STORE}/storage/overlay-images/images.json"
TARBALL = "/var/agent.tar"
MODEL = "claude-opus-5-5"
SET = """
import sys
from parachute.config.settings.home import Home
from parachute.config.settings.store import set_value
for name, value in zip(sys.argv[1::2], sys.argv[2::2], strict=True):
    set_value(Home.find(), name, value)
"""
BUILD_SECONDS = 600
_RECORD = "/var/tmp/image.json"


class Agents(Services):
    """A computer whose agents run what a message says."""

    def say(self, command: str, session: str = "new", **fields: str) -> list[dict[str, Any]]:
        """The events of a turn in which the agent runs a command, and which ends well."""
        events = self.events(command, session, **fields)
        said = "tail -n 20 ~/.parachute/logs/*.log; journalctl --user -n 40 --no-pager"
        assert events[-1]["type"] == "done", (events[-1], self.run(said))
        assert [event for event in events if event["type"] == "warning"] == []
        return events

    def events(self, command: str, session: str = "new", **fields: str) -> list[dict[str, Any]]:
        """The events of a turn in which the agent runs a command."""
        return self.answered(f"run: {command}", session, **fields)

    def answered(self, message: str, session: str = "new", **fields: str) -> list[dict[str, Any]]:
        """The events of an answer."""
        body = json.dumps({"message": message, "sessionId": session, "module": "chat", **fields})
        return self.streamed("/api/chat", "-H", "content-type: application/json", "-d", body)

    def streamed(self, path: str, *options: str) -> list[dict[str, Any]]:
        """The events of a stream, to its end."""
        parser = Parser()
        said = self.run(shlex.join(["curl", "-sSN", "--max-time", "240", *options, f"{URL}{path}"]))
        events = [event for line in said.splitlines() if (event := parser.event(line))]
        assert parser.unparsable == []
        return events

    @contextmanager
    def working(self, command: str, session: str) -> Iterator[Callable[[], list[dict[str, Any]]]]:
        """A turn that goes on meanwhile; what it gives waits for the events."""
        with ThreadPoolExecutor(1) as waiting:
            yield waiting.submit(self.events, command, session).result

    def output(self, command: str, **fields: str) -> str:
        """The output of a command in a container of its own."""
        return text_of(self.say(command, **fields))

    def containers(self, session: str = "") -> list[str]:
        """Names of the containers that there are, running or not."""
        return self.run(f"podman ps --all --filter name={session} --format '{{{{.Names}}}}'").split()

    @contextmanager
    def serving(self, name: str, module: str, *arguments: str) -> Iterator[str]:
        """A Python module of the tests that runs as the service `name` and stays; what it says first."""
        said = f"{self.home}/{name}.said"
        python = shlex.join([f"{ENVIRONMENT}/bin/python", "-m", module, *arguments])
        # As the main process, which systemd waits for, and with an input that does not end.
        script = f"cd {SOURCE} && exec {python} > {said} < <(exec sleep infinity)"
        self.run(f"systemd-run --user --quiet --collect --unit={name} bash -c {shlex.quote(script)}")
        try:
            self.until(lambda: self.user.run(f"test -s {said}").rc == 0, f"{name} said something")
            yield self.run(f"cat {said}").strip()
        finally:
            self.run(f"systemctl --user stop {name}; rm {said}")

    @contextmanager
    def with_model(self, **settings: str) -> Iterator[None]:
        """The scripted model answers; `settings` by their names with `__` for a dot."""
        with self.serving("model", "tests.appliance.scripted_model") as url:
            self.use_model(url, **settings)
            try:
                yield
            finally:
                self.user.run("parachute service uninstall")

    def use_model(self, url: str, **settings: str) -> None:
        """Set the model that answers at this address, and `settings` by their names with `__` for a dot."""
        values = {"provider": "compatible", "base_url": url, "model": MODEL}
        # One that is kept ready costs what an answer does; fixtures named `spare` give it to tests that need it.
        values["agents.spare"] = "false"
        values |= {name.replace("__", "."): value for name, value in settings.items()}
        # By one program: the command line would be started for each.
        self.run(
            shlex.join([f"{ENVIRONMENT}/bin/python", "-c", SET, *(each for pair in values.items() for each in pair)])
        )

    def build(self) -> dict[str, Any]:
        """The output of `parachute sandbox build` from the tarball."""
        done = self.user.run(f"parachute sandbox build --from-tar {TARBALL} --json", seconds=BUILD_SECONDS)
        assert done.rc == 0, done.stderr
        image: dict[str, Any] = json.loads(done.stdout)
        return image


@contextmanager
def with_views(host: Host, home: str) -> Iterator[str]:
    """A file system for views: the guest's own is an overlay, in which no layer of another one can lie; its folder."""
    folder = f"{home}/.parachute/views"
    host.check_output(f"install -d -m 700 -o {USER} -g {USER} {folder}")
    host.check_output(f"mount -t tmpfs -o uid={USER_ID},gid={USER_ID},mode=700 tmpfs {folder}")
    yield folder
    host.check_output(f"umount --lazy {folder}")


class Image:
    """The image of agents in a guest: whoever comes first builds it, and those who come later take it."""

    def __init__(self, guest: Guest) -> None:
        self._guest = guest
        self._built: dict[str, Any] | None = None
        host = guest.root
        # The guest's root is an overlay, and a layer of another overlay cannot lie in one.
        host.check_output(f"install -d -o {USER} -g {USER} {Path(STORE).parent} {STORE}")
        host.check_output(f"mount -t tmpfs -o uid={USER_ID},gid={USER_ID},mode=700 tmpfs {STORE}")

    @contextmanager
    def root(self) -> Iterator[None]:
        """The tarball with the root of the image is in the guest."""
        shutil.copyfile(tarball(), f"{self._guest.files}{TARBALL}")
        self._guest.root.check_output(f"chmod 644 {TARBALL}")
        yield
        # The process that holds the user's namespaces between two commands of Podman.
        self._guest.root.run(f"pkill --exact catatonit; rm {TARBALL}")

    def of(self, computer: Agents) -> dict[str, Any]:
        """The output of `parachute sandbox build` for this computer."""
        if self._built is None:
            self._built = computer.build()
            computer.run(f"cp ~/.parachute/image.json {_RECORD}")
        else:
            computer.run(f"cp {_RECORD} ~/.parachute/image.json")
        return self._built

    def gone(self) -> None:
        """Build it again for the next one."""
        self._built = None
