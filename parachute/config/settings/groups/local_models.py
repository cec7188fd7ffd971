"""The models that run on this machine or on a server of your own: for answers, voices and meaning."""

from typing import Annotated

from pydantic import Field

from parachute.config.settings.groups.values import LONGEST_MINUTES, Address, ExpandedPath, Group
from parachute.config.settings.groups.voice_kinds import VoiceModelKind


class OfflineSettings(Group):
    """The small model that runs on this machine."""

    model: ExpandedPath | None = Field(
        title="Another model file", default=None, description="A .gguf file to use instead of the built-in model."
    )
    idle_minutes: float = Field(
        title="The offline model ends after",
        default=5,
        gt=0,
        le=LONGEST_MINUTES,
        allow_inf_nan=False,
        description="Time without a request after which the model's process ends.",
    )
    context_tokens: int = Field(
        title="Length of its memory",
        default=4096,
        ge=512,
        le=131072,
        description="Length of the model's memory, in tokens.",
    )


class VoiceSettings(Group):
    """The transcriber, which turns recordings into text."""

    server: Address | None = Field(
        title="Transcription server",
        default=None,
        description="Address of a server that transcribes as OpenAI's API does, such as http://192.168.1.5:8000; "
        "recordings are sent to it.",
    )
    server_model: str = Field(
        title="Model of that server",
        default="whisper-1",
        min_length=1,
        max_length=200,
        pattern=r"^[!-~]+$",
        description="The model to ask that server for.",
    )
    key_file: ExpandedPath | None = Field(
        title="File with that server's key", default=None, description="A file with that server's key, on one line."
    )
    model: ExpandedPath | None = Field(
        title="Transcription model on this computer",
        default=None,
        description="A folder with a model for sherpa-onnx, which transcribes on this machine; it goes before the server.",
    )
    model_kind: VoiceModelKind | None = Field(
        title="Kind of that model",
        default=None,
        description="The kind of that model; empty where the names of the folder and its files tell.",
    )
    language: Annotated[str, Field(pattern=r"^[a-z]{2,3}$")] | None = Field(
        title="Language that you speak",
        default=None,
        description="The language that you speak, such as de; empty where the model finds it out.",
    )
    longest_minutes: float = Field(
        title="Longest recording",
        default=240,
        gt=0,
        le=1440,
        allow_inf_nan=False,
        description="Longer recordings are not transcribed on this machine.",
    )
    memory_megabytes: int = Field(
        title="Memory for transcription",
        default=2048,
        ge=256,
        le=1 << 20,
        description="Memory that the model may take on this machine.",
    )
    idle_minutes: float = Field(
        title="The speech model ends after",
        default=5,
        gt=0,
        le=1440,
        allow_inf_nan=False,
        description="Time without a recording after which the model's process ends.",
    )


class SearchSettings(Group):
    """The search of files."""

    pictures: bool = Field(
        title="Read the text in pictures",
        default=True,
        description="Find pictures by the text in them, where the program tesseract is installed; they are read after all "
        "documents, which takes a small computer long.",
    )


class MeaningSettings(Group):
    """Search by meaning, beside words."""

    enabled: bool = Field(
        title="Search by meaning",
        default=True,
        description="Find notes, entries, conversations and files by what they mean, too; nothing leaves this machine, "
        "unless `meaning.server` is set.",
    )
    server: Address | None = Field(
        title="Server for search by meaning",
        default=None,
        description="Address of a server with embeddings, as OpenAI's API or Ollama has them, such as http://192.168.1.5:11434; "
        "all that is searched is sent to it.",
    )
    server_model: str = Field(
        title="Model of that server",
        default="nomic-embed-text",
        min_length=1,
        max_length=200,
        pattern=r"^[!-~]+$",
        description="The model to ask that server for.",
    )
    server_batch: int = Field(
        title="Texts in one request",
        default=16,
        ge=1,
        le=256,
        description="Pieces of text in one request to that server.",
    )
    key_file: ExpandedPath | None = Field(
        title="File with that server's key", default=None, description="A file with that server's key, on one line."
    )
