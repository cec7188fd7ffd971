"""Models for sherpa-onnx with random weights, one of each kind that it may be given: they say nonsense, the same each time."""

import base64
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy
import onnx
from onnx import NodeProto, TensorProto, helper, numpy_helper

from tests.automation.transcription.tiny_model import WORDS, make_model

_FLOAT, _LONG, _INT = TensorProto.FLOAT, TensorProto.INT64, TensorProto.INT32
_STATE = 8
_MEMORY = 1024
"""Value that sherpa-onnx takes for the width of Canary's memory."""

_STACKED = 560
"""Features of seven moments of sound, which some models take at a time."""

Shape = Sequence[int | str]
Value = tuple[str, int, Shape]
Maker = Callable[[Path], None]


def make_model_of(kind: str, folder: Path) -> Path:
    """Write a model of this kind."""
    if kind == "nemo-ctc":
        return make_model(folder)
    folder.mkdir(parents=True)
    MADE[kind](folder)
    return folder


def _weights(*shape: int) -> Any:
    found = numpy.random.default_rng(7).normal(size=shape)
    # Else how loud it is decides alone, and one word is said for ever.
    return (found - found.mean(axis=0)).astype("float32")


def _save(
    path: Path,
    inputs: Sequence[Value],
    outputs: Sequence[Value],
    nodes: Sequence[NodeProto],
    constants: Mapping[str, Any],
    **metadata: object,
) -> None:
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(*each) for each in inputs],
        [helper.make_tensor_value_info(*each) for each in outputs],
        [numpy_helper.from_array(numpy.asarray(value), name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    for key, value in metadata.items():
        said = model.metadata_props.add()
        said.key, said.value = key, str(value)
    onnx.save(model, str(path))


def _tokens(folder: Path, *others: str, first: Sequence[str] = ("<blk>",)) -> int:
    tokens = [*first, *(f"▁{word}" for word in WORDS), *others]
    (folder / "tokens.txt").write_text("".join(f"{token} {number}\n" for number, token in enumerate(tokens)))
    return len(tokens)


def _list(value: float, count: int) -> str:
    return ",".join([str(value)] * count)


def _ctc(features: int = 80, length: int = _LONG, **metadata: object) -> Maker:
    def make(folder: Path) -> None:
        size = _tokens(folder)
        _save(
            folder / "model.onnx",
            [("x", _FLOAT, ["N", "T", features]), ("x_lens", length, ["N"])],
            [("log_probs", _FLOAT, ["N", "T", size]), ("log_probs_lens", length, ["N"])],
            [
                helper.make_node("MatMul", ["x", "weights"], ["scores"]),
                helper.make_node("LogSoftmax", ["scores"], ["log_probs"], axis=-1),
                helper.make_node("Identity", ["x_lens"], ["log_probs_lens"]),
            ],
            {"weights": _weights(features, size)},
            vocab_size=size,
            subsampling_factor=1,
            **metadata,
        )

    return make


def _sense_voice(folder: Path) -> None:
    size = _tokens(folder, "<|en|>", "<|de|>", first=("<unk>",))
    _save(
        folder / "model.onnx",
        [
            ("x", _FLOAT, ["N", "T", _STACKED]),
            ("x_length", _INT, ["N"]),
            ("language", _INT, ["N"]),
            ("text_norm", _INT, ["N"]),
        ],
        [("logits", _FLOAT, ["N", "L", size])],
        [
            # Four tokens stand before the words: language, mood, kind of sound, and how numbers are written.
            helper.make_node("MatMul", ["x", "weights"], ["scores"]),
            helper.make_node("Slice", ["scores", "from", "to", "axis"], ["before"]),
            helper.make_node("Concat", ["before", "scores"], ["logits"], axis=1),
        ],
        {
            "weights": _weights(_STACKED, size),
            "from": numpy.array([0]),
            "to": numpy.array([4]),
            "axis": numpy.array([1]),
        },
        vocab_size=size,
        lfr_window_size=7,
        lfr_window_shift=6,
        normalize_samples=0,
        with_itn=14,
        without_itn=15,
        **{f"lang_{name}": number for number, name in enumerate(("auto", "zh", "en", "ja", "ko", "yue"))},
        neg_mean=_list(0, _STACKED),
        inv_stddev=_list(0.1, _STACKED),
    )


def _paraformer(folder: Path) -> None:
    size = _tokens(folder, first=("<blank>", "<s>", "</s>"))
    _save(
        folder / "model.onnx",
        [("speech", _FLOAT, ["N", "T", _STACKED]), ("speech_lengths", _INT, ["N"])],
        [("logits", _FLOAT, ["N", "T", size]), ("token_num", _INT, ["N"])],
        [
            helper.make_node("MatMul", ["speech", "weights"], ["logits"]),
            helper.make_node("Identity", ["speech_lengths"], ["token_num"]),
        ],
        {"weights": _weights(_STACKED, size)},
        vocab_size=size,
        lfr_window_size=7,
        lfr_window_shift=6,
        neg_mean=_list(0, _STACKED),
        inv_stddev=_list(0.1, _STACKED),
    )


def _joiner(folder: Path, encoded: Sequence[int | str], predicted: Sequence[int | str], size: int, axis: int) -> None:
    nodes = [helper.make_node("Add", ["encoder_out", "decoder_out"], ["both"])]
    turned = "both"
    if axis == 1:
        nodes.append(helper.make_node("Transpose", ["both"], ["turned"], perm=[0, 2, 1]))
        turned = "turned"
    nodes.append(helper.make_node("MatMul", [turned, "weights"], ["logit"]))
    _save(
        folder / "joiner.onnx",
        [("encoder_out", _FLOAT, encoded), ("decoder_out", _FLOAT, predicted)],
        [("logit", _FLOAT, ["N", size] if axis == -1 else ["N", 1, size])],
        nodes,
        {"weights": _weights(_STATE, size)},
        joiner_dim=_STATE,
    )


def _transducer(folder: Path) -> None:
    size = _tokens(folder, "<unk>")
    _save(
        folder / "encoder.onnx",
        [("x", _FLOAT, ["N", "T", 80]), ("x_lens", _LONG, ["N"])],
        [("encoder_out", _FLOAT, ["N", "T", _STATE]), ("encoder_out_lens", _LONG, ["N"])],
        [
            helper.make_node("MatMul", ["x", "weights"], ["encoder_out"]),
            helper.make_node("Identity", ["x_lens"], ["encoder_out_lens"]),
        ],
        {"weights": _weights(80, _STATE)},
    )
    _save(
        folder / "decoder.onnx",
        [("y", _LONG, ["N", 2])],
        [("decoder_out", _FLOAT, ["N", _STATE])],
        [
            helper.make_node("Gather", ["weights", "y"], ["each"], axis=0),
            helper.make_node("ReduceMean", ["each"], ["decoder_out"], axes=[1], keepdims=0),
        ],
        {"weights": _weights(size, _STATE)},
        context_size=2,
        vocab_size=size,
    )
    _joiner(folder, ["N", _STATE], ["N", _STATE], size, -1)


def _nemo_transducer(folder: Path) -> None:
    size = len(WORDS) + 1
    tokens = [*(f"▁{word}" for word in WORDS), "<blk>"]
    (folder / "tokens.txt").write_text("".join(f"{token} {number}\n" for number, token in enumerate(tokens)))
    _save(
        folder / "encoder.onnx",
        [("audio_signal", _FLOAT, ["N", 80, "T"]), ("length", _LONG, ["N"])],
        [("outputs", _FLOAT, ["N", _STATE, "T"]), ("encoded_lengths", _LONG, ["N"])],
        [
            helper.make_node("Transpose", ["audio_signal"], ["turned"], perm=[0, 2, 1]),
            helper.make_node("MatMul", ["turned", "weights"], ["encoded"]),
            helper.make_node("Transpose", ["encoded"], ["outputs"], perm=[0, 2, 1]),
            helper.make_node("Identity", ["length"], ["encoded_lengths"]),
        ],
        {"weights": _weights(80, _STATE)},
        vocab_size=size - 1,
        subsampling_factor=1,
        normalize_type="per_feature",
        pred_rnn_layers=1,
        pred_hidden=_STATE,
    )
    state: Shape = [1, "N", _STATE]
    _save(
        folder / "decoder.onnx",
        [("targets", _INT, ["N", 1]), ("target_length", _INT, ["N"]), ("h", _FLOAT, state), ("c", _FLOAT, state)],
        [
            ("outputs", _FLOAT, ["N", _STATE, 1]),
            ("prednet_lengths", _INT, ["N"]),
            ("next_h", _FLOAT, state),
            ("next_c", _FLOAT, state),
        ],
        [
            helper.make_node("Gather", ["weights", "targets"], ["each"], axis=0),
            helper.make_node("Transpose", ["each"], ["outputs"], perm=[0, 2, 1]),
            helper.make_node("Identity", ["target_length"], ["prednet_lengths"]),
            helper.make_node("Identity", ["h"], ["next_h"]),
            helper.make_node("Identity", ["c"], ["next_c"]),
        ],
        {"weights": _weights(size, _STATE)},
    )
    _joiner(folder, ["N", _STATE, 1], ["N", _STATE, 1], size, 1)


def _whisper(folder: Path) -> None:
    # Of the real ones, the numbers of what is no word follow the words.
    size = len(WORDS)
    words = (base64.b64encode(f" {word}".encode()).decode() for word in WORDS)
    (folder / "tokens.txt").write_text("".join(f"{word} {number}\n" for number, word in enumerate(words)))
    special = {name: size + number for number, name in enumerate(("eot", "sot", "translate", "transcribe"))}
    languages = {"en": size + 4, "de": size + 5}
    others = {"no_timestamps": size + 6, "no_speech": size + 7, "sot_prev": size + 8, "sot_lm": size + 9}
    last = size + 10
    cross: Shape = [1, "N", "T", _STATE]
    _save(
        folder / "tiny-encoder.onnx",
        [("mel", _FLOAT, ["N", 80, "T"])],
        [("n_layer_cross_k", _FLOAT, cross), ("n_layer_cross_v", _FLOAT, cross)],
        [
            helper.make_node("Transpose", ["mel"], ["turned"], perm=[0, 2, 1]),
            helper.make_node("MatMul", ["turned", "weights"], ["each"]),
            helper.make_node("Unsqueeze", ["each", "axis"], ["n_layer_cross_k"]),
            helper.make_node("Identity", ["n_layer_cross_k"], ["n_layer_cross_v"]),
        ],
        {"weights": _weights(80, _STATE), "axis": numpy.array([0])},
        model_type="whisper-tiny",
        n_mels=80,
        n_text_layer=1,
        n_text_ctx=16,
        n_text_state=_STATE,
        n_vocab=last,
        is_multilingual=1,
        blank_id=0,
        **special,
        **others,
        sot_sequence=f"{special['sot']},{languages['en']},{special['transcribe']}",
        all_language_tokens=",".join(map(str, languages.values())),
        all_language_codes=",".join(languages),
    )
    likely = numpy.array([50.0] * size + [40.0] + [0.0] * 9, "float32")
    cache: Shape = [1, "N", 16, _STATE]
    _save(
        folder / "tiny-decoder.onnx",
        [
            ("tokens", _LONG, ["N", "L"]),
            ("in_n_layer_self_k_cache", _FLOAT, cache),
            ("in_n_layer_self_v_cache", _FLOAT, cache),
            ("n_layer_cross_k", _FLOAT, cross),
            ("n_layer_cross_v", _FLOAT, cross),
            ("offset", _LONG, [1]),
        ],
        [
            ("logits", _FLOAT, ["N", "L", last]),
            ("out_n_layer_self_k_cache", _FLOAT, cache),
            ("out_n_layer_self_v_cache", _FLOAT, cache),
        ],
        [
            helper.make_node("Gather", ["weights", "tokens"], ["each"], axis=0),
            helper.make_node("ReduceMean", ["n_layer_cross_k"], ["heard"], axes=[0, 2], keepdims=0),
            helper.make_node("Unsqueeze", ["heard", "axis"], ["here"]),
            helper.make_node("Add", ["each", "here"], ["both"]),
            helper.make_node("MatMul", ["both", "turned"], ["scores"]),
            # Words are likelier than what is none, or often nothing would be said at all.
            helper.make_node("Add", ["scores", "likely"], ["logits"]),
            helper.make_node("Identity", ["in_n_layer_self_k_cache"], ["out_n_layer_self_k_cache"]),
            helper.make_node("Identity", ["in_n_layer_self_v_cache"], ["out_n_layer_self_v_cache"]),
        ],
        {
            "weights": _weights(last, _STATE),
            "turned": _weights(_STATE, last),
            "axis": numpy.array([1]),
            "likely": likely,
        },
    )


def _canary(folder: Path) -> None:
    said = ("en", "de", "es", "fr")
    marks = (
        "<|startofcontext|>",
        "<|startoftranscript|>",
        "<|emo:undefined|>",
        "<|pnc|>",
        "<|noitn|>",
        "<|notimestamp|>",
    )
    size = _tokens(
        folder,
        *marks,
        "<|nodiarize|>",
        "<|nopnc|>",
        "<|endoftext|>",
        *(f"<|{each}|>" for each in said),
        first=("<unk>",),
    )
    _save(
        folder / "encoder.onnx",
        [("audio_signal", _FLOAT, ["N", "T", 128]), ("length", _LONG, ["N"])],
        [
            ("enc_states", _FLOAT, ["N", "T", _STATE]),
            ("encoded_len", _LONG, ["N"]),
            ("enc_mask", TensorProto.BOOL, ["N", "T"]),
        ],
        [
            helper.make_node("MatMul", ["audio_signal", "weights"], ["enc_states"]),
            helper.make_node("Identity", ["length"], ["encoded_len"]),
            helper.make_node("ReduceMean", ["audio_signal"], ["each"], axes=[2], keepdims=0),
            helper.make_node("IsNaN", ["each"], ["unheard"]),
            helper.make_node("Not", ["unheard"], ["enc_mask"]),
        ],
        {"weights": _weights(128, _STATE)},
        vocab_size=size,
        subsampling_factor=1,
        normalize_type="per_feature",
        feat_dim=128,
        model_type="EncDecMultiTaskModel",
    )
    memory: Shape = ["N", "L", _MEMORY]
    carried: Shape = ["N", "K", _MEMORY]
    _save(
        folder / "decoder.onnx",
        [
            ("decoder_input_ids", _INT, ["N", "P"]),
            *((f"decoder_mems_list_{layer}", _FLOAT, memory) for layer in range(6)),
            ("enc_states", _FLOAT, ["N", "T", _STATE]),
            ("enc_mask", TensorProto.BOOL, ["N", "T"]),
        ],
        [
            ("logits", _FLOAT, ["N", "P", size]),
            *((f"next_mems_list_{layer}", _FLOAT, carried) for layer in range(6)),
        ],
        [
            helper.make_node("Gather", ["weights", "decoder_input_ids"], ["each"], axis=0),
            helper.make_node("Gather", ["memories", "decoder_input_ids"], ["remembered"], axis=0),
            helper.make_node("ReduceMean", ["enc_states"], ["heard"], axes=[1], keepdims=1),
            helper.make_node("Add", ["each", "heard"], ["both"]),
            helper.make_node("MatMul", ["both", "turned"], ["logits"]),
            *(
                helper.make_node(
                    "Concat", [f"decoder_mems_list_{layer}", "remembered"], [f"next_mems_list_{layer}"], axis=1
                )
                for layer in range(6)
            ),
            helper.make_node("Not", ["enc_mask"], ["unused"]),
        ],
        {"weights": _weights(size, _STATE), "turned": _weights(_STATE, size), "memories": _weights(size, _MEMORY)},
    )


MADE: Mapping[str, Maker] = {
    "nemo-transducer": _nemo_transducer,
    "transducer": _transducer,
    "whisper": _whisper,
    "nemo-canary": _canary,
    "sense-voice": _sense_voice,
    "paraformer": _paraformer,
    "wenet-ctc": _ctc(),
    "zipformer-ctc": _ctc(),
    "dolphin-ctc": _ctc(mean=_list(0, 80), invstd=_list(0.1, 80)),
}
