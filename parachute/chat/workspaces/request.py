"""The bodies of `POST` and `PUT /api/workspaces`; an unknown field is an error."""

from typing import Annotated, Any, Literal

from msgspec.structs import replace
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from parachute.base.errors import InvalidInput
from parachute.chat.workspaces.models import EVERY_HOST_ASKS, Capabilities, Workspace, choice_of
from parachute.config.settings.groups.agents import Apply
from parachute.sandbox.egress.models import Mode, Network
from parachute.sandbox.egress.presets import normal
from parachute.sandbox.git.models import Access, Grant, Repository
from parachute.security.trust_levels import TrustLevel, normalize_trust_level

_NAMES = 200


def _title(value: str) -> str:
    value = value.strip()
    if not value or not value.isprintable():
        raise ValueError("expected printable characters, and not only spaces")
    return value


def _text(value: str) -> str:
    if "\0" in value:
        raise ValueError("must not contain a zero byte")
    value.encode()  # a half of a character is a UnicodeEncodeError, which is a ValueError
    return value


def _repository(value: str) -> str:
    try:
        return str(Repository.parse(value))
    except InvalidInput as error:
        raise ValueError(error.message) from error


Name = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_title)]
Text = Annotated[str, AfterValidator(_text)]
Named = Literal["all", "none"] | Annotated[list[Name], Field(max_length=_NAMES)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class CapabilityChoices(_Strict):
    """For each kind `all`, `none` or a list of names."""

    mcps: Named = "all"
    skills: Named = "all"
    agents: Named = "all"
    plugins: Named = "all"

    def chosen(self) -> Capabilities:
        """The choices as they are kept."""
        kinds = (self.mcps, self.skills, self.agents, self.plugins)
        return Capabilities(*map(choice_of, kinds))


class NetworkChoice(_Strict):
    """The network of a workspace's sandboxes: none, the hosts alone, or others too once the owner allows them."""

    mode: Mode = "ask"
    hosts: Annotated[list[Name], Field(max_length=_NAMES)] = []

    def chosen(self) -> Network:
        """The choice as it is kept; error: InvalidInput naming each wrong host."""
        return Network(self.mode, normal(self.hosts))


class RepositoryChoice(_Strict):
    """A repository that git uses in the workspace's sandboxes, with the owner's token; to push includes to fetch."""

    repository: Annotated[str, Field(max_length=500), AfterValidator(_repository)]
    access: Access = "fetch"

    def chosen(self) -> Grant:
        """The choice as it is kept."""
        return Grant(self.repository, self.access)


class Changes(_Strict):
    """Changes of a workspace; what is absent stays, and null gives back the default."""

    name: Name | None = None
    description: Annotated[Text, Field(max_length=2000)] | None = None
    default_trust_level: str | None = Field(default=None, max_length=40)
    working_directory: Annotated[Text, Field(max_length=4096)] | None = None
    model: str | None = Field(default=None, max_length=100, pattern=r"^[A-Za-z0-9._:/@\[\]-]*$")
    only_at_home: bool | None = None
    capabilities: CapabilityChoices | None = None
    memory_megabytes: int | None = Field(default=None, ge=256, le=1024 * 1024)
    cpus: float | None = Field(default=None, ge=0.1, le=512, allow_inf_nan=False)
    processes: int | None = Field(default=None, ge=160, le=4096)
    network: NetworkChoice | None = None
    git: Annotated[list[RepositoryChoice], Field(max_length=_NAMES)] | None = None
    apply: Apply | None = None

    def level(self) -> TrustLevel | None:
        """The trust level that is asked for, if any; error: InvalidInput for an unknown word."""
        if self.default_trust_level is None:
            return None
        try:
            return normalize_trust_level(self.default_trust_level)
        except InvalidInput as error:
            raise InvalidInput(error.message.replace("trustLevel", "default_trust_level", 1), key=error.key) from error

    def level_after(self, before: TrustLevel) -> TrustLevel:
        """The trust level after these changes; error: InvalidInput for an unknown word."""
        return self.level() or ("sandboxed" if "default_trust_level" in self.model_fields_set else before)

    def given(self) -> dict[str, Any]:
        """The plain members that were sent, null as the default; trust level and folder are left to the service."""
        sent = self.model_fields_set
        values: dict[str, Any] = {}
        if self.name is not None:
            values["name"] = self.name
        if "description" in sent:
            values["description"] = (self.description or "").strip()
        if "model" in sent:
            values["model"] = self.model or None
        if "only_at_home" in sent:
            values["only_at_home"] = self.only_at_home or False
        if "capabilities" in sent:
            values["capabilities"] = (self.capabilities or CapabilityChoices()).chosen()
        if "apply" in sent:
            values["apply"] = self.apply
        return values

    def applied(self, before: Workspace, directory: str | None) -> Workspace:
        """The workspace after these changes, which works in the folder; error: InvalidInput for an unknown word."""
        sent = self.model_fields_set
        return replace(
            before,
            **self.given(),
            default_trust_level=self.level_after(before.default_trust_level),
            working_directory=directory,
            **{name: getattr(self, name) for name in ("memory_megabytes", "cpus", "processes") if name in sent},
            network=self._network_after(before.network),
            git=self._git_after(before.git),
        )

    def _network_after(self, before: Network) -> Network:
        if "network" not in self.model_fields_set:
            return before
        return self.network.chosen() if self.network else EVERY_HOST_ASKS

    def _git_after(self, before: tuple[Grant, ...]) -> tuple[Grant, ...]:
        return tuple(each.chosen() for each in self.git or ()) if "git" in self.model_fields_set else before


class NewWorkspace(Changes):
    """A new workspace; only its name is needed."""

    name: Name
