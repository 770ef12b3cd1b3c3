"""MiniLM with a linear layer over the states of a sentence: in JAX, to be fitted, and as an ONNX graph, to be shipped.

The architecture is that of BERT (Devlin et al., 2019) in the size of all-MiniLM-L6-v2: 6 layers of 384, 12 heads. What
the layer reads are the first state, the mean and the maximum of the states of the sentence's own tokens: 1,152 numbers.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load_file

N_LAYERS, WIDTH, N_HEADS = 6, 384, 12
N_READ = 3 * WIDTH
EPSILON = 1e-12
LARGE = 1e9
Weights = dict[str, Any]
Array = npt.NDArray[np.float32]


def pretrained(path: Path) -> Weights:
    """The weights of a model.safetensors of BERT, by the names used here; matrices are (input, output)."""
    found = {name.removeprefix("bert."): value for name, value in load_file(path).items()}

    def of(name: str) -> Array:
        return found[name].astype(np.float32)

    def layer(n: int) -> Weights:
        at = f"encoder.layer.{n}."
        parts = [f"{at}attention.self.{name}" for name in ("query", "key", "value")]
        return {
            "attend": np.concatenate([of(f"{part}.weight").T for part in parts], axis=1),
            "attend_bias": np.concatenate([of(f"{part}.bias") for part in parts]),
            "out": of(f"{at}attention.output.dense.weight").T,
            "out_bias": of(f"{at}attention.output.dense.bias"),
            "gain_1": of(f"{at}attention.output.LayerNorm.weight"),
            "shift_1": of(f"{at}attention.output.LayerNorm.bias"),
            "up": of(f"{at}intermediate.dense.weight").T,
            "up_bias": of(f"{at}intermediate.dense.bias"),
            "down": of(f"{at}output.dense.weight").T,
            "down_bias": of(f"{at}output.dense.bias"),
            "gain_2": of(f"{at}output.LayerNorm.weight"),
            "shift_2": of(f"{at}output.LayerNorm.bias"),
        }

    return {
        "words": of("embeddings.word_embeddings.weight"),
        "places": of("embeddings.position_embeddings.weight"),
        "types": of("embeddings.token_type_embeddings.weight"),
        "gain": of("embeddings.LayerNorm.weight"),
        "shift": of("embeddings.LayerNorm.bias"),
        "layers": [layer(n) for n in range(N_LAYERS)],
    }


def scores(weights: Weights, ids: Any, types: Any, key: Any = None, dropout: float = 0.1) -> Any:
    """Scores of labels, sentences × labels, of padded token ids and types (0: own, 1: before, 2: padding). With a `key`
    states are dropped at random, as in fitting."""
    n, length = ids.shape
    is_token = (types < 2).astype(jnp.float32)
    states = weights["words"][ids] + weights["places"][:length] + weights["types"][jnp.minimum(types, 1)]
    states = _normed(states, weights["gain"], weights["shift"])
    hidden = ((1 - is_token) * -LARGE)[:, None, None, :]
    for place, layer in enumerate(weights["layers"]):
        first, second = (None, None) if key is None else jax.random.split(jax.random.fold_in(key, place))
        parts = states @ layer["attend"] + layer["attend_bias"]
        query, asked, value = parts.reshape(n, length, 3, N_HEADS, -1).transpose(2, 0, 3, 1, 4)
        heads = jax.nn.softmax(query @ asked.swapaxes(-1, -2) * (WIDTH // N_HEADS) ** -0.5 + hidden, -1) @ value
        heads = heads.transpose(0, 2, 1, 3).reshape(n, length, WIDTH) @ layer["out"] + layer["out_bias"]
        states = _normed(states + _dropped(heads, first, dropout), layer["gain_1"], layer["shift_1"])
        wide = jax.nn.gelu(states @ layer["up"] + layer["up_bias"], approximate=False)
        wide = wide @ layer["down"] + layer["down_bias"]
        states = _normed(states + _dropped(wide, second, dropout), layer["gain_2"], layer["shift_2"])
    own = (types == 0).astype(jnp.float32)[..., None]
    mean = (states * own).sum(1) / own.sum(1)
    most = jnp.where(own > 0, states, -LARGE).max(1)
    read = jnp.concatenate([states[:, 0], mean, most], -1)
    read = _dropped(read, None if key is None else jax.random.fold_in(key, N_LAYERS), dropout)
    return read @ weights["head"] + weights["head_bias"]


def _normed(states: Any, gain: Any, shift: Any) -> Any:
    centred = states - states.mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt((centred**2).mean(-1, keepdims=True) + EPSILON) * gain + shift


def _dropped(states: Any, key: Any, rate: float) -> Any:
    return states if key is None else states * jax.random.bernoulli(key, 1 - rate, states.shape) / (1 - rate)


class Graph:
    """An ONNX graph in the making: nodes and constants, each under a name of its own."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, value: Any, kind: type = np.float32) -> str:
        """The name of a constant with this value."""
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value, kind), name))
        return name

    def node(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """The name of what an operator makes of its inputs."""
        name = f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], name, **attributes))
        return name

    def linear(self, states: str, weight: Array, bias: Array) -> str:
        """States times a matrix, and a bias."""
        return self.node("Add", self.node("MatMul", states, self.constant(weight)), self.constant(bias))

    def normed(self, states: str, gain: Array, shift: Array) -> str:
        """Layer normalization over the last axis."""
        return self.node(
            "LayerNormalization", states, self.constant(gain), self.constant(shift), axis=-1, epsilon=EPSILON
        )

    def heads(self, states: str, place: int) -> str:
        """One of query, key and value, split into heads: 1 × heads × tokens × width of a head."""
        width = WIDTH // N_HEADS
        first, last, axis = (self.constant([at], np.int64) for at in (place * WIDTH, (place + 1) * WIDTH, 2))
        part = self.node("Slice", states, first, last, axis)
        shaped = self.node("Reshape", part, self.constant([0, 0, N_HEADS, width], np.int64))
        return self.node("Transpose", shaped, perm=[0, 2, 1, 3])


def onnx_model(weights: Weights, metadata: Mapping[str, str]) -> onnx.ModelProto:
    """The graph for one sentence without padding: `ids` and `types` (0: own, 1: before), 1 × tokens → `scores`."""
    graph = Graph()
    states = encoder(graph, weights, has_types=True)
    other = graph.node("Cast", graph.node("Unsqueeze", "types", graph.constant([2], np.int64)), to=TensorProto.FLOAT)
    own = graph.node("Sub", graph.constant(1.0), other)
    one = graph.constant([1], np.int64)
    total = graph.node("ReduceSum", graph.node("Mul", states, own), one, keepdims=0)
    mean = graph.node("Div", total, graph.node("ReduceSum", own, one, keepdims=0))
    kept = graph.node("Sub", states, graph.node("Mul", other, graph.constant(LARGE)))
    most = graph.node("ReduceMax", kept, one, keepdims=0)
    first = graph.node("Gather", states, graph.constant(0, np.int64), axis=1)
    read = graph.node("Concat", first, mean, most, axis=-1)
    scores_ = graph.linear(read, weights["head"], weights["head_bias"])
    return packed(graph, "sentence_labels", ("scores", scores_, "labels"), ("ids", "types"), metadata)


def encoder(graph: Graph, weights: Weights, *, has_types: bool) -> str:
    """The states of the last layer, 1 × tokens × width, of the tokens `ids` and their `types`; without, all are own."""
    states = graph.node("Gather", graph.constant(weights["words"]), "ids")
    of_types = graph.constant(weights["types"] if has_types else weights["types"][0])
    types = graph.node("Gather", of_types, "types") if has_types else of_types
    length = graph.node("Shape", "ids", start=1, end=2)
    zero = graph.constant([0], np.int64)
    places = graph.node("Slice", graph.constant(weights["places"][:128]), zero, length, zero)
    states = graph.node("Add", graph.node("Add", states, types), places)
    states = graph.normed(states, weights["gain"], weights["shift"])
    for layer in weights["layers"]:
        parts = graph.linear(states, layer["attend"], layer["attend_bias"])
        query, asked, value = (graph.heads(parts, place) for place in range(3))
        asked = graph.node("Transpose", asked, perm=[0, 1, 3, 2])
        fit = graph.node("Mul", graph.node("MatMul", query, asked), graph.constant((WIDTH // N_HEADS) ** -0.5))
        heads = graph.node("MatMul", graph.node("Softmax", fit, axis=-1), value)
        heads = graph.node("Transpose", heads, perm=[0, 2, 1, 3])
        heads = graph.node("Reshape", heads, graph.constant([0, 0, WIDTH], np.int64))
        heads = graph.linear(heads, layer["out"], layer["out_bias"])
        states = graph.normed(graph.node("Add", states, heads), layer["gain_1"], layer["shift_1"])
        wide = graph.node("Gelu", graph.linear(states, layer["up"], layer["up_bias"]))
        wide = graph.linear(wide, layer["down"], layer["down_bias"])
        states = graph.normed(graph.node("Add", states, wide), layer["gain_2"], layer["shift_2"])
    return states


def packed(
    graph: Graph, name: str, output: tuple[str, str, str], inputs: Sequence[str], metadata: Mapping[str, str]
) -> onnx.ModelProto:
    """The model of a graph with this name; `output` is its name, what makes it, and what its numbers are called."""
    called, last, numbers = output
    graph.nodes.append(helper.make_node("Identity", [last], [called], called))
    given = [helper.make_tensor_value_info(one, TensorProto.INT64, [1, "tokens"]) for one in inputs]
    made = [helper.make_tensor_value_info(called, TensorProto.FLOAT, [1, numbers])]
    whole = helper.make_graph(graph.nodes, name, given, made, graph.constants)
    model = helper.make_model(whole, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    helper.set_model_props(model, dict(metadata))
    onnx.checker.check_model(model)
    return model


def padded(
    rows: Sequence[tuple[Sequence[int], int]], length: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Token ids and types, rows × length, of encoded sentences with the number of their own tokens."""
    ids = np.zeros((len(rows), length), np.int32)
    types = np.full((len(rows), length), 2, np.int32)
    for place, (tokens, n_own) in enumerate(rows):
        ids[place, : len(tokens)] = tokens
        types[place, : len(tokens)] = 1
        types[place, :n_own] = 0
    return ids, types
