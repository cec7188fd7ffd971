"""From the text of a manifest to its fields, with all of its mistakes at once."""

import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn, TypeVar

import yaml

from parachute.base.documents import line_of
from parachute.core.decorators import SUGGEST_TOOL, TOOL_NAME
from parachute.core.event import EVENT_NAME
from parachute.errors import InvalidInput, NotFound
from parachute.files import read_regular
from parachute.manifest.agents import read_agents
from parachute.manifest.document import LARGEST, Document, Refused, joined
from parachute.manifest.models import (
    CONVERSATION_KINDS,
    Hook,
    InterfaceName,
    Manifest,
    Service,
    ToolDeclaration,
    UserInterface,
)
from parachute.manifest.permissions import read_permissions
from parachute.manifest.settings import read_settings

FILE_NAME = "manifest.yaml"

NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")
# semver.org, without its build part's dots being checked one by one
_VERSION = re.compile(
    r"(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?(\+[0-9A-Za-z.-]+)?"
)
_FILE = re.compile(r"(?:[A-Za-z_]\w*/)*[A-Za-z_]\w*\.py", re.ASCII)
_HANDLER = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*:[A-Za-z_]\w*", re.ASCII)
# PEP 508, without addresses: those could fetch anything from anywhere.
_DEPENDENCY = re.compile(
    r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?\s*(?:\[[A-Za-z0-9._,\s-]*\])?\s*"
    r"(?:\(?\s*(?:(?:===|==|~=|!=|<=|>=|<|>)\s*[A-Za-z0-9.*+!_-]+\s*,?\s*)*\)?)\s*(?:;[^@;]{1,200})?"
)
_FIELDS = (
    *("name", "version", "description", "module", "provides", "optional_requires", "dependencies", "permissions"),
    *("agents", "prompts", "hooks", "mcp_tools", "routes", "service", "ui", "settings"),
)
_STARTS = ("socket-activated", "always")

Value = TypeVar("Value")


class ManifestInvalid(InvalidInput):
    """A manifest has mistakes; `problems` names all of them, each as `line N: field: sentence`."""

    key = "manifest_invalid"

    def __init__(self, path: Path, problems: tuple[str, ...]) -> None:
        count = "a mistake" if len(problems) == 1 else f"{len(problems)} mistakes"
        listed = "\n".join(f"  {problem}" for problem in problems)
        super().__init__(
            f"{path} has {count}:\n{listed}", "The page about modules describes every field.", problems=problems
        )
        self.problems = problems


def load(path: Path) -> Manifest:
    """Read a manifest, or the one in a folder; errors: NotFound, ManifestInvalid."""
    file = path / FILE_NAME if path.is_dir() else path
    try:
        return parse(read_regular(file, LARGEST), file)
    except FileNotFoundError as error:
        raise NotFound(f"{file} does not exist.", "A module is a folder with a manifest.yaml.") from error
    except (InvalidInput, OSError) as error:
        if isinstance(error, ManifestInvalid):
            raise
        said = error.strerror if isinstance(error, OSError) else error.message
        raise ManifestInvalid(file, (f"line 1: manifest: The file cannot be read: {said}",)) from error


def parse(data: bytes, path: Path = Path(FILE_NAME)) -> Manifest:
    """Read the text of a manifest; error: ManifestInvalid."""
    document = Document()
    root = document.compose(data)
    manifest = None
    if root is not None:
        try:
            manifest = _Reader(document, root).manifest()
        except Refused:
            pass
    if document.problems or manifest is None:
        raise ManifestInvalid(path, document.sentences())
    return manifest


class _Reader:
    def __init__(self, document: Document, root: yaml.Node) -> None:
        self.document = document
        self.root = root
        self.fields = document.mapping(root, "", _FIELDS, ("name", "version", "module"))

    def manifest(self) -> Manifest:
        name = self.read("name", self.name, "")
        interfaces: Callable[[yaml.Node, str], tuple[InterfaceName, ...]] = self.interfaces
        manifest = Manifest(
            name=name,
            version=self.read("version", self.version, ""),
            module=self.read("module", self.module, ""),
            description=self.read("description", lambda node, where: self.document.text(node, where, 2_000), ""),
            provides=self.read("provides", interfaces, ()),
            optional_requires=self.read("optional_requires", interfaces, ()),
            dependencies=self.read("dependencies", self.dependencies, ()),
            permissions=read_permissions(self.document, self.fields.get("permissions")),
            agents=MappingProxyType(read_agents(self.document, self.fields.get("agents"))),
            prompts=MappingProxyType(self.read("prompts", self.prompts, {})),
            hooks=self.read("hooks", lambda node, where: self.document.each(node, where, self.hook), ()),
            mcp_tools=self.read("mcp_tools", self.tools, ()),
            prefix=self.read("routes", lambda node, where: self.prefix(node, where, name), f"/api/{name}"),
            service=self.read("service", self.service, Service()),
            ui=self.read("ui", self.ui, None),
            settings=read_settings(self.document, self.fields.get("settings")),
        )
        names = [entry.name for entry in manifest.provides]
        for entry in manifest.optional_requires:
            if entry.name in names:
                self.fail(
                    self.fields["optional_requires"], "optional_requires", f"The module provides {entry.name} itself."
                )
        return manifest

    def read(self, name: str, how: Callable[[yaml.Node, str], Value], otherwise: Value) -> Value:
        node = self.fields.get(name)
        if node is None:
            return otherwise
        return self.document.attempt(node, name, lambda: how(node, name), otherwise)

    def fail(self, node: yaml.Node, where: str, sentence: str) -> NoReturn:
        self.document.refuse(line_of(node), where, sentence)
        raise AssertionError  # pragma: no cover - refuse never returns

    def name(self, node: yaml.Node, where: str) -> str:
        text = self.document.text(node, where)
        if not NAME.fullmatch(text):
            self.fail(node, where, "1 to 40 of a-z, 0-9, - and _ are allowed, beginning with a letter.")
        if text.replace("-", "_") in sys.stdlib_module_names:
            self.fail(node, where, f"{text!r} is the name of a part of Python; choose another one.")
        return text

    def version(self, node: yaml.Node, where: str) -> str:
        if isinstance(node, yaml.ScalarNode) and _VERSION.fullmatch(node.value):
            return str(node.value)
        self.fail(node, where, "Three numbers are expected, such as 1.0.0.")

    def module(self, node: yaml.Node, where: str) -> str:
        text = self.document.text(node, where)
        if not _FILE.fullmatch(text):
            self.fail(node, where, "A Python file of the module is expected, such as module.py.")
        return text

    def interfaces(self, node: yaml.Node, where: str) -> tuple[InterfaceName, ...]:
        def one(item: yaml.Node, place: str) -> InterfaceName:
            return InterfaceName.parse(self.document.text(item, place))

        found = self.document.each(node, where, one)
        self.refuse_twice(node, where, [entry.name for entry in found])
        return found

    def dependencies(self, node: yaml.Node, where: str) -> tuple[str, ...]:
        def one(item: yaml.Node, place: str) -> str:
            text = self.document.text(item, place, 300)
            if not _DEPENDENCY.fullmatch(text):
                self.fail(
                    item,
                    place,
                    "A package with its versions is expected, such as pyyaml>=6.0; no addresses, no options.",
                )
            return text

        return self.document.each(node, where, one)

    def prompts(self, node: yaml.Node, where: str) -> dict[str, str]:
        fields = self.document.mapping(node, where, CONVERSATION_KINDS)
        return {
            kind: self.document.file(value, joined(where, kind), f"prompts/{kind}.md") for kind, value in fields.items()
        }

    def hook(self, node: yaml.Node, where: str) -> Hook:
        fields = self.document.mapping(node, where, ("event", "handler", "async"), ("event",))
        if "event" not in fields:
            raise Refused
        name = self.document.text(fields["event"], joined(where, "event"))
        if not EVENT_NAME.fullmatch(name):
            self.fail(fields["event"], joined(where, "event"), "A name such as daily.entry.created is expected.")
        is_async = self.document.plain(fields["async"], joined(where, "async")) if "async" in fields else False
        if not isinstance(is_async, bool):
            self.fail(fields["async"], joined(where, "async"), "Write true or false.")
        return Hook(name, self.handler(fields, where), is_async)

    def tools(self, node: yaml.Node, where: str) -> tuple[ToolDeclaration, ...]:
        found = self.document.each(node, where, self.tool)
        self.refuse_twice(node, where, [tool.name for tool in found])
        return found

    def tool(self, node: yaml.Node, where: str) -> ToolDeclaration:
        fields = self.document.mapping(node, where, ("name", "description", "handler"), ("name", "description"))
        if "name" not in fields or "description" not in fields:
            raise Refused
        name = self.document.text(fields["name"], joined(where, "name"))
        if not TOOL_NAME.fullmatch(name):
            self.fail(fields["name"], joined(where, "name"), "1 to 64 letters, digits, _ or - are allowed.")
        if name == SUGGEST_TOOL:
            self.fail(fields["name"], joined(where, "name"), f"The tool {name} is the computer's own.")
        description = self.document.text(fields["description"], joined(where, "description"))
        return ToolDeclaration(name, description, self.handler(fields, where))

    def handler(self, fields: dict[str, yaml.Node], where: str) -> str:
        if "handler" not in fields:
            return ""
        text = self.document.text(fields["handler"], joined(where, "handler"))
        if not _HANDLER.fullmatch(text):
            self.fail(
                fields["handler"], joined(where, "handler"), "A file and a function are expected, such as tools:search."
            )
        return text

    def prefix(self, node: yaml.Node, where: str, name: str) -> str:
        fields = self.document.mapping(node, where, ("prefix",))
        expected = f"/api/{name}"
        if "prefix" in fields and name:
            text = self.document.text(fields["prefix"], joined(where, "prefix"))
            if text.rstrip("/") != expected:
                self.fail(fields["prefix"], joined(where, "prefix"), f"It must be {expected}, after the module's name.")
        return expected

    def service(self, node: yaml.Node, where: str) -> Service:
        if isinstance(node, yaml.ScalarNode):
            return self.started(node, where, {})
        fields = self.document.mapping(node, where, ("start", "memory", "pids", "idle_seconds"))
        values: dict[str, Any] = {}
        if "memory" in fields:
            values["memory"] = self.document.text(fields["memory"], joined(where, "memory"))
            found = Service(memory=values["memory"])
            self.document.attempt(fields["memory"], joined(where, "memory"), lambda: found.memory_bytes, 0)
        for name, smallest, largest in (("pids", 8, 4096), ("idle_seconds", 1, 86_400)):
            if name in fields:
                value = self.document.plain(fields[name], joined(where, name))
                if isinstance(value, bool) or not isinstance(value, int) or not smallest <= value <= largest:
                    self.fail(
                        fields[name], joined(where, name), f"A whole number from {smallest} to {largest} is allowed."
                    )
                values[name] = value
        return self.started(fields["start"], joined(where, "start"), values) if "start" in fields else Service(**values)

    def started(self, node: yaml.Node, where: str, values: dict[str, Any]) -> Service:
        start = self.document.text(node, where)
        if start == "socket-activated":
            return Service(start="socket-activated", **values)
        if start == "always":
            return Service(start="always", **values)
        self.fail(node, where, f"One of {', '.join(_STARTS)} is allowed.")

    def ui(self, node: yaml.Node, where: str) -> UserInterface | None:
        fields = self.document.mapping(node, where, ("title", "icon", "entry"), ("title",))
        if "title" not in fields:
            return None
        texts = {name: self.document.text(fields[name], joined(where, name), 200) for name in fields.keys() - {"entry"}}
        entry = (
            self.document.file(fields["entry"], joined(where, "entry"), "ui/index.html") if "entry" in fields else ""
        )
        return UserInterface(texts["title"], texts.get("icon", ""), entry)

    def refuse_twice(self, node: yaml.Node, where: str, names: list[str]) -> None:
        for name in sorted({name for name in names if names.count(name) > 1}):
            self.document.problem(line_of(node), where, f"{name} is there twice.")
