"""Limits of modules' agents by the owner: never more than there is, and never lost."""

from pathlib import Path
from typing import Any

import pytest

from parachute.base.errors import InvalidInput, NotFound
from parachute.config.settings.home import Home
from parachute.core.agents import AgentConfig, SandboxConfig
from parachute.modules.manifest.models import Manifest
from parachute.modules.registry.agent_limits import AgentLimit, check_limit, narrowed
from parachute.modules.registry.registry import Registry
from parachute.modules.registry.service import Modules
from parachute.modules.runtime.specifications import specify

from .building import write_module
from .steps import install

AGENT = AgentConfig(
    sandbox=SandboxConfig("rw", ("Letters/**", "Brain/people/ann.md", "~/Work/letters"), network=("a.example.org",)),
    capabilities=("Read", "Write"),
    bash=("ls",),
)
FREE = AgentConfig(sandbox=None, requires_explicit_approval=True, capabilities=("Read",), bash=True)
ALL = AgentConfig(sandbox=SandboxConfig("ro", ("**",)), capabilities=("Read",))
MANIFEST = Manifest("letters", "1.0.0", "module.py", agents={"sorter": AGENT, "free": FREE, "all": ALL})
YAML = """\
agents:
  sorter:
    sandbox: {workspace_access: rw, allowed_paths: [Letters/**], network: [a.example.org]}
    capabilities: [Read, Write]
"""


def limited(agent: str, **limit: Any) -> AgentConfig:
    """An agent with a limit that holds."""
    found = AgentLimit(**limit)
    check_limit(MANIFEST, agent, found)
    return narrowed(MANIFEST, {agent: found}).agents[agent]


def test_an_agent_keeps_what_both_allow() -> None:
    sandbox = limited("sorter", paths=("Letters/2026/",)).sandbox
    assert sandbox is not None
    assert (sandbox.allowed_paths, sandbox.network, sandbox.workspace_access) == (
        ("Letters/2026/",),
        ("a.example.org",),
        "rw",
    )
    config = limited("sorter", capabilities=("read",), network="none")
    assert config.sandbox is not None
    assert (config.capabilities, config.bash) == (("Read",), False)
    assert (config.sandbox.network, config.sandbox.workspace_access) == ("none", "ro")
    assert config.sandbox.allowed_paths == AGENT.sandbox.allowed_paths  # type: ignore[union-attr]
    outside = limited("sorter", paths=("~/Work/letters/old",)).sandbox
    assert outside is not None
    assert outside.allowed_paths == ("~/Work/letters/old",)


def test_an_agent_without_a_sandbox_gets_one() -> None:
    config = limited("free", paths=("Letters/",))
    assert config.sandbox == SandboxConfig("rw", ("Letters/",), network="bridge")
    assert config.requires_explicit_approval
    assert limited("free", network="none").sandbox == SandboxConfig("rw", (), network="none")


@pytest.mark.parametrize(
    ("agent", "limit"),
    [
        ("sorter", {"paths": ("Daily/",)}),
        ("sorter", {"paths": ("**",)}),
        ("sorter", {"paths": ("Letters*/",)}),
        ("sorter", {"paths": ("*/x",)}),
        ("sorter", {"paths": ("Brain/people/",)}),
        ("sorter", {"paths": ("~/Work",)}),
        ("sorter", {"paths": ("Work/letters",)}),
        ("sorter", {"paths": ("${CWD}",)}),
        ("sorter", {"capabilities": ("Grep",)}),
        ("all", {"paths": (".modules/x",)}),
        ("all", {"capabilities": ("Bash",)}),
    ],
)
def test_nothing_is_given(agent: str, limit: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as refused:
        limited(agent, **limit)
    assert refused.value.key == "wider"
    # What an update of the module does not have any more is not given either.
    config = narrowed(MANIFEST, {agent: AgentLimit(**limit)}).agents[agent]
    before = MANIFEST.agents[agent]
    assert config.sandbox is not None
    assert before.sandbox is not None
    assert set(config.sandbox.allowed_paths) <= set(before.sandbox.allowed_paths)
    assert set(config.capabilities) <= set(before.capabilities)


@pytest.mark.parametrize(
    "limit", [{"paths": ("../x",)}, {"paths": ("/etc",)}, {"capabilities": ("Fly",)}, {"paths": ("~/.ssh",)}]
)
def test_what_is_no_limit_is_refused(limit: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        AgentLimit(**limit)


def test_a_limit_stays_over_updates_and_goes_with_the_module(modules: Modules, tmp_path: Path, home: Home) -> None:
    source = write_module(tmp_path / "letters", "letters", more=YAML)
    install(modules, source)
    with pytest.raises(NotFound):
        modules.limit("letters", "nobody", AgentLimit(network="none"))
    with pytest.raises(InvalidInput):
        modules.limit("letters", "sorter", AgentLimit(paths=("Daily/",)))
    assert not modules.registry.module("letters").agents
    found = modules.limit("letters", "sorter", AgentLimit(paths=("Letters/2026/",), network="none"))
    assert found.agent_limits == {"sorter": AgentLimit(("Letters/2026/",), network="none")}
    write_module(source, "letters", "1.1.0", more=YAML)
    install(modules, source)
    assert Registry(home.root / "modules.yaml").module("letters").agents == {
        "sorter": AgentLimit(("Letters/2026/",), network="none")
    }
    agent = specify(modules, modules.approved("letters")).module.manifest.agents["sorter"]
    assert agent.sandbox is not None
    assert (agent.sandbox.allowed_paths, agent.sandbox.network) == (("Letters/2026/",), "none")
    assert modules.limit("letters", "sorter", None).agent_limits == {}
    modules.limit("letters", "sorter", AgentLimit(network="none"))
    with modules.removing("letters"):
        pass
    install(modules, source)
    assert not modules.registry.module("letters").agents
