"""From the text of a manifest to its fields, with all of its mistakes at once."""

import re
import sys
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from parachute.base.document_values import Fields, Value
from parachute.base.documents import Bounds
from parachute.base.errors import InvalidInput, NotFound
from parachute.base.files import read_regular
from parachute.base.typed_documents import DocumentInvalid, read_document
from parachute.core.decorators import SUGGEST_TOOL, TOOL_NAME
from parachute.core.event import EVENT_NAME
from parachute.core.services import ACTIONS
from parachute.modules.manifest.agents import file_name, read_agents
from parachute.modules.manifest.models import (
    CONVERSATION_KINDS,
    NAME,
    REQUIREMENT,
    RESOURCE_NAMES,
    Hook,
    InterfaceName,
    Manifest,
    Permissions,
    Service,
    ToolDeclaration,
    UserInterface,
)
from parachute.modules.manifest.permissions import read_permissions
from parachute.modules.manifest.settings import read_settings

FILE_NAME = "manifest.yaml"

# semver.org, without its build part's dots being checked one by one
_VERSION = re.compile(
    r"(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?(\+[0-9A-Za-z.-]+)?"
)
_FILE = re.compile(r"(?:[A-Za-z_]\w*/)*[A-Za-z_]\w*\.py", re.ASCII)
_HANDLER = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*:[A-Za-z_]\w*", re.ASCII)
_FIELDS = (
    *(
        "name",
        "version",
        "description",
        "author",
        "module",
        "provides",
        "optional_requires",
        "dependencies",
        "permissions",
    ),
    *("agents", "prompts", "hooks", "mcp_tools", "accepts", "routes", "service", "ui", "settings"),
)
_STARTS: tuple[Literal["socket-activated"], Literal["always"]] = ("socket-activated", "always")
BOUNDS = Bounds(depth=12)


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
        return parse(read_regular(file, BOUNDS.size), file)
    except FileNotFoundError as error:
        raise no_manifest(file) from error
    except (InvalidInput, OSError) as error:
        if isinstance(error, ManifestInvalid):
            raise
        said = error.strerror if isinstance(error, OSError) else error.message
        raise ManifestInvalid(file, (f"line 1: manifest: The file cannot be read: {said}",)) from error


def no_manifest(file: Path) -> NotFound:
    """The error for a folder without a manifest."""
    return NotFound(f"{file} does not exist.", "A module is a folder with a manifest.yaml.", key="no_manifest")


def parse(data: bytes, path: Path = Path(FILE_NAME)) -> Manifest:
    """Read the text of a manifest; error: ManifestInvalid."""
    try:
        return read_document(data, "manifest", _manifest, BOUNDS)
    except DocumentInvalid as error:
        raise ManifestInvalid(path, tuple(map(str, error.problems))) from error


def _manifest(root: Value) -> Manifest:
    fields = root.fields(_FIELDS)
    name = fields.read("name", _name, "")
    manifest = Manifest(
        name=name,
        version=fields.read("version", _version, ""),
        module=fields.read("module", _module, ""),
        description=fields.read("description", lambda value: value.text(2_000), ""),
        author=fields.read("author", lambda value: value.text(200), ""),
        provides=fields.read("provides", _interfaces, ()),
        optional_requires=fields.read("optional_requires", _interfaces, ()),
        dependencies=fields.read("dependencies", lambda value: value.each(_dependency), ()),
        permissions=fields.read("permissions", read_permissions, Permissions()),
        agents=MappingProxyType(fields.read("agents", read_agents, {})),
        prompts=MappingProxyType(fields.read("prompts", _prompts, {})),
        hooks=fields.read("hooks", lambda value: value.each(_hook), ()),
        mcp_tools=fields.read("mcp_tools", _tools, ()),
        accepts=fields.read("accepts", _accepts, ()),
        prefix=fields.read("routes", lambda value: _prefix(value, name), f"/api/{name}"),
        service=fields.read("service", _service, Service()),
        ui=fields.read("ui", _ui, None),
        settings=fields.read("settings", read_settings, ()),
    )
    names = [entry.name for entry in manifest.provides]
    for entry in manifest.optional_requires:
        if entry.name in names:
            fields["optional_requires"].note(f"The module provides {entry.name} itself.")
    # After everything else, so that all mistakes are named at once.
    root.require(fields, ("name", "version", "module"))
    return manifest


def _name(value: Value) -> str:
    text = value.matching(NAME, "1 to 40 of a-z, 0-9, - and _ are allowed, beginning with a letter.")
    if text.replace("-", "_") in sys.stdlib_module_names:
        value.refuse(f"{text!r} is the name of a part of Python; choose another one.")
    return text


def _version(value: Value) -> str:
    if not _VERSION.fullmatch(value.written):
        value.refuse("Three numbers are expected, such as 1.0.0.")
    return value.written


def _module(value: Value) -> str:
    return value.matching(_FILE, "A Python file of the module is expected, such as module.py.")


def _interfaces(value: Value) -> tuple[InterfaceName, ...]:
    found = value.each(lambda item: InterfaceName.parse(item.text()))
    _note_repeated(value, [entry.name for entry in found])
    return found


def _dependency(value: Value) -> str:
    return value.matching(
        REQUIREMENT, "A package with its versions is expected, such as pyyaml>=6.0; no addresses, no options.", 300
    )


def _prompts(value: Value) -> dict[str, str]:
    fields = value.fields(CONVERSATION_KINDS)
    return {kind: file_name(name, f"prompts/{kind}.md") for kind, name in fields.items()}


def _hook(value: Value) -> Hook:
    fields = value.fields(("event", "handler", "async"), ("event",))
    name = fields["event"].matching(EVENT_NAME, "A name such as daily.entry.created is expected.")
    is_async = fields["async"].boolean() if "async" in fields else False
    return Hook(name, _handler(fields), is_async)


def _tools(value: Value) -> tuple[ToolDeclaration, ...]:
    found = value.each(_tool)
    _note_repeated(value, [tool.name for tool in found])
    return found


def _tool(value: Value) -> ToolDeclaration:
    fields = value.fields(("name", "description", "handler"), ("name", "description"))
    name = fields["name"].matching(TOOL_NAME, "1 to 64 letters, digits, _ or - are allowed.")
    if name in (SUGGEST_TOOL, *RESOURCE_NAMES):
        fields["name"].refuse(f"The tool {name} is the computer's own: choose another name.")
    return ToolDeclaration(name, fields["description"].text(), _handler(fields))


def _accepts(value: Value) -> tuple[str, ...]:
    found = value.each(lambda item: item.one_of(ACTIONS))
    _note_repeated(value, list(found))
    return found


def _handler(fields: Fields) -> str:
    if "handler" not in fields:
        return ""
    return fields["handler"].matching(_HANDLER, "A file and a function are expected, such as tools:search.")


def _prefix(value: Value, name: str) -> str:
    fields, expected = value.fields(("prefix",)), f"/api/{name}"
    if "prefix" in fields and name and fields["prefix"].text().rstrip("/") != expected:
        fields["prefix"].refuse(f"It must be {expected}, after the module's name.")
    return expected


def _service(value: Value) -> Service:
    if value.is_scalar:
        return Service(start=value.one_of(_STARTS))
    fields = value.fields(("start", "memory", "pids", "idle_seconds"))
    usual = Service()
    return Service(
        start=fields.read("start", lambda start: start.one_of(_STARTS), usual.start),
        memory=fields.read("memory", _memory, usual.memory),
        pids=fields.read("pids", lambda pids: pids.integer(8, 4096), usual.pids),
        idle_seconds=fields.read("idle_seconds", lambda seconds: seconds.integer(1, 86_400), usual.idle_seconds),
    )


def _memory(value: Value) -> str:
    size = value.text()
    # Raises what is wrong with it.
    Service(memory=size).memory_bytes  # noqa: B018
    return size


def _ui(value: Value) -> UserInterface:
    fields = value.fields(("title", "icon", "entry"), ("title",))
    icon = fields["icon"].text(200) if "icon" in fields else ""
    entry = file_name(fields["entry"], "ui/index.html") if "entry" in fields else ""
    return UserInterface(fields["title"].text(200), icon, entry)


def _note_repeated(value: Value, names: list[str]) -> None:
    for name in sorted({name for name in names if names.count(name) > 1}):
        value.note(f"{name} is there twice.")
