"""All settings of `config.yaml`: the file's own ones, and the groups, each with its defaults and their meaning."""

from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, EnvSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict

from parachute.config.settings.groups.agents import (
    AgentSettings,
    CapabilitiesSettings,
    ChangesSettings,
    DefaultCapabilitySettings,
)
from parachute.config.settings.groups.automation import CuratorSettings, OrchestratorSettings, SuggestionSettings
from parachute.config.settings.groups.local_models import (
    MeaningSettings,
    OfflineSettings,
    SearchSettings,
    VoiceSettings,
)
from parachute.config.settings.groups.messengers import MessengerSettings, PushSettings
from parachute.config.settings.groups.network import GitSettings, McpSettings, NetworkSettings
from parachute.config.settings.groups.operation import AuditSettings, BackupSettings, TlsSettings, UpdateSettings
from parachute.config.settings.groups.providers import MAIN, Providers
from parachute.config.settings.groups.sandbox import SandboxSettings
from parachute.config.settings.groups.values import LONGEST_MINUTES, MOST_DOLLARS, MOST_TOKENS, Address, ExpandedPath
from parachute.config.settings.removed import without_removed

AuthMode = Literal["remote", "always", "disabled"]
"""Callers that need a key: those from elsewhere, everybody, or nobody."""


class _Environment(EnvSettingsSource):
    """The environment, without the settings that are gone."""

    def __call__(self) -> dict[str, Any]:
        return without_removed(super().__call__())


class Settings(BaseSettings):
    """All settings; the environment (`PARACHUTE_PORT`, `PARACHUTE_OFFLINE__MODEL`) goes over the file."""

    model_config = SettingsConfigDict(env_prefix="PARACHUTE_", env_nested_delimiter="__", extra="forbid")

    vault: ExpandedPath = Field(
        title="Folder of your data",
        default=Path("~/Parachute").expanduser(),
        description="The folder that holds your data.",
    )
    host: str = Field(
        title="Address to listen on",
        default="127.0.0.1",
        description="Address to listen on; anything but loopback needs a key first.",
    )
    port: int = Field(title="Port", default=3333, ge=1, le=65535, description="Port to listen on.")
    auth_mode: AuthMode = Field(
        title="Who needs a key",
        default="remote",
        description="Which callers need a key: those from other machines (remote), all (always), or none (disabled).",
    )
    hostnames: list[str] = Field(
        title="Other names of this computer",
        default=[],
        description="Other names by which devices reach this computer.",
    )
    origins: list[str] = Field(
        title="Web pages that may call this computer",
        default=[],
        description="Web pages (scheme://host:port) that may call the API.",
    )
    trusted_proxies: list[str] = Field(
        title="Trusted reverse proxies",
        default=[],
        description="Addresses of reverse proxies whose headers are believed.",
    )

    provider: Literal["auto", "anthropic", "compatible", "offline"] = Field(
        title="Where the model runs",
        default="auto",
        description="Where the model runs; auto uses Anthropic if there are credentials, else the offline model.",
    )
    base_url: Address | None = Field(
        title="Address of the model's server",
        default=None,
        description="Address of a server that speaks the Messages API.",
    )
    model: str | None = Field(title="Model", default=None, description="Model of conversations that choose none.")
    allowed_models: list[str] = Field(
        title="Models that agents may use",
        default=["*"],
        description="Models that agents may use; * stands for any part.",
    )
    providers: Providers = Field(
        title="Further providers",
        default={},
        description="Other providers by name, such as {home: {base_url: http://127.0.0.1:11434}}; home/qwen3 is a model of one.",
    )
    fallback: list[str] = Field(
        title="Who answers in place of a provider",
        default=[],
        description="Names of providers, main is the first one's: they are asked in this order where the chosen one does not answer.",
    )
    fallback_leaves_home: bool = Field(
        title="From a model at home to one elsewhere",
        default=False,
        description="Whether a provider elsewhere may answer in place of one at home; never in a workspace that stays at home.",
    )
    daily_spending_limit: float | None = Field(
        title="Spending limit for a day",
        default=20.0,
        ge=0,
        le=MOST_DOLLARS,
        allow_inf_nan=False,
        description="US dollars that agents may spend in a day with an API key; empty for no limit.",
    )
    daily_token_limit: int | None = Field(
        title="Token limit for a day",
        default=None,
        ge=0,
        le=MOST_TOKENS,
        description="Tokens that agents may use in a day of a Claude subscription; empty for no limit of ours.",
    )

    project_folders: list[ExpandedPath] = Field(
        title="Folders of your projects",
        default=[Path("~/Projects").expanduser()],
        description="Folders outside the vault below which agents may work when a conversation asks for it.",
    )
    trust_mode: bool = Field(
        title="Work without asking each time",
        default=True,
        description="In direct sessions, allow what no hard rule forbids without asking each time.",
    )
    session_idle_minutes: float = Field(
        title="A conversation ends after",
        default=30,
        gt=0,
        le=LONGEST_MINUTES,
        allow_inf_nan=False,
        description="Minutes without activity after which a session counts as ended.",
    )
    sandbox: SandboxSettings = SandboxSettings()
    network: NetworkSettings = NetworkSettings()
    git: GitSettings = GitSettings()
    mcp: McpSettings = McpSettings()
    changes: ChangesSettings = ChangesSettings()
    agents: AgentSettings = AgentSettings()
    default_capabilities: DefaultCapabilitySettings = DefaultCapabilitySettings()
    capabilities: CapabilitiesSettings = CapabilitiesSettings()
    offline: OfflineSettings = OfflineSettings()
    voice: VoiceSettings = VoiceSettings()
    meaning: MeaningSettings = MeaningSettings()
    search: SearchSettings = SearchSettings()
    messengers: MessengerSettings = MessengerSettings()
    push: PushSettings = PushSettings()
    suggestions: SuggestionSettings = SuggestionSettings()
    orchestrator: OrchestratorSettings = OrchestratorSettings()
    curator: CuratorSettings = CuratorSettings()
    backup: BackupSettings = BackupSettings()
    audit: AuditSettings = AuditSettings()
    tls: TlsSettings = TlsSettings()
    updates: UpdateSettings = UpdateSettings()

    @field_validator("fallback")
    @classmethod
    def _known_providers(cls, value: list[str], info: ValidationInfo) -> list[str]:
        known = (MAIN, *info.data.get("providers", {}))
        if unknown := [name for name in value if name not in known]:
            raise ValueError(f"`providers` names no {unknown[0][:60]!r}")
        return value

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The environment goes over what the file says; the file arrives as keyword arguments."""
        return _Environment(settings_cls), init_settings
