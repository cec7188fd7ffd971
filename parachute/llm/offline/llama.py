"""The model itself: llama.cpp inside this process, through xllamacpp."""

import os
import secrets
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from parachute.llm.offline.conversation import Turn
from parachute.llm.offline.model_file import ModelUnavailable
from parachute.llm.offline.tokenizer import Tokenizer, chat_messages

# Tried on SmolLM2-135M-Instruct with everyday questions. A repeat penalty of 1.1 also punishes the words of the question,
# and the answers get worse; DRY punishes only repeated sequences, which is what a small model's loops consist of.
_SAMPLING: dict[str, Any] = {
    "temperature": 0.2,
    "top_p": 0.9,
    "repeat_penalty": 1.03,
    "repeat_last_n": 128,
    "dry_multiplier": 0.8,
    "dry_allowed_length": 4,
}
# Small batches: between two of them a generation can be stopped, also while the prompt is still being read.
_BATCH_TOKENS = 128
# When the oldest turns fall out of the window, what stays is moved in the cache instead of being computed again.
_REUSE_TOKENS = 32
_READ_BYTES = 4 * 1024 * 1024
# sockaddr_un holds 108 bytes on Linux and 104 on macOS; the folder and the name of the socket come on top.
_LONGEST_TEMPORARY_FOLDER = 60


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the engine counted them."""

    input_tokens: int
    output_tokens: int


class LlamaModel:
    """A loaded model. Every method blocks: run it in a thread."""

    def __init__(self, server: Any, tokenizer: Tokenizer) -> None:
        self._server = server
        self.tokenizer = tokenizer

    def complete(
        self, turns: Sequence[Turn], limit: int, on_text: Callable[[str], None], stop: threading.Event
    ) -> Usage | None:
        """Generate at most `limit` tokens, calling `on_text` with each piece; None when `stop` was set before the end."""
        usage: Usage | None = None
        failure: str | None = None

        def receive(chunk: dict[str, Any]) -> bool:
            # Called from the engine's thread; what it raises would be lost there.
            nonlocal usage, failure
            if "error" in chunk:
                failure = str(chunk["error"].get("message", chunk["error"]))
                return True
            if counts := chunk.get("usage"):
                usage = Usage(counts["prompt_tokens"], counts["completion_tokens"])
            for choice in chunk.get("choices", ()):
                if text := choice["delta"].get("content"):
                    on_text(text)
            return stop.is_set()

        request = {
            "messages": chat_messages(turns),
            "max_tokens": limit,
            "stream": True,
            "stream_options": {"include_usage": True},
            # A message after every batch of the prompt, so that `stop` is seen there as well.
            "return_progress": True,
            "cache_prompt": True,
            **_SAMPLING,
        }
        self._server.handle_chat_completions(request, receive)
        if failure is not None:
            raise ModelUnavailable(f"The offline model could not answer: {failure}.", key="model_failed")
        if usage is None and not stop.is_set():
            raise ModelUnavailable("The offline model ended its answer without a result.", key="model_gave_nothing")
        return usage


def read_ahead(path: Path) -> None:
    """Bring the file into the page cache, where the engine maps it.

    Worth a pass of its own: this one lets other threads run, and the engine's loading does not.
    """
    with path.open("rb", buffering=0) as file:
        while file.read(_READ_BYTES):
            pass


def load_model(path: Path, context_tokens: int, folder: Path) -> LlamaModel:
    """Load a GGUF file; `folder` is private to this process and empty. Error: ModelUnavailable."""
    try:
        import xllamacpp
    except (ImportError, OSError) as error:  # a wheel for another kind of processor, for example
        raise ModelUnavailable(f"The package xllamacpp does not load: {error}.", key="package_not_loaded") from error

    listener, key = folder / "llama.sock", secrets.token_urlsafe(32)
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.n_ctx = context_tokens
    params.n_batch = params.n_ubatch = _BATCH_TOKENS
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = _threads()
    params.n_gpu_layers = 0
    params.fit_params = False
    params.n_cache_reuse = _REUSE_TOKENS
    params.cache_ram_mib = 0  # up to 8 GiB otherwise
    params.warmup = False
    params.enable_reasoning = 0
    # Above errors it logs what people write.
    params.verbosity = 0
    # The class always listens. A Unix socket in a folder of mode 0700, with a key, is what nobody else reaches.
    params.hostnames = [str(listener)]
    params.api_keys = [key]
    params.ui = False
    params.endpoint_slots = False
    try:
        server = xllamacpp.Server(params)
    except RuntimeError as error:
        raise ModelUnavailable(
            f"The model file {path} could not be loaded.",
            "Is it complete, is it made for llama.cpp, and is there memory enough? Correct `offline.model`.",
            key="model_not_loaded",
        ) from error
    return LlamaModel(server, Tokenizer(listener, key))


def _threads() -> int:
    """One processor fewer than this process may use.

    The engine's threads wait for each other after every layer, spinning: as soon as another program needs a processor, a
    thread for each of them is far slower than one fewer. Measured on two cores, tokens per second of an answer with 0, 1
    and 2 other busy programs: two threads 94, 23, 2; one thread 61, 66, 39. The chat itself is such a program.
    """
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, usable - 1)


def private_folder() -> tempfile.TemporaryDirectory[str]:
    """A folder of mode 0700 whose path leaves room for the name of a socket."""
    usual = tempfile.gettempdir()
    parent = usual if len(os.fsencode(usual)) <= _LONGEST_TEMPORARY_FOLDER else "/tmp"  # noqa: S108
    return tempfile.TemporaryDirectory(prefix="parachute-offline-", dir=parent)
