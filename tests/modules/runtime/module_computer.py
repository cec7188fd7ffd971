"""A computer or a server with modules that tests write, install and ask."""

import http.client
import json
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import yaml

from parachute.modules.registry.service import Modules
from tests.support.computer import Computer
from tests.support.feed import when_told
from tests.support.gate import Gate
from tests.support.installation import PLAIN, Installation
from tests.support.server import Server

PROGRAM = Path(sys.executable).with_name("parachute")


class WithModules(Installation):
    """A running installation; each test gives its modules names of their own."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.modules = Modules(self.home, self.vault)

    def write(self, name: str, body: str = "", *, top: str = "", **manifest: Any) -> Path:
        """Write the folder of a module: `body` are the methods of its class, `top` stands before that.

        Everything of `parachute.core` is imported; fields of `manifest` are added to the smallest one.
        """
        folder = self.folder / "sources" / name
        folder.mkdir(parents=True, exist_ok=True)
        manifest = {"name": name, "version": "1.0.0", "module": "module.py", **manifest}
        (folder / "manifest.yaml").write_text(yaml.safe_dump(manifest))
        said: dict[str, Any] = {key: manifest[key] for key in ("provides", "optional_requires") if key in manifest}
        fields = {"name": name, "version": manifest["version"], **said}
        head = "from parachute.core import *\n"
        body = textwrap.indent(textwrap.dedent(body), "    ")
        assignments = "".join(f"    {key} = {value!r}\n" for key, value in fields.items())
        code = f"{head}{textwrap.dedent(top)}\n\nclass Tested(Module):\n{assignments}\n{body}"
        (folder / "module.py").write_text(code)
        return folder

    def install(self, name: str, body: str = "", *, top: str = "", untrusted: bool = False, **manifest: Any) -> None:
        """Write a module and install it as the command line does."""
        self.install_quietly(name, body, top=top, untrusted=untrusted, **manifest)
        self.reload()

    def install_quietly(
        self, name: str, body: str = "", *, top: str = "", untrusted: bool = False, **manifest: Any
    ) -> None:
        """The same, but core does not hear of it."""
        folder = self.write(name, body, top=top, **manifest)
        with self.modules.installing(str(folder), untrusted=untrusted) as installation:
            installation.finish()

    def reload(self) -> None:
        """Let core take up what was installed."""
        assert self.ask("POST", "/api/modules/reload").status_code == 200

    def approve(self, name: str) -> httpx2.Response:
        """Approve what is in the vault, as an app does: look at it, and send back the hash."""
        digest = self.get(f"/api/modules/{name}/approval").json()["hash"]
        return self.ask("POST", f"/api/modules/{name}/approve", json={"hash": digest})

    def ask(self, method: str, path: str, **options: Any) -> httpx2.Response:
        """One request on a connection of its own."""
        options = {"timeout": 60, **options}
        return httpx2.request(method, f"{self.url}{path}", **PLAIN, **options)

    def ask_and_leave(self, path: str, body: Any, gate: Gate) -> None:
        """POST, and go away without an answer when a stream of the model stands at the gate."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request("POST", path, json.dumps(body), {"content-type": "application/json"})
            gate.wait_reached()
        finally:
            connection.close()

    def get(self, path: str, **options: Any) -> httpx2.Response:
        """GET."""
        return self.ask("GET", path, **options)

    def post(self, path: str, **options: Any) -> httpx2.Response:
        """POST."""
        return self.ask("POST", path, **options)

    def value(self, path: str) -> Any:
        """The JSON of an answer that must be a good one."""
        answer = self.get(path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def eventually(self, path: str, condition: Callable[[Any], Any], what: str) -> Any:
        """Ask until an answer is as it shall become, and give that."""
        self.wait_until(lambda: condition(self.value(path)), what)
        return self.value(path)

    def heard(self, path: str, condition: Callable[[Any], Any], what: str) -> Any:
        """Ask at each change that the feed tells until an answer is as it shall become, and give that."""

        def answered() -> Any:
            value = self.value(path)
            return value if condition(value) else None

        return when_told(self, answered, what)

    def module(self, name: str) -> dict[str, Any]:
        """The state of a module, as core tells it."""
        found: dict[str, Any] = self.value(f"/api/modules/{name}")
        return found

    def edit(self, name: str, old: str, new: str) -> None:
        """Change a module's source in the vault."""
        path = self.vault / ".modules" / name / "module.py"
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    def put_to_sleep(self, name: str) -> None:
        """End the process of a module; the next request starts it again."""
        for operation in ("close", "open"):
            self.ask_supervisor(operation, unit=f"module@{name}")

    def host_process(self, name: str) -> int | None:
        """The process that the supervisor has started for a module, if it runs."""
        process: int | None = self._unit(name).get("process")
        return process

    def unit_state(self, name: str) -> str | None:
        """The state of a module's unit, if it is open."""
        return self._unit(name).get("state")

    def _unit(self, name: str) -> dict[str, Any]:
        units = self.ask_supervisor("status")["units"]
        return next((unit for unit in units if unit["name"] == f"module@{name}"), {})


class ModuleServer(WithModules, Server):
    """A server in the process of the test, for what modules and their callers see."""


class ModuleComputer(WithModules, Computer):
    """A whole computer, for crashes, restarts and confinement."""
