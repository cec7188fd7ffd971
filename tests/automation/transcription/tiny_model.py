"""A model for sherpa-onnx with random weights, of a few kilobytes: it says the same nonsense about the same sound."""

from pathlib import Path

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

WORDS = ("eins", "zwei", "drei", "vier", "fünf")


def make_model(folder: Path) -> Path:
    """Write a model of kind nemo-ctc: one layer over the 80 features of each moment of sound."""
    folder.mkdir(parents=True)
    size = len(WORDS) + 1
    weights = numpy.random.default_rng(7).normal(size=(80, size)).astype("float32")
    sound = helper.make_tensor_value_info("audio_signal", TensorProto.FLOAT, ["N", 80, "T"])
    length = helper.make_tensor_value_info("length", TensorProto.INT64, ["N"])
    said = helper.make_tensor_value_info("logprobs", TensorProto.FLOAT, ["N", "T", size])
    nodes = [
        helper.make_node("Transpose", ["audio_signal"], ["turned"], perm=[0, 2, 1]),
        helper.make_node("MatMul", ["turned", "weights"], ["scores"]),
        helper.make_node("LogSoftmax", ["scores"], ["logprobs"], axis=-1),
    ]
    graph = helper.make_graph(nodes, "tiny", [sound, length], [said], [numpy_helper.from_array(weights, "weights")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    for key, value in {"vocab_size": size - 1, "subsampling_factor": 1, "normalize_type": "per_feature"}.items():
        said_of_it = model.metadata_props.add()
        said_of_it.key, said_of_it.value = key, str(value)
    onnx.save(model, str(folder / "model.onnx"))
    tokens = [*(f"▁{word}" for word in WORDS), "<blk>"]
    (folder / "tokens.txt").write_text("".join(f"{token} {number}\n" for number, token in enumerate(tokens)))
    return folder
