"""The bodies of `PATCH /api/chat/{id}/config` and of `activate`; an unknown field is an error."""

from typing import Annotated, Any, Literal

from msgspec.structs import replace
from pydantic import AliasChoices, BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from parachute.base.errors import InvalidInput
from parachute.chat.agent_processes.program_tools import PERSONS_TOOLS
from parachute.chat.permissions.models import SessionPermissions
from parachute.chat.permissions.templates import template
from parachute.chat.sessions.models import LONGEST_TITLE
from parachute.config.settings.groups.values import LARGEST_MEGABYTES
from parachute.sandbox.egress.models import NO_NETWORK, Network
from parachute.sandbox.egress.presets import normal
from parachute.sandbox.engines.limits import NO_LIMITS, Limits

_MOST = 100
_PERMISSIONS = ("allowed_folders", "allowed_mcps", "capabilities", "network", "sandbox_override")
_TOOLS = {name.lower(): name for name in PERSONS_TOOLS}

Text = Annotated[str, Field(min_length=1, max_length=4096)]
Name = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[A-Za-z0-9_.-]+$")]
Host = Annotated[str, Field(min_length=1, max_length=300)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class NetworkPermission(_Strict):
    """No network, or of the hosts that the conversation has only these."""

    mode: Literal["off", "list"]
    hosts: list[Host] = Field(default=[], max_length=_MOST)

    def chosen(self) -> Network:
        """The choice as it is kept; error: InvalidInput."""
        if self.mode == "list":
            return Network("list", normal(self.hosts))
        if self.hosts:
            raise InvalidInput(
                "network.hosts: without a network there are no hosts.",
                "Use the mode `list`.",
                key="hosts_without_network",
            )
        return NO_NETWORK


class SandboxOverride(_Strict):
    """Limits of the conversation's sandbox, lower than those it has."""

    memory_megabytes: int | None = Field(default=None, ge=256, le=LARGEST_MEGABYTES)
    cpus: float | None = Field(default=None, ge=0.1, le=1024, allow_inf_nan=False)
    processes: int | None = Field(default=None, ge=160, le=32768)

    def chosen(self) -> Limits | None:
        """The limits as they are kept."""
        chosen = Limits(self.memory_megabytes, self.cpus, self.processes)
        return None if chosen == NO_LIMITS else chosen


class Configuration(BaseModel):
    """Changes of a session; what is absent stays. `title` gives it another name.

    Of its permissions null takes back what was narrowed, and an empty list leaves nothing. `template` sets all of them, and the
    others then change what it says.
    """

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid", strict=True)

    title: str | None = Field(default=None, max_length=LONGEST_TITLE)

    trust_level: str | None = Field(default=None, max_length=40)
    config_overrides: dict[str, Any] | None = None
    workspace_id: str | None = Field(default=None, max_length=100)
    response_mode: str | None = Field(default=None, max_length=40)
    mention_pattern: str | None = Field(default=None, max_length=500)
    template: str | None = Field(default=None, max_length=40)
    allowed_folders: list[Text] | None = Field(
        default=None, max_length=_MOST, validation_alias=AliasChoices("allowed_folders", "allowedFolders")
    )
    allowed_mcps: list[Name] | None = Field(
        default=None, max_length=_MOST, validation_alias=AliasChoices("allowed_mcps", "allowedMcps")
    )
    capabilities: list[Name] | None = Field(default=None, max_length=_MOST)
    network: NetworkPermission | None = None
    sandbox_override: SandboxOverride | None = Field(
        default=None, validation_alias=AliasChoices("sandbox_override", "sandboxOverride")
    )

    @property
    def of_session(self) -> dict[str, Any]:
        """The changes of the session's row that were sent, by their names in the API."""
        return self.model_dump(by_alias=True, exclude_unset=True, exclude={"template", *_PERMISSIONS})

    @property
    def changes_permissions(self) -> bool:
        """True if permissions are among what was sent."""
        return self.template is not None or bool(self.said)

    @property
    def said(self) -> frozenset[str]:
        """The permissions that were sent one by one."""
        return frozenset(_PERMISSIONS) & self.model_fields_set

    def permissions(self, before: SessionPermissions) -> SessionPermissions:
        """The permissions after these changes; error: InvalidInput for an unknown word."""
        after = before if self.template is None else template(self.template).permissions
        for name in self.said:
            after = replace(after, **self._field(name))
        return after

    def _field(self, name: str) -> dict[str, Any]:
        match name:
            case "allowed_folders":
                return {"folders": _listed(self.allowed_folders)}
            case "allowed_mcps":
                return {"mcps": _listed(self.allowed_mcps)}
            case "capabilities":
                return {
                    "capabilities": None if self.capabilities is None else _listed(list(map(_tool, self.capabilities)))
                }
            case "network":
                return {"network": self.network and self.network.chosen()}
            case _:
                return {"sandbox": self.sandbox_override and self.sandbox_override.chosen()}


def _listed(names: list[str] | None) -> tuple[str, ...] | None:
    return None if names is None else tuple(dict.fromkeys(names))


def _tool(word: str) -> str:
    found = _TOOLS.get(word.lower())
    if found is None:
        raise InvalidInput(
            f"capabilities: expected some of {', '.join(PERSONS_TOOLS)}, not {word[:40]!r}.", key="unknown_capability"
        )
    return found
