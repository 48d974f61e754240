"""A program for those who have no autobatch: as a SavedModel, or in StableHLO."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from autobatch import errors
from autobatch.calls import taping
from autobatch.calls.arguments import is_array


class Call:
    """A call as a graph: those of its arguments that are tensors remain arguments, the others are part of it."""

    def __init__(self, function: Callable, args: Sequence[Any], kwargs: Mapping[str, Any], names: Sequence[str]):
        self.function, self.args, self.kwargs = function, list(args), dict(kwargs)
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        self.named = {name: given[name] for name in names if name in given} | given  # in the function's own order
        self.tensors = {name: value for name, value in self.named.items() if _has_tensors(name, value)}
        self.places = {name: name if name in kwargs else list(names).index(name) for name in self.tensors}

    @property
    def signature(self) -> list[Any]:
        return [
            tf.nest.map_structure(lambda leaf, name=name: tf.TensorSpec(leaf.shape, leaf.dtype, name), value)
            for name, value in self.tensors.items()
        ]

    def given(self, tensors: Sequence[Any]) -> tuple[list[Any], dict[str, Any]]:
        """The call's arguments, positional and named, with these in place of its tensors."""
        args, kwargs = list(self.args), dict(self.kwargs)
        for place, value in zip(self.places.values(), tensors, strict=True):
            if isinstance(place, int):
                args[place] = value
            else:
                kwargs[place] = value
        return args, kwargs

    def __call__(self, *tensors: Any) -> Any:
        args, kwargs = self.given(tensors)
        with taping.for_export():
            return self.function(*args, **kwargs)

    def traced(self, jit_compile: bool | None = None) -> Any:
        return tf.function(self, input_signature=self.signature, autograph=False, jit_compile=jit_compile)


def saved_model(call: Call, path: str | os.PathLike) -> None:
    """``tf.saved_model.load(path).call(...)``; the serving signature has its results by number."""
    module = tf.Module()
    module.call = call.traced()
    module.closed_over = list(module.call.get_concrete_function().variables)
    serving = tf.function(lambda *tensors: _numbered(call(*tensors)), call.signature, autograph=False)
    try:
        tf.saved_model.save(module, os.fspath(path), signatures=serving)
    except (OSError, tf.errors.OpError):
        raise
    except Exception as error:  # of many kinds, all of which are about what it takes and returns
        raise errors.SettingError(
            f"TensorFlow cannot save this call: {error}", help="take and return tensors, in tuples, lists or dicts."
        ) from error


def stablehlo(call: Call, path: str | os.PathLike) -> None:
    """``program.mlir``, and ``arguments.npz`` with what it takes, in order: also tensors that the code closes over.

    An array's name there is its number and its dtype, as NumPy's files do not know bfloat16: ``0_bfloat16``.
    """
    function = call.traced(jit_compile=True)
    concrete = function.get_concrete_function()
    if any(leaf.dtype == tf.string for leaf in tf.nest.flatten(concrete.structured_outputs)):
        raise errors.SettingError(
            "The function returns texts, which StableHLO does not have.", help="return numbers that stand for them."
        )
    text = function.experimental_get_compiler_ir(*call.tensors.values())(stage="stablehlo")
    captured = closed_over(concrete)
    folder = Path(path)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "program.mlir").write_text(text)
    arrays = map(np.asarray, [*tf.nest.flatten(list(call.tensors.values())), *captured])
    named: dict[str, Any] = {f"{k}_{array.dtype.name}": array for k, array in enumerate(arrays)}
    np.savez(folder / "arguments.npz", **named)


def closed_over(function: Any) -> list[np.ndarray]:
    """What a concrete function takes behind its arguments."""
    captured = function.captured_inputs
    if any(tensor.dtype == tf.resource for tensor in captured):
        raise errors.SettingError(
            "StableHLO has no tf.Variable, and the code closes over one.",
            help="take it as an argument, with in_axes=None for it.",
        )
    return list(map(np.asarray, captured))


def _has_tensors(name: str, value: Any) -> bool:
    if any(isinstance(leaf, tf.RaggedTensor) for leaf in tf.nest.flatten(value)):
        raise errors.SettingError(f"Argument `{name}` is ragged, and cannot be exported: its shape is not known.")
    found = [is_array(leaf) and not isinstance(leaf, np.generic) for leaf in tf.nest.flatten(value)]
    if any(found) and not all(found):
        raise errors.SettingError(f"Argument `{name}` holds tensors and other values, and cannot be exported.")
    return any(found)


def _numbered(results: Any) -> dict[str, tf.Tensor]:
    return {f"output_{k}": leaf for k, leaf in enumerate(tf.nest.flatten(results))}
