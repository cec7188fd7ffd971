"""Manifests: every field, and every mistake at once."""

import os
from pathlib import Path
from typing import Any

import pytest

from parachute.base.errors import InvalidInput
from parachute.modules.manifest.loading import ManifestInvalid, load, parse
from parachute.modules.manifest.models import InterfaceName, folders
from tests.support.errors import raises

COMPLETE = Path(__file__).parent / "complete.yaml"
MINIMAL = "name: notes\nversion: 1.0.0\nmodule: module.py\n"

EVERYTHING = """\
name: contacts
version: 2.1.0-rc.1
module: src/module.py
description: Contacts with everything.
provides: [ContactsInterface@2.3]
optional_requires: [BrainInterface, JournalInterface@1.4]
dependencies:
  - vobject>=0.9
  - "httpx[http2] ~= 0.28 ; python_version >= '3.11'"
permissions:
  read: [Brain/**, .skills/contacts.md]
  write: ["Contacts/**"]
  bash: [git]
  mcp: [brain_*]
  network: ["*.example.org", Api.Example.com]
agents:
  enricher:
    description: Fetches public information
    sandbox:
      workspace_access: rw
      allowed_paths: [Contacts/, "${CWD}/out", ~/Work/contacts]
      network: [api.example.com]
      memory: 1g
      cpus: 2
      pids_limit: 64
      read_only_root: true
      cap_drop: [ALL]
    system_prompt: prompts/enricher.md
    capabilities: [read, Write]
    bash: [git, npm]
    can_suggest: [brain]
    allow_user_skills: true
  short:
    paths: [Brain/]
    capabilities: [read]
    network: false
  free:
    sandbox: null
    requires_explicit_approval: true
prompts:
  default: prompts/default.md
  trusted: prompts/trusted.md
hooks:
  - event: daily.entry.created
    handler: hooks:on_entry
    async: true
  - event: brain.mention.detected
mcp_tools:
  - name: contacts_search
    description: Search contacts
    handler: tools.search:run
accepts: [create, link]
routes:
  prefix: /api/contacts
service:
  start: always
  memory: 128m
  pids: 32
  idle_seconds: 30
ui:
  title: Contacts
  icon: "📇"
  entry: ui/index.html
settings:
  server:
    type: string
    default: https://dav.example.org
    description: Where contacts come from.
  interval:
    type: integer
    default: 15
  ratio: {type: number, default: 0.5}
  quiet: {type: boolean, default: no}
  order: {type: choice, choices: [name, city], default: name}
  password: {type: secret}
"""


def problems(text: str | bytes) -> list[str]:
    with pytest.raises(ManifestInvalid) as caught:
        parse(text.encode() if isinstance(text, str) else text)
    found = list(caught.value.problems)
    assert caught.value.fields["problems"] == caught.value.problems
    assert all(problem in str(caught.value) for problem in found)
    return found


def test_the_complete_example_of_the_specification() -> None:
    manifest = load(COMPLETE)
    assert (manifest.name, manifest.version, manifest.module, manifest.prefix) == (
        "brain",
        "1.0.0",
        "module.py",
        "/api/brain",
    )
    assert manifest.provides == (InterfaceName("BrainInterface"),)
    assert manifest.dependencies == ("pyyaml>=6.0", "aiofiles>=23.0")
    sandbox = manifest.agents["indexer"].sandbox
    assert sandbox is not None
    assert (sandbox.workspace_access, sandbox.allowed_paths, sandbox.cpus, sandbox.pids_limit) == (
        "rw",
        ("Brain/",),
        1.0,
        256,
    )
    assert [(hook.event, hook.handler, hook.is_async) for hook in manifest.hooks] == [
        ("daily.entry.created", "hooks:on_entry_created", True)
    ]
    assert [tool.name for tool in manifest.mcp_tools] == ["brain_search", "brain_resolve"]


def test_every_field() -> None:
    manifest = parse(EVERYTHING.encode())
    assert str(manifest.provides[0]) == "ContactsInterface@2.3"
    assert manifest.optional_requires == (InterfaceName("BrainInterface"), InterfaceName("JournalInterface", 1, 4))
    assert manifest.permissions.network == ("*.example.org", "api.example.com")
    assert manifest.permissions.bash == ("git",)
    assert manifest.accepts == ("create", "link")
    enricher, short, free = manifest.agents["enricher"], manifest.agents["short"], manifest.agents["free"]
    assert enricher.capabilities == ("Read", "Write")
    assert enricher.sandbox is not None
    assert (enricher.sandbox.network, enricher.sandbox.memory) == (("api.example.com",), "1g")
    assert enricher.bash == ("git", "npm")
    assert (enricher.can_suggest, enricher.allow_user_skills) == (("brain",), True)
    assert short.sandbox is not None
    assert (short.sandbox.workspace_access, short.sandbox.network) == ("ro", "none")
    assert free.sandbox is None
    assert manifest.service.memory_bytes == 128 << 20
    assert (manifest.service.start, manifest.service.pids, manifest.service.idle_seconds) == ("always", 32, 30)
    assert dict(manifest.prompts) == {"default": "prompts/default.md", "trusted": "prompts/trusted.md"}
    assert manifest.ui is not None
    assert (manifest.ui.title, manifest.ui.icon, manifest.ui.entry) == ("Contacts", "📇", "ui/index.html")
    assert manifest.defaults == {
        "server": "https://dav.example.org",
        "interval": 15,
        "ratio": 0.5,
        "quiet": False,
        "order": "name",
        "password": None,
    }


def test_all_mistakes_are_told_at_once_with_line_and_field() -> None:
    found = problems(
        "name: Json\n"
        "versio: 1.0.0\n"
        "version: 1.0\n"
        "module: ../module.py\n"
        "permissions:\n"
        "  read: [.parachute/token, ../x, /etc, '']\n"
        "  writes: []\n"
        "agents:\n"
        "  one:\n"
        "    sandbox:\n"
        "      memory: 512\n"
        "      netwrk: none\n"
        "    capabilities: [Reed]\n"
    )
    assert found == [
        "line 1: name: 1 to 40 of a-z, 0-9, - and _ are allowed, beginning with a letter.",
        "line 2: versio: Unknown field; did you mean version?",
        "line 3: version: Three numbers are expected, such as 1.0.0.",
        "line 4: module: A Python file of the module is expected, such as module.py.",
        "line 6: permissions.read[0]: .parachute at the top of the vault belongs to the computer itself.",
        "line 6: permissions.read[1]: '../x' must not contain `..`.",
        "line 6: permissions.read[2]: '/etc' must be a path within the vault, such as Notes/today.md.",
        "line 6: permissions.read[3]: 1 to 1,000 printable characters are allowed.",
        "line 7: permissions.writes: Unknown field; did you mean write?",
        "line 11: agents.one.sandbox.memory: Write a size of at least 16m, such as 512m or 2g.",
        "line 12: agents.one.sandbox.netwrk: Unknown field; did you mean network?",
        "line 13: agents.one.capabilities: 'Reed' is unknown; allowed are Read, Write, Edit, Bash, Glob, Grep, WebFetch, "
        "WebSearch, NotebookEdit, TodoWrite, Task, Skill, AskUserQuestion, Computer.",
    ]


@pytest.mark.parametrize(
    ("added", "said"),
    [
        ("name: other", "line 4: manifest: The field 'name' is there twice."),
        ("name2: x", "line 4: name2: Unknown field; did you mean name?"),
        ("provides: brain", "line 4: provides: This must be a list"),
        ("provides: [brain]", "line 4: provides[0]: 'brain' must be a name such as BrainInterface"),
        ("provides: [AInterface, AInterface]", "line 4: provides: AInterface is there twice."),
        (
            "provides: [AInterface]\noptional_requires: [AInterface]",
            "line 5: optional_requires: The module provides AInterface itself.",
        ),
        ("dependencies: ['x @ https://example.org/x.whl']", "line 4: dependencies[0]: A package with its versions"),
        ("dependencies: ['--index-url=http://example.org']", "line 4: dependencies[0]:"),
        ("dependencies: ['./local']", "line 4: dependencies[0]:"),
        ("dependencies: ['git+https://example.org/x']", "line 4: dependencies[0]:"),
        ('dependencies: ["a\\nb"]', "line 4: dependencies[0]:"),
        ("permissions: {write: [notes.md]}", "line 4: permissions.write[0]: A folder is expected"),
        ("permissions: {write: [.skills/**]}", "line 4: permissions.write[0]: .skills"),
        ("permissions: {read: ['a**']}", "line 4: permissions.read[0]: 'a**': `**` stands alone"),
        ("permissions: {network: [10.0.0.1]}", "line 4: permissions.network[0]: '10.0.0.1' must be a host"),
        ("permissions: {network: ['*']}", "line 4: permissions.network[0]:"),
        ("permissions: {network: ['https://example.org']}", "line 4: permissions.network[0]:"),
        ("permissions: {bash: maybe}", "line 4: permissions.bash: A list of texts is allowed."),
        ("permissions: {bash: ['git push']}", "line 4: permissions.bash:"),
        ("permissions: {mcp: ['a b']}", "line 4: permissions.mcp[0]:"),
        ("permissions: []", "line 4: permissions: Fields with values are expected, such as `name: value`."),
        ("agents: {A: {}}", "line 4: agents.A: a-z, 0-9, - and _"),
        ("agents: {a: {sandbox: null}}", "line 4: agents.a: Sandbox: an agent without a sandbox needs"),
        ("agents: {a: {sandbox: {}, paths: [x/]}}", "line 4: agents.a: Paths: say it inside of sandbox"),
        (
            "agents: {a: {sandbox: {network: host}}}",
            "line 4: agents.a.sandbox.network: None, bridge or a list of hosts",
        ),
        ("agents: {a: {sandbox: {cpus: .inf}}}", "line 4: agents.a.sandbox.cpus:"),
        ("agents: {a: {sandbox: {pids_limit: true}}}", "line 4: agents.a.sandbox.pids_limit:"),
        ("agents: {a: {sandbox: {allowed_paths: [~/.ssh]}}}", "line 4: agents.a.sandbox.allowed_paths:"),
        (
            "agents: {a: {sandbox: {workspace_access: admin}}}",
            "line 4: agents.a.sandbox.workspace_access: One of none, ro, rw",
        ),
        ("agents: {a: {system_prompt: ../x.md}}", "line 4: agents.a.system_prompt: A file of the module"),
        ("agents: {a: {description: 5}}", "line 4: agents.a.description: Text is allowed."),
        ("hooks: [{event: Entry}]", "line 4: hooks[0].event: A name such as daily.entry.created"),
        ("hooks: [{handler: 'a:b'}]", "line 4: hooks[0].event: This is required."),
        ("hooks: [{event: a.b, handler: 'os.system'}]", "line 4: hooks[0].handler: A file and a function"),
        ("hooks: [{event: a.b, async: 1}]", "line 4: hooks[0].async: Write true or false."),
        ("mcp_tools: [{name: a b, description: x}]", "line 4: mcp_tools[0].name:"),
        ("mcp_tools: [{name: a}]", "line 4: mcp_tools[0].description: This is required."),
        (
            "mcp_tools: [{name: suggest, description: x}]",
            "line 4: mcp_tools[0].name: The tool suggest is the computer's",
        ),
        (
            "mcp_tools: [{name: resources-files, description: x}]",
            "line 4: mcp_tools[0].name: The tool resources-files is",
        ),
        ("mcp_tools: [{name: a, description: x}, {name: a, description: y}]", "line 4: mcp_tools: a is there twice."),
        ("routes: {prefix: /api/chat}", "line 4: routes.prefix: It must be /api/notes"),
        ("service: sometimes", "line 4: service: One of socket-activated, always"),
        ("service: {memory: 3}", "line 4: service.memory:"),
        ("service: {memory: 1m}", "line 4: service.memory: Write a size of at least 16m"),
        ("service: {pids: 100000}", "line 4: service.pids: A whole number from 8 to 4096"),
        ("ui: {icon: x}", "line 4: ui.title: This is required."),
        ("ui: {title: x, entry: /etc/passwd}", "line 4: ui.entry:"),
        ("settings: {a: {type: text}}", "line 4: settings.a.type: One of string, integer"),
        ("settings: {a: {type: integer, default: x}}", "line 4: settings.a.default: A whole number is allowed."),
        ("settings: {a: {type: secret, default: x}}", "line 4: settings.a.default: A secret has no default"),
        ("settings: {a: {type: choice}}", "line 4: settings.a.choices:"),
        ("settings: {a: {type: choice, choices: [x], default: y}}", "line 4: settings.a.default: One of x is allowed."),
        ("settings: {A: {type: string}}", "line 4: settings.A:"),
        ("description: yes", 'line 4: description: YAML takes this for true or false; write "yes" in quotes.'),
        ("description: 2024-01-15", "line 4: description: YAML takes this for a date"),
        ("yes: 1", "line 4: yes: Unknown field"),
    ],
)
def test_each_mistake(added: str, said: str) -> None:
    found = problems(MINIMAL + added + "\n")
    assert len(found) == 1
    assert found[0].startswith(said)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "line 1: manifest: The file is empty."),
        ("- a", "line 1: manifest: Fields with values are expected, such as `name: value`."),
        ("name: [", "manifest: This is not YAML"),
        ("name: a\n\tversion: 1", "line 2: manifest: This is not YAML"),
        ("name: &a x\nversion: *a", "line 1: manifest: Anchors and aliases"),
        ("name: !!python/object:os.system x", "line 1: manifest: The tag"),
        ("name: !secret x", "line 1: manifest: The tag"),
        ("name: a\n---\nname: b", "manifest: This is not YAML"),
        ("a: " + "[" * 5000, "line 1: manifest: There are more lists inside of lists"),
        ("{" * 100_000, "line 1: manifest: There are more lists inside of lists"),
        ("a: " + "x" * 300_000, "line 1: manifest: The text is larger than"),
        (b"name: \xff", "line 1: manifest: This is not UTF-8 text."),
        (b"name: a\nversion: \x00", "manifest: This is not YAML"),
        ("<<: {name: x}", "line 1: <<: Unknown field"),
        ("? [a]\n: b", "The name of a field must be text"),
    ],
)
def test_what_is_no_manifest_at_all(text: str | bytes, said: str) -> None:
    assert any(said in problem for problem in problems(text))


@pytest.mark.parametrize("name", ["json", "telegram--" + "x" * 40, "../evil"])
def test_names_that_cannot_be(name: str) -> None:
    assert problems(MINIMAL.replace("notes", name))[0].startswith("line 1: name:")


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with raises("no_manifest"):
        load(tmp_path)
    (tmp_path / "manifest.yaml").symlink_to("/etc/passwd")
    with raises("manifest_invalid", names="cannot be read"):
        load(tmp_path)
    (tmp_path / "manifest.yaml").unlink()
    os.mkfifo(tmp_path / "manifest.yaml")
    with raises("manifest_invalid", names="regular file"):
        load(tmp_path)


def test_files_that_the_manifest_names_have_to_exist() -> None:
    manifest = parse(EVERYTHING.encode())
    assert manifest.missing_files({"src/module.py", "hooks.py"}) == (
        "agents.enricher.system_prompt: the module has no file prompts/enricher.md.",
        "prompts.default: the module has no file prompts/default.md.",
        "prompts.trusted: the module has no file prompts/trusted.md.",
        "mcp_tools[0].handler: the module has no file tools/search.py.",
        "ui.entry: the module has no file ui/index.html.",
    )


def test_folders_to_mount(tmp_path: Path) -> None:
    for name in ("Daily", "Brain", ".parachute"):
        (tmp_path / name).mkdir()
    (tmp_path / "link").symlink_to("/etc")
    assert folders(("Daily/**", "Daily/a/*.md", "Brain/x.md", "New/*"), tmp_path) == (
        tmp_path / "Brain/x.md",
        tmp_path / "Daily",
        tmp_path / "New",
    )
    assert folders(("**",), tmp_path) == (tmp_path / "Brain", tmp_path / "Daily")


@pytest.mark.parametrize(
    ("provided", "wanted", "fits"),
    [("A12@1.2", "A12", True), ("A12", "A12@1.1", False), ("A12@2.0", "A12", False), ("A12", "B12", False)],
)
def test_versions_of_interfaces(provided: str, wanted: str, fits: bool) -> None:
    assert InterfaceName.parse(provided).satisfies(InterfaceName.parse(wanted)) is fits


@pytest.mark.parametrize(
    ("name", "value", "right"),
    [
        ("interval", 3, True),
        ("interval", True, False),
        ("interval", "3", False),
        ("ratio", 1, True),
        ("quiet", 1, False),
        ("order", "city", True),
        ("order", ["city"], False),
        ("password", "x" * 20_000, False),
    ],
)
def test_values_of_settings(name: str, value: Any, right: bool) -> None:
    setting = next(entry for entry in parse(EVERYTHING.encode()).settings if entry.name == name)
    if right:
        assert setting.check(value) == value
    else:
        with pytest.raises(InvalidInput, match=name):
            setting.check(value)
