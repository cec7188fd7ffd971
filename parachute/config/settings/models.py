"""Every setting of `config.yaml`, with its default and its meaning."""

import re
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from parachute.base.errors import InvalidInput


def _expanded(path: Path) -> Path:
    if path == Path() or "\0" in str(path):
        raise ValueError("expected the name of a file or folder")
    try:
        return path.expanduser().absolute()
    except RuntimeError as error:
        raise ValueError("expected a path; this one begins with a user who does not exist") from error


def _address(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise ValueError("expected an address such as http://127.0.0.1:11434")
    return value


def _off(value: object) -> object:
    # YAML reads this word as false.
    return "off" if value is False else value


def _host(value: str) -> str:
    # Not at the top: most of what reads settings needs nothing of the library for modules.
    from parachute.core.agents import host_name

    try:
        return host_name(value, "hosts")
    except InvalidInput as error:
        raise ValueError(error.message) from error


def _debian_package(value: str) -> str:
    # apt reads more than names: `name-` takes a package away, `name=1` and `name/suite` choose a version.
    if not re.fullmatch(r"[a-z0-9][a-z0-9+.-]{0,98}[a-z0-9+]", value):
        raise ValueError(f"expected the name of a package of Debian, such as ffmpeg or libpq-dev, not {value[:80]!r}")
    return value


PRESET = "preset:"
"""In a list of hosts, what stands before the name of a preset."""

_PRESET_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")


def _with_port(value: str) -> str:
    name, port = re.fullmatch(r"(.*?)(:[1-9][0-9]{0,4})?", value, re.DOTALL).groups("")  # type: ignore[union-attr]
    return _host(name) + port


def _reached(value: str) -> str:
    name = value.removeprefix(PRESET)
    if name == value:
        return _with_port(value)
    if not _PRESET_NAME.fullmatch(name):
        raise ValueError(f"expected a preset such as {PRESET}python, not {value[:60]!r}")
    return value


def _preset_names(value: dict[str, list[str]]) -> dict[str, list[str]]:
    for name in value:
        if not _PRESET_NAME.fullmatch(name):
            raise ValueError(f"expected names of a-z, 0-9, - and _, not {name[:60]!r}")
    return value


ExpandedPath = Annotated[Path, AfterValidator(_expanded)]
Address = Annotated[str, AfterValidator(_address)]


class OfflineSettings(BaseModel):
    """The small model that runs on this machine."""

    model_config = ConfigDict(extra="forbid")

    model: ExpandedPath | None = Field(default=None, description="A .gguf file to use instead of the built-in model.")
    idle_minutes: float = Field(
        default=5, gt=0, allow_inf_nan=False, description="The model's process ends after so long without a request."
    )
    context_tokens: int = Field(default=4096, ge=512, le=131072, description="Length of the model's memory, in tokens.")


VoiceModelKind = Literal[
    "whisper",
    "transducer",
    "nemo-transducer",
    "nemo-ctc",
    "nemo-canary",
    "sense-voice",
    "paraformer",
    "wenet-ctc",
    "zipformer-ctc",
    "dolphin-ctc",
]


class VoiceSettings(BaseModel):
    """What turns recordings into text."""

    model_config = ConfigDict(extra="forbid")

    server: Address | None = Field(
        default=None,
        description="Address of a server that transcribes as OpenAI's API does, such as http://192.168.1.5:8000; "
        "recordings are sent to it.",
    )
    server_model: str = Field(
        default="whisper-1",
        min_length=1,
        max_length=200,
        pattern=r"^[!-~]+$",
        description="The model to ask that server for.",
    )
    key_file: ExpandedPath | None = Field(default=None, description="A file with that server's key, on one line.")
    model: ExpandedPath | None = Field(
        default=None,
        description="A folder with a model for sherpa-onnx, which transcribes on this machine; it goes before the server.",
    )
    model_kind: VoiceModelKind | None = Field(
        default=None, description="The kind of that model; empty where the names of the folder and its files tell."
    )
    language: Annotated[str, Field(pattern=r"^[a-z]{2,3}$")] | None = Field(
        default=None, description="The language that you speak, such as de; empty where the model finds it out."
    )
    longest_minutes: float = Field(
        default=240,
        gt=0,
        le=1440,
        allow_inf_nan=False,
        description="Longer recordings are not transcribed on this machine.",
    )
    memory_megabytes: int = Field(
        default=2048, ge=256, le=1 << 20, description="Memory that the model may take on this machine."
    )
    idle_minutes: float = Field(
        default=5,
        gt=0,
        le=1440,
        allow_inf_nan=False,
        description="The model's process ends after so long without a recording.",
    )


class MeaningSettings(BaseModel):
    """Search by meaning, beside words."""

    model_config = ConfigDict(extra="forbid")

    enabled: bool = Field(
        default=True,
        description="Find notes, entries, conversations and files by what they mean, too; nothing leaves this machine, "
        "unless `meaning.server` is set.",
    )
    folder: ExpandedPath | None = Field(
        default=None,
        description="A folder with a model in the format of Model2Vec to use instead of the built-in table, which knows English.",
    )
    server: Address | None = Field(
        default=None,
        description="Address of a server with embeddings, as OpenAI's API or Ollama has them, such as http://192.168.1.5:11434; "
        "all that is searched is sent to it. A folder goes before it.",
    )
    server_model: str = Field(
        default="nomic-embed-text",
        min_length=1,
        max_length=200,
        pattern=r"^[!-~]+$",
        description="The model to ask that server for.",
    )
    server_batch: int = Field(default=16, ge=1, le=256, description="Pieces of text in one request to that server.")
    key_file: ExpandedPath | None = Field(default=None, description="A file with that server's key, on one line.")


class SandboxSettings(BaseModel):
    """The sandboxes of agents."""

    model_config = ConfigDict(extra="forbid")

    required: bool = Field(
        default=True,
        description="Refuse to run a sandboxed session without a sandbox; false lets your own ones run directly, with a warning, "
        "on a computer where none ever worked.",
    )
    idle_minutes: float = Field(
        default=30, gt=0, allow_inf_nan=False, description="A sandbox ends after so long without a turn."
    )
    scratch_megabytes: int = Field(default=512, ge=16, description="Size of a session's own scratch folder.")
    transcript_megabytes: int = Field(
        default=512, ge=16, description="Size of the folder with a session's transcript, over which its sandbox ends."
    )
    cache_megabytes: int = Field(
        default=2048,
        ge=16,
        description="Size of the caches of pip, npm and others for one project, over which they are emptied when its sandbox ends.",
    )
    engine: Literal["auto", "podman", "bubblewrap"] = Field(
        default="auto", description="What shuts agents in; auto takes Podman if its image is built and works."
    )
    hosts: list[Annotated[str, AfterValidator(_host)]] = Field(
        default=[],
        description="Hosts that agents of modules reach whose manifest says network: bridge, such as *.example.org.",
    )
    packages: list[Annotated[str, AfterValidator(_debian_package)]] = Field(
        default=[],
        description="Packages of Debian in the image of containers beside its own, such as ffmpeg; `parachute sandbox build` takes them.",
    )
    without: list[Literal["gcc", "libc-dev", "make", "node", "npm", "pip", "rg", "sqlite3", "venv"]] = Field(
        default=[], description="Programs that the image does without, such as npm and gcc, where the disk is small."
    )
    memory_megabytes: int = Field(default=1536, ge=256, description="Memory of one sandbox (Podman).")
    total_memory_megabytes: int | None = Field(
        default=None,
        ge=64,
        description="Memory of all sandboxes together, over which the one that is idle for longest ends; "
        "empty for half of this machine's.",
    )
    cpus: float = Field(
        default=2.0, ge=0.1, le=1024, allow_inf_nan=False, description="Processors that one sandbox may use (Podman)."
    )
    processes: int = Field(
        default=200, ge=64, le=32768, description="Processes and threads of one sandbox at a time (Podman)."
    )
    limits: Literal["enforced", "unavailable"] = Field(
        default="enforced",
        description="A container that is not held to its limits does not start; unavailable does without them.",
    )


class AgentSettings(BaseModel):
    """Agent processes that are kept ready between turns, and how long those wait that need a yes."""

    model_config = ConfigDict(extra="forbid")

    warm: int = Field(
        default=3, ge=0, le=32, description="How many conversations keep their agent process between turns."
    )
    warm_minutes: float = Field(
        default=10, gt=0, allow_inf_nan=False, description="A kept agent process ends after so long without a turn."
    )
    spare: bool = Field(
        default=True, description="Keep one agent started for the next new chat while an app is around."
    )
    memory_floor_megabytes: int = Field(
        default=400, ge=0, description="Keep no agent process while less memory than this is free."
    )
    approval_minutes: float = Field(
        default=60,
        gt=0,
        le=10_080,
        allow_inf_nan=False,
        description="A run of a module's agent that waits for your yes for longer is refused.",
    )


Named = Annotated[str, Field(min_length=1, max_length=100)]


class CapabilitySettings(BaseModel):
    """Limits of conversations without a workspace."""

    model_config = ConfigDict(extra="forbid")

    mcps: Literal["all", "none"] | list[Named] = Field(
        default=["parachute"],
        description="MCP servers, tools and modules for chats without a workspace; parachute stands for all modules.",
    )
    agents: Literal["all", "none"] | list[Named] = Field(
        default="all",
        description="Agents that may answer, and to which work may be given, in chats without a workspace.",
    )
    skills: Literal["all", "none"] | list[Named] = Field(
        default="all", description="Skills that chats without a workspace may use."
    )
    plugins: Literal["all", "none"] | list[Named] = Field(
        default="all", description="Plugins of which chats without a workspace have the parts."
    )


class CapabilitiesSettings(BaseModel):
    """Where capabilities come from."""

    model_config = ConfigDict(extra="forbid")

    read_home: bool = Field(
        default=False,
        description="Whether agents, skills and plugins in ~/.claude, those of Claude Code, count as well.",
    )


def _time(value: object) -> object:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 24 * 60:
        # YAML takes 21:30 without quotes for a number of base 60.
        value = f"{value // 60:02}:{value % 60:02}"
    if value is not None and not (isinstance(value, str) and re.fullmatch(r"([01][0-9]|2[0-3]):[0-5][0-9]", value)):
        raise ValueError("expected a time of the day, such as 06:30")
    return value


def _kind(value: str) -> str:
    if not re.fullmatch(r"(create|update|delete|link):[a-z][a-z0-9_-]{0,39}", value) or value.endswith(":settings"):
        raise ValueError("expected an action and a module, such as create:brain; never the computer's own settings")
    return value


class OrchestratorSettings(BaseModel):
    """The agent that sorts suggestions."""

    model_config = ConfigDict(extra="forbid")

    time: Annotated[str | None, BeforeValidator(_time)] = Field(
        default=None, description="When each day the agent sorts suggestions by itself, such as 06:30; empty for never."
    )
    resolves: list[Annotated[str, AfterValidator(_kind)]] = Field(
        default=[],
        description="Kinds of suggestions that it approves or rejects without you, such as create:brain.",
    )


class CuratorSettings(BaseModel):
    """The agent that reviews contexts when one that they watch has changed."""

    model_config = ConfigDict(extra="forbid")

    mode: Annotated[Literal["off", "propose", "write"], BeforeValidator(_off)] = Field(
        default="propose",
        description="What becomes of its reviews: none are made, what it proposes waits for your yes, or it is written at once "
        "where nothing in it came from elsewhere; also that can be taken back.",
    )
    reviews_per_day: int = Field(default=20, ge=1, le=50, description="How many reviews it makes in a day at most.")
    quiet_seconds: float = Field(
        default=60,
        ge=0,
        le=86400,
        allow_inf_nan=False,
        description="How long nothing may have changed before a review begins, so that several changes are one review.",
    )


def _repository(value: str) -> str:
    if re.fullmatch(r"(sftp|rest|s3|b2|azure|gs|swift|rclone):[^\0\n]+", value):
        return value
    if "\0" in value or "\n" in value or not Path(value.removeprefix("local:")).expanduser().is_absolute():
        raise ValueError("expected a folder from / on, or what else restic takes, such as sftp:me@host:/backup")
    return str(Path(value.removeprefix("local:")).expanduser())


class BackupSettings(BaseModel):
    """Where backups go, when, and how many are kept."""

    model_config = ConfigDict(extra="forbid")

    repository: Annotated[str | None, AfterValidator(lambda value: value and _repository(value))] = Field(
        default=None,
        min_length=1,
        description="Where backups go: a folder on another disk, or what else restic takes, such as sftp:me@host:/backup.",
    )
    password_file: ExpandedPath | None = Field(
        default=None, description="The file with the repository's password; empty for ~/.parachute/backup/password."
    )
    environment_file: ExpandedPath | None = Field(
        default=None,
        description="A file with lines NAME=value, such as AWS_ACCESS_KEY_ID=…, which a remote repository needs.",
    )
    time: Annotated[str, BeforeValidator(_time)] = Field(
        default="03:30", description="When each day `parachute service install` has a backup made."
    )
    drill: Literal["weekly", "monthly"] = Field(
        default="monthly", description="How often it is tried whether the newest backup can be restored."
    )
    keep_daily: int = Field(default=7, ge=1, le=10000, description="How many daily backups to keep.")
    keep_weekly: int = Field(default=5, ge=0, le=10000, description="How many weekly backups to keep.")
    keep_monthly: int = Field(default=12, ge=0, le=10000, description="How many monthly backups to keep.")
    prune: bool = Field(default=True, description="Each backup removes those that are not kept any more.")


class NetworkSettings(BaseModel):
    """The network of conversations without a workspace."""

    model_config = ConfigDict(extra="forbid")

    mode: Annotated[Literal["off", "ask", "list"], BeforeValidator(_off)] = Field(
        default="ask",
        description="What sandboxed chats without a workspace reach: nothing, the hosts and what you allow when asked, or the hosts.",
    )
    presets: Annotated[dict[str, list[Annotated[str, AfterValidator(_with_port)]]], AfterValidator(_preset_names)] = (
        Field(
            default={},
            description="Hosts under a name of your own, such as {python: [index.example.org]}; lists of hosts take preset:python.",
        )
    )
    hosts: list[Annotated[str, AfterValidator(_reached)]] = Field(
        default=[], description="Hosts that they reach without asking, such as *.example.org or preset:python."
    )

    @field_validator("hosts")
    @classmethod
    def _known_presets(cls, value: list[str], info: ValidationInfo) -> list[str]:
        presets = info.data.get("presets", {})
        for entry in value:
            if entry.startswith(PRESET) and entry.removeprefix(PRESET) not in presets:
                raise ValueError(f"`network.presets` defines no {entry!r}, and the hosts are {value!r}")
        return value


class GitSettings(BaseModel):
    """git of sandboxed conversations."""

    model_config = ConfigDict(extra="forbid")

    ca_file: ExpandedPath | None = Field(
        default=None,
        description="A PEM file with certificate authorities that git hosts are trusted by, besides the system's.",
    )


class McpSettings(BaseModel):
    """MCP servers elsewhere, which are called by their address."""

    model_config = ConfigDict(extra="forbid")

    ca_file: ExpandedPath | None = Field(
        default=None,
        description="A PEM file with certificate authorities that MCP servers elsewhere are trusted by, besides the system's.",
    )


class SuggestionSettings(BaseModel):
    """Changes that agents want to make to what modules keep."""

    model_config = ConfigDict(extra="forbid")

    from_chats: Literal["propose", "write"] = Field(
        default="propose",
        description="What agents of your own chats remember waits for your yes, or is written at once; deletions, and what comes "
        "from elsewhere, always wait.",
    )


Apply = Literal["auto", "review", "live"]
"""How what a sandboxed agent writes gets into its project."""


class ChangesSettings(BaseModel):
    """What runs change, and what is kept to take it back."""

    model_config = ConfigDict(extra="forbid")

    apply: Apply = Field(
        default="auto",
        description="How work of sandboxed agents gets into a project: auto, review (it waits for you), or live (they write there).",
    )
    keep_days: int = Field(default=30, ge=1, le=3650, description="A run can be undone for so many days.")
    keep_megabytes: int = Field(
        default=5120, ge=64, description="What is kept for undo takes no more than this; the oldest runs go first."
    )
    file_megabytes: int = Field(
        default=256, ge=1, le=65536, description="A larger file is not applied to a project, and waits."
    )


class UpdateSettings(BaseModel):
    """Where new versions come from, and for how long one has to prove itself."""

    model_config = ConfigDict(extra="forbid")

    source: ExpandedPath | None = Field(
        default=None,
        description="A clone of the repository or a wheel that `parachute update` takes; empty for the clone that this program came from.",
    )
    automatic: bool = Field(default=False, description="Update each night, if there is a new version.")
    time: Annotated[str, BeforeValidator(_time)] = Field(default="04:30", description="When that is, as HH:MM.")
    probation_minutes: float = Field(
        default=15,
        ge=0.02,
        le=1440,
        description="For how long a new version is watched before it stays; until then the old one comes back by itself.",
    )


class TlsSettings(BaseModel):
    """TLS on the same port as HTTP."""

    model_config = ConfigDict(extra="forbid")

    enabled: bool | None = Field(
        default=None,
        description="Answer https:// as well, with a certificate of this home's own authority; empty for yes "
        "if other machines can connect.",
    )
    certificate: ExpandedPath | None = Field(
        default=None,
        description="A certificate (PEM, with those between it and its root) for a name of your own, beside the home's.",
    )
    key: ExpandedPath | None = Field(
        default=None, description="The key of that certificate, without a password; empty if it is in the same file."
    )


class AuditSettings(BaseModel):
    """How long the audit log is kept, in whole days."""

    model_config = ConfigDict(extra="forbid")

    keep_days: int = Field(default=90, ge=1, le=3650, description="Records of the audit log are kept for so many days.")
    keep_megabytes: int = Field(
        default=500,
        ge=1,
        le=1024 * 1024,
        description="The audit log takes no more than this; the oldest days go first.",
    )


class Settings(BaseSettings):
    """All settings; the environment (`PARACHUTE_PORT`, `PARACHUTE_OFFLINE__MODEL`) goes over the file."""

    model_config = SettingsConfigDict(env_prefix="PARACHUTE_", env_nested_delimiter="__", extra="forbid")

    vault: ExpandedPath = Field(
        default=Path("~/Parachute").expanduser(), description="The folder that holds your data."
    )
    host: str = Field(
        default="127.0.0.1", description="Address to listen on; any other than loopback needs a key first."
    )
    port: int = Field(default=3333, ge=1, le=65535, description="Port to listen on.")
    auth_mode: Literal["remote", "always", "disabled"] = Field(
        default="remote", description="Who needs a key: callers from other machines, everybody, or nobody."
    )
    hostnames: list[str] = Field(default=[], description="Further names under which this computer may be called.")
    origins: list[str] = Field(default=[], description="Web pages (scheme://host:port) that may call the API.")
    trusted_proxies: list[str] = Field(
        default=[], description="Addresses of reverse proxies whose headers are believed."
    )

    provider: Literal["auto", "anthropic", "compatible", "offline"] = Field(
        default="auto", description="Where the model runs; auto takes Anthropic if there are credentials, else offline."
    )
    base_url: Address | None = Field(default=None, description="Address of a server that speaks the Messages API.")
    model: str | None = Field(default=None, description="The model to ask for when a session names none.")
    allowed_models: list[str] = Field(default=["*"], description="Models that agents may use; * stands for any part.")
    daily_spending_limit: float | None = Field(
        default=20.0,
        ge=0,
        allow_inf_nan=False,
        description="US dollars that agents may spend in a day with an API key; empty for no limit.",
    )
    daily_token_limit: int | None = Field(
        default=None,
        ge=0,
        le=10**12,
        description="Tokens that agents may use in a day of a Claude subscription; empty for no limit of ours.",
    )

    project_folders: list[ExpandedPath] = Field(
        default=[Path("~/Projects").expanduser()],
        description="Folders outside the vault below which agents may work when a conversation asks for it.",
    )
    trust_mode: bool = Field(
        default=True, description="In direct sessions, allow what no hard rule forbids without asking each time."
    )
    session_idle_minutes: float = Field(
        default=30, gt=0, allow_inf_nan=False, description="A session that nobody closes counts as ended after so long."
    )
    sandbox: SandboxSettings = SandboxSettings()
    network: NetworkSettings = NetworkSettings()
    git: GitSettings = GitSettings()
    mcp: McpSettings = McpSettings()
    changes: ChangesSettings = ChangesSettings()
    agents: AgentSettings = AgentSettings()
    default_capabilities: CapabilitySettings = CapabilitySettings()
    capabilities: CapabilitiesSettings = CapabilitiesSettings()
    offline: OfflineSettings = OfflineSettings()
    voice: VoiceSettings = VoiceSettings()
    meaning: MeaningSettings = MeaningSettings()
    suggestions: SuggestionSettings = SuggestionSettings()
    orchestrator: OrchestratorSettings = OrchestratorSettings()
    curator: CuratorSettings = CuratorSettings()
    backup: BackupSettings = BackupSettings()
    audit: AuditSettings = AuditSettings()
    tls: TlsSettings = TlsSettings()
    updates: UpdateSettings = UpdateSettings()

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
        return env_settings, init_settings
