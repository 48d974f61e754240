"""A program as a function of JAX's arrays: XLA's program, as TensorFlow writes it, called by way of ``jax.export``."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter, Signature
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.eager.polymorphic_function import compiler_ir

from autobatch import errors
from autobatch.backends.program_counter import DEEPEST, FIRST_DEPTH
from autobatch.calls import taping
from autobatch.calls.arguments import Arguments
from autobatch.calls.exporting import Call, closed_over
from autobatch.calls.specialisation import Specialisation
from autobatch.context import FIRST_CAPACITY
from autobatch.language import keys
from autobatch.language.lists import GROWTH, LONGEST
from autobatch.machine.devices import cost
from autobatch.machine.engine import Outcome


@dataclass(frozen=True)
class _Room:
    """How many frames of a recursion, and items of a list, a program has room for."""

    depth: int | None
    length: int | None


@dataclass(frozen=True)
class _Program:
    """``run`` makes of the arguments' leaves what the function returns, and the ``Outcome``, where lanes hold that."""

    run: Callable[..., tuple[Any, Outcome]]
    stopped: int


class JaxFunction:
    """A lowered call, of JAX's arrays: what ``Lowered.to_jax`` returns.

    It takes those of the call's arguments that were arrays, by position or name; the others are part of it.
    """

    def __init__(self, entry: Any, args: Sequence[Any], kwargs: Mapping[str, Any], names: Sequence[str]):
        if entry._options.deadline is not None or entry._options.strategy is not None:
            raise errors.SettingError("A function of JAX's arrays has no deadline and no strategy.")
        self._jax = jax_module()
        self._entry = entry.options(backend="program_counter", jit_compile=True, shards=1, compact="never")
        self._call = Call(entry, args, kwargs, names)
        self._signature = Signature([Parameter(n, Parameter.POSITIONAL_OR_KEYWORD) for n in self._call.tensors])
        program, taken = self._specialised(self._entry, list(self._call.tensors.values()))
        if entry._options.dispatch == "auto" and (dispatch := self._dispatch(program, taken)):
            self._entry = self._entry.options(dispatch=dispatch)
        options, stored = entry._options, program.stack(entry._options.optimizations)
        self._deepens = stored.has_calls and options.max_depth is None
        self._lengthens = stored.fills_lists and options.max_length is None
        self._room = _Room(
            FIRST_DEPTH if self._deepens else options.max_depth,
            FIRST_CAPACITY if self._lengthens else options.max_length,
        )
        known = [value for name, value in self._call.named.items() if name not in self._call.tensors]
        self._compiled, self._known = program.under_jax, (taken.size, tuple(map(keys.key, known)))
        self.__name__, self.__qualname__, self.__doc__ = entry.__name__, entry.__qualname__, entry.__doc__

    def _dispatch(self, program: Specialisation, taken: Arguments) -> str | None:
        """That for JAX's default device, if it has a model."""
        device = {"gpu": "h100", "tpu": "tpu-v5e"}.get(self._jax.default_backend())
        if device is None:
            return None
        machine = program.executable(taken.size, self._entry._options).whole()
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
          SettingError: of a result of 64 bits where JAX has none; inside of ``jax.vmap`` and ``jax.grad``.
        """
        arrays = self._arrays(self._signature.bind(*args, **kwargs).args)
        if not any(isinstance(array, self._jax.core.Tracer) for array in arrays):
            return self._attended(arrays)
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
        result, _ = self._program(self._room).run(*arrays)
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
                if (array.shape, array.dtype) != (tuple(wanted.shape), _dtype(wanted)):
                    raise errors.BatchShapeError(
                        f"Argument `{name}` is {_described(array)}, and the call was lowered for {_described(wanted)}.",
                        help="lower it for arrays like this one."
                        if array.dtype == _dtype(wanted)
                        else 'cast it; JAX has 64 bits after jax.config.update("jax_enable_x64", True).',
                    )
                found.append(array)
        return found

    def _attended(self, arrays: list[Any]) -> Any:
        """Begins again, with more room, as long as that is what a member wants."""
        while True:
            room = self._room
            program = self._program(room)
            result, outcome = program.run(*arrays)
            error = self._error(program, outcome, result, arrays)
            if error is None:
                return result
            depth, length = room.depth or 0, room.length or 0
            if isinstance(error, errors.StackOverflowError) and self._deepens and depth < DEEPEST:
                self._room = dataclasses.replace(room, depth=min(2 * depth, DEEPEST))
            elif isinstance(error, errors.ListFullError) and self._lengthens and length * GROWTH <= LONGEST:
                self._room = dataclasses.replace(room, length=length * GROWTH)
            else:
                raise error

    def _error(self, program: _Program, outcome: Outcome, result: Any, arrays: list[Any]) -> errors.MemberError | None:
        """What a call would raise; with what the others return."""
        pc, fault = np.asarray(outcome.pc), np.asarray(outcome.fault)
        if not ((pc != program.stopped) | (fault > 0)).any():
            return None
        entry = self._with(self._room)
        specialised, taken = self._specialised(entry, self._packed(list(map(np.asarray, arrays))))
        machine = specialised.executable(taken.size, entry._options)
        told = tf.nest.map_structure(lambda leaf: tf.constant(np.asarray(leaf)), outcome)
        try:
            machine.results(told, taken.shared)
        except errors.MemberError as error:
            error.results = result
            return error
        raise AssertionError("a member has failed")

    def _with(self, room: _Room) -> Any:
        return self._entry.options(max_depth=room.depth, max_length=room.length)

    def _packed(self, leaves: Sequence[Any]) -> list[Any]:
        return tf.nest.pack_sequence_as(list(self._call.tensors.values()), leaves)

    def _specialised(self, entry: Any, tensors: Sequence[Any]) -> tuple[Specialisation, Arguments]:
        args, kwargs = self._call.given(tensors)
        taken = entry._take_apart(args, kwargs)
        return entry._program(taken), taken

    def _program(self, room: _Room) -> _Program:
        entry = self._with(room)
        key = (*self._known, entry._options)
        return self._compiled.get(key) or self._compiled.put(key, self._made(entry))

    def _made(self, entry: Any) -> _Program:
        stopped = 0

        def call(*tensors: Any) -> tuple[Any, Outcome]:
            nonlocal stopped
            with taping.for_export():
                program, taken = self._specialised(entry, tensors)
                machine = program.in_graph(taken.size, entry._options)
                stopped = machine.machine.stopped
                outcome = machine.outcome(program.arguments(taken), taken.shared)
                result = program.put_together(taken, lambda: machine.poisoned(outcome))
            if any(isinstance(leaf, tf.RaggedTensor) for leaf in tf.nest.flatten(result)):
                raise errors.SettingError("The function returns lists of unlike lengths, which JAX has no arrays for.")
            return result, outcome._replace(results=[])

        function = tf.function(call, self._call.signature, autograph=False, jit_compile=True).get_concrete_function()
        captured = closed_over(function)
        results: Any = function.structured_outputs
        text = compiler_ir.from_concrete_function(function)(stage="stablehlo_serialized")
        flat = tf.nest.flatten(self._call.signature) + captured
        run = _of_module(self._jax, text, flat, tf.nest.flatten(results), self.__name__)

        def packed(*arrays: Any) -> tuple[Any, Outcome]:
            return tf.nest.pack_sequence_as(results, run(*arrays, *captured))

        return _Program(packed, stopped)


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
        if not jax.config.jax_enable_x64 and any(dtype.itemsize == 8 for _, dtype in results):
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


def _described(array: Any) -> str:
    return f"{_dtype(array).name}{list(array.shape)}"


def jax_module() -> Any:
    """Raises MissingPackageError without JAX."""
    try:
        import jax
        import jax.custom_batching
        import jax.export
    except ImportError:
        raise errors.MissingPackageError("JAX is not installed.", help='pip install "autobatch[jax]".') from None
    return jax
