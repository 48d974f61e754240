"""A program as a function of JAX's arrays: XLA's program, as TensorFlow writes it, called by way of ``jax.export``."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from inspect import Parameter, Signature
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf
from tensorflow.python.eager.polymorphic_function import compiler_ir

from autobatch import errors
from autobatch.backends.program_counter import DEEPEST, FIRST_DEPTH
from autobatch.calls import taping
from autobatch.calls.arguments import Arguments, does_not_fit, unfitting
from autobatch.calls.exporting import Call, closed_over
from autobatch.calls.specialisation import Specialisation
from autobatch.context import FIRST_CAPACITY
from autobatch.ir.types import Static, Type
from autobatch.language import keys
from autobatch.language.lists import GROWTH, LONGEST
from autobatch.language.one_of import OneOf
from autobatch.language.structs import map_nodes
from autobatch.machine.devices import cost
from autobatch.machine.engine import Outcome
from autobatch.options import Options


@dataclass(frozen=True)
class _Room:
    """How many frames of a recursion, and items of a list, a program has room for."""

    depth: int | None
    length: int | None


class _Told(NamedTuple):
    """What becomes of all members; ``unfitting``: whose Python ints do not fit the dtype of the results."""

    outcome: Outcome
    unfitting: Any


@dataclass(frozen=True)
class _Program:
    """``run`` makes of the arguments' leaves what the function returns, and what is told of the members.

    specialisation, options: by which it was made, and its errors are found.
    """

    run: Callable[..., tuple[Any, _Told]]
    specialisation: Specialisation
    options: Options


class JaxFunction:
    """A lowered call, of JAX's arrays: what ``Lowered.to_jax`` returns.

    It takes those of the call's arguments that were arrays, by position or name; the others are part of it, and so is
    what the code reads from outside, as it was when it was lowered.
    """

    def __init__(
        self,
        entry: Any,
        specialisation: Specialisation,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        names: Sequence[str],
    ):
        if entry._options.deadline is not None or entry._options.strategy is not None:
            raise errors.SettingError("A function of JAX's arrays has no deadline and no strategy.")
        self._jax = jax_module()
        self._entry = entry.options(backend="program_counter", jit_compile=True, shards=1, compact="never")
        self._call = Call(entry, args, kwargs, names)
        self._signature = Signature([Parameter(n, Parameter.POSITIONAL_OR_KEYWORD) for n in self._call.tensors])
        taken = self._taken(list(self._call.tensors.values()))
        self._specialisation = specialisation
        if entry._options.dispatch == "auto" and (dispatch := self._dispatch(taken.size)):
            self._entry = self._entry.options(dispatch=dispatch)
        options, stored = entry._options, self._specialisation.stack(entry._options.optimizations)
        self._deepens = stored.has_calls and options.max_depth is None
        self._lengthens = stored.fills_lists and options.max_length is None
        self._room = _Room(
            FIRST_DEPTH if self._deepens else options.max_depth,
            FIRST_CAPACITY if self._lengthens else options.max_length,
        )
        _make_known(self._jax, list(self._call.tensors.values()))
        known = {name: value for name, value in self._call.named.items() if name not in self._call.tensors}
        self._known = taken.size, tuple((name, keys.key(value)) for name, value in known.items())
        self.__name__, self.__qualname__, self.__doc__ = entry.__name__, entry.__qualname__, entry.__doc__

    def _dispatch(self, size: int) -> str | None:
        """That for JAX's default device, if it has a model."""
        device = {"gpu": "h100", "tpu": "tpu-v5e"}.get(self._jax.default_backend())
        if device is None:
            return None
        machine = self._specialisation.executable(size, self._entry._options).whole()
        return "rounds" if machine.max_steps is not None else cost(machine, device).dispatch

    def __repr__(self) -> str:
        return f"<{self.__qualname__}{self._signature}, of JAX's arrays>"

    @property
    def arguments(self) -> dict[str, Any]:
        """What it was lowered for, by name."""
        return dict(self._call.tensors)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the function returns for a batch of the size that it was lowered for.

        Inside of ``jax.jit`` stacks and lists cannot grow, and members that fail return NaN, or the lowest integer.

        Raises:
          BatchShapeError: for other shapes or dtypes than it was lowered for.
          StackOverflowError, ListFullError: inside of ``jax.jit``, if ``max_depth`` or ``max_length`` is needed.
          MemberError: outside of it, as a call does.
          SettingError: of a result of 64 bits where JAX has none; inside of ``jax.vmap``, ``jax.grad``, or a
            ``tf.function``.
        """
        if not tf.executing_eagerly():
            raise errors.SettingError("A function of JAX's arrays does not run inside of a tf.function.")
        try:
            given = self._signature.bind(*args, **kwargs).args
        except TypeError as error:
            raise TypeError(f"{self.__name__}{self._signature}: {error}") from None
        arrays = self._arrays(given)
        while True:
            room = self._room
            program = self._program(room)
            result, told = program.run(*arrays)
            if isinstance(told.outcome.pc, self._jax.core.Tracer):
                return self._inside(result)
            error = self._error(program, told, result, arrays)
            if error is None:
                return result
            depth, length = room.depth or 0, room.length or 0
            if isinstance(error, errors.StackOverflowError) and self._deepens and depth < DEEPEST:
                self._room = dataclasses.replace(room, depth=min(2 * depth, DEEPEST))
            elif isinstance(error, errors.ListFullError) and self._lengthens and length * GROWTH <= LONGEST:
                self._room = dataclasses.replace(room, length=length * GROWTH)
            else:
                raise error

    def _inside(self, result: Any) -> Any:
        """Where no host can begin again with more room."""
        if self._deepens:
            raise errors.StackOverflowError(
                "Inside of jax.jit the stacks cannot grow, so their depth must be given.",
                help="f.options(max_depth=...).lower(...): the deepest nesting of calls that any member needs.",
            )
        if self._lengthens:
            raise errors.ListFullError(
                "Inside of jax.jit lists cannot grow, so their greatest length must be given.",
                help="f.options(max_length=...).lower(...): the most items that any member's list has.",
            )
        return result

    def _arrays(self, given: Sequence[Any]) -> list[Any]:
        """The arguments' leaves, which are of the types that they were lowered for."""
        found = []
        for (name, like), value in zip(self._call.tensors.items(), given, strict=True):
            try:
                tf.nest.assert_same_structure(like, value)
            except (TypeError, ValueError):
                raise errors.BatchShapeError(
                    f"Argument `{name}` is not built like the one that the call was lowered for."
                ) from None
            for wanted, leaf in zip(tf.nest.flatten(like), tf.nest.flatten(value), strict=True):
                array = leaf if isinstance(leaf, self._jax.Array) else np.asarray(leaf)
                if self._jax.dtypes.issubdtype(array.dtype, self._jax.dtypes.prng_key):
                    array = self._jax.random.key_data(array)
                if (array.shape, array.dtype) != (tuple(wanted.shape), _dtype(wanted)):
                    raise self._misfit(name, array, wanted)
                found.append(array)
        return found

    def _misfit(self, name: str, array: Any, wanted: Any) -> errors.BatchShapeError:
        given = f"a {type(array).__name__}" if array.dtype.kind in "OUS" else f"{array.dtype.name}{list(array.shape)}"
        help = "lower it for arrays like this one."
        if isinstance(array, self._jax.Array) and _has_64_bits(_dtype(wanted)) and not _has_64_bits(array.dtype):
            help = 'JAX has 64 bits after jax.config.update("jax_enable_x64", True).'
        lowered = f"{_dtype(wanted).name}{list(wanted.shape)}"
        return errors.BatchShapeError(
            f"Argument `{name}` is {given}, and the call was lowered for {lowered}.", help=help
        )

    def _error(self, program: _Program, told: _Told, result: Any, arrays: list[Any]) -> errors.MemberError | None:
        """What a call would raise; with what the others return."""
        machine = program.specialisation.executable(self._known[0], program.options)
        pc, fault, unfitting = (np.asarray(each) for each in (told.outcome.pc, told.outcome.fault, told.unfitting))
        failed = (pc != machine.stopped) | (fault > 0)
        if not failed.any() and not unfitting.any():
            return None
        taken = self._taken(self._packed(list(map(np.asarray, arrays))))
        if not failed.any():
            error = does_not_fit(tf.int32, np.nonzero(unfitting)[0].tolist(), taken)
        else:
            outcome = tf.nest.map_structure(lambda leaf: tf.constant(np.asarray(leaf)), told.outcome)
            error = machine.error(outcome, taken.shared)
            assert error is not None
            error.members = tuple(sorted({*error.members, *np.nonzero(unfitting)[0].tolist()}))
        error.results = result
        return error

    def _packed(self, leaves: Sequence[Any]) -> list[Any]:
        return tf.nest.pack_sequence_as(list(self._call.tensors.values()), leaves)

    def _taken(self, tensors: Sequence[Any]) -> Arguments:
        args, kwargs = self._call.given(tensors)
        return self._entry._take_apart(args, kwargs)

    def _program(self, room: _Room) -> _Program:
        options = self._entry.options(max_depth=room.depth, max_length=room.length)._options
        kept, key = self._specialisation.under_jax, (*self._known, options)
        return kept.get(key) or kept.put(key, self._made(options))

    def _with_lists(self, options: Options) -> Specialisation:
        """The program whose lists have so much room."""
        if not self._lengthens or options.max_length == FIRST_CAPACITY:
            return self._specialisation
        taken = self._taken(list(self._call.tensors.values()))
        return self._entry.options(max_length=options.max_length)._program(taken)

    def _made(self, options: Options) -> _Program:
        if changed := self._specialisation.changed():
            raise errors.AutobatchError(
                f"`{changed}`, which the program reads, has changed since it was lowered.", help="lower it again."
            )
        program, fixed = self._with_lists(options), []

        def call(*tensors: Any) -> tuple[list[tf.Tensor], _Told]:
            with taping.for_export():
                taken = self._taken(tensors)
                machine, type_ = program.in_graph(taken.size, options), program.result_type
                outcome = machine.outcome(program.arguments(taken), taken.shared)
                result = program.put_together(taken, lambda: machine.poisoned(outcome), _with_texts_apart(type_))
                unfit = unfitting(type_, outcome.results[0], taken)
            fixed.append(_without_tensors(result))
            _make_known(self._jax, fixed[0])
            returned = [leaf for leaf in tf.nest.flatten(result) if tf.is_tensor(leaf)]
            return returned, _Told(outcome._replace(results=[]), unfit)

        function = tf.function(call, self._call.signature, autograph=False, jit_compile=True).get_concrete_function()
        captured = closed_over(function)
        returned: Any = function.structured_outputs
        text = compiler_ir.from_concrete_function(function)(stage="stablehlo_serialized")
        flat = tf.nest.flatten(self._call.signature) + captured
        run = _of_module(self._jax, text, flat, tf.nest.flatten(returned), self.__name__)

        def packed(*arrays: Any) -> tuple[Any, _Told]:
            results, told = tf.nest.pack_sequence_as(returned, run(*arrays, *captured))
            remaining = iter(results)
            leaves = [next(remaining) if leaf is _ARRAY else leaf for leaf in tf.nest.flatten(fixed[0])]
            return tf.nest.pack_sequence_as(fixed[0], leaves), told

        return _Program(packed, program, options)


_ARRAY = object()  # where the function returns one


@dataclasses.dataclass(frozen=True)
class _Text:
    """A text that all members return, of which JAX has no array."""

    value: str | bytes


def _with_texts_apart(type_: Type) -> Type:
    """The type with these in place of texts.  Raises SettingError for texts that differ between members."""

    def refuse(node: OneOf) -> OneOf:
        if not all(isinstance(option, int) for option in node.options):
            raise errors.SettingError(
                "The function returns texts that differ between members, which JAX has no arrays for.",
                help="return numbers that stand for them.",
            )
        return node

    def apart(leaf: Any) -> Any:
        is_text = isinstance(leaf, Static) and isinstance(leaf.value, str | bytes)
        return Static(_Text(leaf.value)) if is_text else leaf

    return tf.nest.map_structure(apart, map_nodes(OneOf, refuse, type_))


def _without_tensors(result: Any) -> Any:
    """What all members return alike, which may be None or a text, in its place."""

    def kept(leaf: Any) -> Any:
        if isinstance(leaf, tf.RaggedTensor):
            raise errors.SettingError("The function returns lists of unlike lengths, which JAX has no arrays for.")
        if isinstance(leaf, _Text):
            return leaf.value
        if not tf.is_tensor(leaf) and type(leaf).__module__ != "builtins":
            raise errors.SettingError(
                f"The function returns a {type(leaf).__name__}, which JAX cannot.",
                help="return a tuple or a dictionary, or decorate the class with @ab.struct.",
            )
        return _ARRAY if tf.is_tensor(leaf) else leaf

    return tf.nest.map_structure(kept, result)


_known: set[type] = set()


def _make_known(jax: Any, value: Any) -> None:
    """Tells JAX of the user's structures in it, so that ``jax.jit`` takes and returns them."""
    if isinstance(value, dict):
        parts: Any = value.values()
    elif isinstance(value, list | tuple):
        parts = value
    elif hasattr(value, "__tf_flatten__") and tf.nest.is_nested(value):
        kind = type(value)
        if kind not in _known:
            flatten = lambda made: made.__tf_flatten__()[::-1]
            with suppress(ValueError):  # its owner has told JAX
                jax.tree_util.register_pytree_node(kind, flatten, kind.__tf_unflatten__)
            _known.add(kind)
        _, parts = value.__tf_flatten__()
    else:
        return
    for part in parts:
        _make_known(jax, part)


def _of_module(jax: Any, text: bytes, taken: Sequence[Any], returned: Sequence[Any], name: str) -> Callable:
    """The function of flat arrays that a module of StableHLO is.

    ``jax.export`` makes what is around it for a function of the same types; the module is put in place of that one's.
    """
    specs, results = ([(tuple(leaf.shape), _dtype(leaf)) for leaf in leaves] for leaves in (taken, returned))

    def alike(*_: Any) -> list[Any]:
        return [jax.numpy.zeros(*spec) for spec in results]

    alike.__name__ = name
    unbound = [jax.export.DisabledSafetyCheck.platform()]  # the module is the same for all
    with jax.enable_x64(True):
        template = jax.export.export(jax.jit(alike, keep_unused=True), disabled_checks=unbound)
        exported = template(*(jax.ShapeDtypeStruct(*spec) for spec in specs))
    call = jax.jit(dataclasses.replace(exported, mlir_module_serialized=text).call)
    refusing = _without_transformations(jax, call)

    def run(*arrays: Any) -> list[Any]:
        if not jax.config.jax_enable_x64 and any(_has_64_bits(dtype) for _, dtype in results):
            raise errors.SettingError(
                f"`{name}` returns numbers of 64 bits, which JAX has not.",
                help='jax.config.update("jax_enable_x64", True), or arguments of 32 bits.',
            )
        with jax.enable_x64(True):  # for what is closed over
            return refusing(*arrays)

    return run


def _without_transformations(jax: Any, call: Callable) -> Callable:
    """With an error of ours in place of JAX's where it is asked for the batched function, or its derivative."""

    @jax.custom_batching.custom_vmap
    def batched(*arrays: Any) -> Any:
        return call(*arrays)

    @batched.def_vmap
    def refuse_vmap(*_: Any) -> Any:
        raise errors.SettingError("This is a batched function already.", help="lower it for a larger batch.")

    @jax.custom_jvp
    def differentiated(*arrays: Any) -> Any:
        return batched(*arrays)

    @differentiated.defjvp
    def refuse_jvp(*_: Any) -> Any:
        raise errors.SettingError(
            "A function of JAX's arrays has no derivatives.", help="a call under a tf.GradientTape has."
        )

    return differentiated


def _dtype(leaf: Any) -> np.dtype:
    return np.dtype(tf.as_dtype(leaf.dtype).as_numpy_dtype)


def _has_64_bits(dtype: np.dtype) -> bool:
    return dtype.itemsize == (16 if dtype.kind == "c" else 8)


def jax_module() -> Any:
    """Raises MissingPackageError without JAX."""
    try:
        import jax
        import jax.custom_batching
        import jax.export
    except ImportError:
        raise errors.MissingPackageError("JAX is not installed.", help='pip install "autobatch[jax]".') from None
    return jax
