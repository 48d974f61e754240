"""The stages of a call, one by one: ``lower``, to look at the program (``as_text``, ``to_svg``), and ``compile``.

``calls/specialisation.py`` takes them.
"""

from __future__ import annotations

import dataclasses
import html
import os
from collections.abc import Sequence
from typing import Any, Literal

import tensorflow as tf

from autobatch import errors, ir, passes
from autobatch.backends.program_counter import ProgramCounter
from autobatch.calls import exporting, mapping
from autobatch.calls.jax_function import JaxFunction
from autobatch.calls.specialisation import Specialisation
from autobatch.frontend.source import signature
from autobatch.ir import drawing
from autobatch.ir.types import describe
from autobatch.machine.counts import Measured
from autobatch.machine.devices import Cost, cost
from autobatch.machine.recorder import Recording
from autobatch.tracebacks import shortened

Stage = Literal["source", "ir", "types", "stack", "adjoint", "stablehlo"]


class Lowered:
    """A program for arguments of known types and batch size: to look at, or to compile."""

    def __init__(self, entry: Any, args: Sequence[Any], kwargs: dict[str, Any]):
        self._entry, self._args, self._kwargs, self._options = entry, args, kwargs, entry._options
        self._taken = entry._take_apart(args, kwargs)
        self._program: Specialisation = entry._program(self._taken)

    def __repr__(self) -> str:
        return f"<{self._entry.__qualname__}, lowered for a batch of {self._taken.size}>\n{self.as_text()}"

    def _repr_html_(self) -> str:
        """What a notebook shows: the control-flow graphs, or, without Graphviz, the program."""
        about, _, text = repr(self).partition("\n")
        try:
            shown = self.to_svg()
            shown = shown[shown.index("<svg") :]
        except errors.MissingPackageError:
            shown = f"<pre>{html.escape(text)}</pre>"
        return f"<p>{html.escape(about[1:-1])}</p>{shown}"

    @property
    def size(self) -> int:
        """Of the batch."""
        return self._taken.size

    @property
    def program(self) -> ir.Program:
        """The program in the local language."""
        return self._program.typed.program

    @property
    def stack_program(self) -> ir.StackProgram:
        """The program in the stack language."""
        return self._program.stack(self._options.optimizations).program

    def as_text(self, stage: Stage | str = "ir") -> str:
        """The program as text.

        Args:
          stage: "source" (the desugared Python), "ir" (the local language), "types" (of its variables), "stack" (the
            stack language), "adjoint" (what it records under a tape, and how it runs backwards), or "stablehlo" (what
            XLA gets, for this batch size); or the name of a pass of the compiler
            (see ``autobatch/passes/__init__.py``), for the program after it.
        """
        match stage:
            case "source":
                return self._program.frontend.source_text()
            case "ir":
                return str(self.program)
            case "types":
                return self._program.typed.types_text()
            case "stack":
                return str(self.stack_program)
            case "adjoint":
                return str(self._program.adjoint(self._options))
            case "stablehlo":
                arguments = self._program.arguments(self._taken)
                return self._machine().compiler_ir(arguments, self._taken.shared, "stablehlo")
            case name if name in (each.name for each in passes.PASSES):
                return str(self._program.after(name, self._options.optimizations))
        raise ValueError(
            f"stage must be 'source', 'ir', 'types', 'stack', 'adjoint' or 'stablehlo', or the name of a pass, "
            f"not {stage!r}"
        )

    def to_hlo(self) -> tuple[bytes, list[tf.Tensor]]:
        """What XLA gets, as a serialized HloModuleProto, and its arguments in order: to run it without TensorFlow.

        The stacks have ``max_depth`` frames, or 16 if that is not given.  The results are the machine's: the leaves of
        what the function returns, and what the host would look at.
        """
        return self._machine().to_hlo(self._program.arguments(self._taken), self._taken.shared)

    @shortened
    def cost(self, device: Literal["h100", "tpu-v5e"]) -> Cost:
        """What a pass over all blocks is expected to cost on an accelerator, which need not be there.

            print(fibonacci.lower(n).cost("h100"))

        The stacks have ``max_depth`` frames, or 16 if that is not given.  Raises SettingError for another device.
        """
        return cost(self._machine().whole(), device)

    @shortened
    def to_jax(self) -> JaxFunction:
        """The function for JAX's arrays of the same shapes, with JAX as what compiles and runs it, where they are.

            collatz = steps.lower(np.arange(1, 1001, dtype=np.int32)).to_jax()
            print(collatz(jnp.arange(1, 1001)))

        It takes what was an array when it was lowered, and may be called inside of ``jax.jit``, where a recursive
        function needs ``max_depth``.  Nothing is traced by JAX.  With ``dispatch="auto"`` what JAX's default device is
        decides how blocks are chosen.

        Raises MissingPackageError without JAX.
        """
        return JaxFunction(self._entry, self._program, self._args, self._kwargs, self._names)

    @shortened
    def count(self, lanes: int | None = None) -> Measured:
        """Runs the batch, and says what each block has done; see ``ab.profile``."""
        if lanes is not None:
            mapping.check(self._options, lanes)
            lanes = min(lanes, self._taken.size)
        return self._program.count(self._taken, self._options, lanes)

    @shortened
    def record(self, lanes: int, steps: int) -> Recording:
        """The first ``steps`` of the first members' run, on as many ``lanes``; see ``Profile.to_html``."""
        few = min(lanes, self._taken.size)
        stored = [[leaf[:few] for leaf in leaves] for leaves in self._taken.stored]
        return self._program.record(dataclasses.replace(self._taken, stored=stored, size=few), self._options, steps)

    def _machine(self) -> ProgramCounter:
        options = dataclasses.replace(self._options, backend="program_counter", jit_compile=True)
        machine = self._program.executable(self._taken.size, options)
        assert isinstance(machine, ProgramCounter)
        return machine

    def to_dot(self, stage: Literal["ir", "stack"] = "ir") -> str:
        """The control-flow graphs in Graphviz' language, with the source of what each block does."""
        return drawing.to_dot(self._graph_of(stage))

    def to_svg(self, stage: Literal["ir", "stack"] = "ir") -> str:
        """The control-flow graphs, drawn.

        Raises MissingPackageError without the extra ``pictures``.
        """
        return drawing.to_svg(self._graph_of(stage))

    def _graph_of(self, stage: str) -> ir.Program | ir.StackProgram:
        if stage not in ("ir", "stack"):
            raise ValueError(f"stage must be 'ir' or 'stack', not {stage!r}")
        return self.program if stage == "ir" else self.stack_program

    @shortened
    def export(self, kind: Literal["saved_model", "stablehlo"], path: str | os.PathLike) -> None:
        """Writes the program into the folder ``path``, to be run without this library, for batches of this size.

        Arguments that are no tensors are part of the program.  As inside a ``tf.function``, a recursive function needs
        ``max_depth``, and what members that fail return is NaN, or the lowest integer.

        Args:
          kind: "saved_model", for ``tf.saved_model.load(path).call(...)`` and TensorFlow Serving; or "stablehlo":
            ``program.mlir``, whose results are those of the function, flat, and ``arguments.npz`` with the arguments
            that it was lowered for, in order, and behind them tensors that the code closes over.
          path: the folder.
        """
        call = exporting.Call(self._entry.options(backend="program_counter"), self._args, self._kwargs, self._names)
        match kind:
            case "saved_model":
                exporting.saved_model(call, path)
            case "stablehlo":
                exporting.stablehlo(call, path)
            case _:
                raise ValueError(f"kind must be 'saved_model' or 'stablehlo', not {kind!r}")

    @property
    def _names(self) -> list[str]:
        """Of the parameters."""
        return list(signature(self._entry._fn).parameters)[len(self._entry._receiver) :]

    @shortened
    def compile(self) -> Compiled:
        """The executable for just these argument types and this batch size; it is run once, so XLA has compiled it."""
        return Compiled(self)


class Compiled:
    """An executable for fixed argument types and batch size."""

    def __init__(self, lowered: Lowered):
        self._lowered = lowered
        lowered._entry._run(lowered._program, lowered._taken)

    @shortened
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Raises BatchShapeError for arguments of other types or another batch size than it was compiled for."""
        lowered = self._lowered
        taken = lowered._entry._take_apart(args, kwargs)
        if lowered._entry._program(taken) is not lowered._program or taken.size != lowered._taken.size:
            raise errors.BatchShapeError(
                f"This was compiled for a batch of {lowered._taken.size} with arguments "
                f"{', '.join(map(describe, lowered._taken.types))}.",
                help="call the autobatched function itself, which compiles for whatever it is given.",
            )
        return lowered._entry._run(lowered._program, taken)
