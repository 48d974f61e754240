"""The passes, from the frontend's program to the one that a machine runs, in the order in which they run.

A pass is a function from program to program, in a file of its own, and a line here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from autobatch import errors
from autobatch.ir import adjoint_verifier as adjoint_verifier
from autobatch.ir.adjoint import AdjointProgram
from autobatch.ir.leaves import Leaf
from autobatch.ir.stored import StoredProgram
from autobatch.ir.verifier import verify
from autobatch.passes.adjoint import adjoint
from autobatch.passes.aliasing import share_changes
from autobatch.passes.block_order import costly_last, epilogue_last
from autobatch.passes.changed_arguments import hand_back
from autobatch.passes.costs import estimate
from autobatch.passes.exceptions import lower_exceptions
from autobatch.passes.if_conversion import convert_ifs
from autobatch.passes.inference import infer
from autobatch.passes.item_writes import write_in_place
from autobatch.passes.jump_threading import thread_jumps
from autobatch.passes.leaf_flow import trace_leaves
from autobatch.passes.none_tests import decide_none_tests
from autobatch.passes.pop_push import cancel_pops
from autobatch.passes.same_names import share_by_name
from autobatch.passes.simplify import simplify
from autobatch.passes.stack_lowering import lower_to_stack
from autobatch.passes.storage import allocate
from autobatch.passes.tail_duplication import duplicate_tails
from autobatch.passes.visit_order import in_visit_order
from autobatch.passes.webs import split_webs


@dataclass(frozen=True)
class Pass:
    """A step of the pipeline.

    Attributes:
      name: what it is called.
      function: from program to program.
      optional: whether it is an optimization, which may be left out.
      parts: optimizations within it: keyword arguments of the function, which turn them off.
      stages: the printed stages that it ends (see ``Lowered.as_text``).
    """

    name: str
    function: Callable[..., Any]
    optional: bool = False
    parts: tuple[str, ...] = ()
    stages: tuple[str, ...] = ()

    @property
    def optimizations(self) -> tuple[str, ...]:
        """The names that turn it, or parts of it, off where ``optimizations=`` lacks them."""
        return (self.name, *self.parts) if self.optional else self.parts


PASSES = (
    Pass("exceptions", lower_exceptions),
    Pass("none_tests", decide_none_tests),
    Pass("changed_arguments", hand_back),
    Pass("same_names", share_by_name),
    Pass("webs", split_webs),
    Pass("simplify", simplify),
    Pass("inference", infer),
    Pass("aliasing", share_changes),
    Pass("item_writes", write_in_place, stages=("ir", "types")),
    Pass("if_conversion", convert_ifs, optional=True),
    Pass("stack_lowering", lower_to_stack, parts=("live_saves", "registers")),
    Pass("pop_push", cancel_pops, optional=True),
    Pass("leaf_flow", trace_leaves),
    Pass("tail_duplication", duplicate_tails, optional=True),
    Pass("storage", allocate, parts=("live_saves", "temporaries", "coalescing")),
    Pass("jump_threading", thread_jumps, optional=True),
    Pass("costs", estimate),
    Pass("epilogue_last", epilogue_last),
    Pass("costly_last", costly_last, optional=True),
    Pass("visit_order", in_visit_order, optional=True, stages=("stack",)),
)

# What is done to make programs faster, each for its own sake: to leave one out shows what it is worth.
OPTIMIZATIONS = frozenset(name for each in PASSES for name in each.optimizations)


def run(passes: Iterable[Pass], program: Any, optimizations: Collection[str] = OPTIMIZATIONS) -> Any:
    """The program after these passes, without the optimizations that are not named.

    Raises InvalidProgramError, with AUTOBATCH_VERIFY=1 in the environment, behind a pass that makes an invalid program.
    """
    verifies = os.environ.get("AUTOBATCH_VERIFY") == "1"
    for each in passes:
        if not each.optional or each.name in optimizations:
            program = each.function(program, **{part: part in optimizations for part in each.parts})
            if verifies:
                _verify_after(each, program)
    return program


def _verify_after(done: Pass, program: Any) -> None:
    try:
        verify(program)
    except errors.InvalidProgramError as error:
        raise errors.InvalidProgramError(
            f"The pass {done.name} made an invalid program. {error.message}",
            error.places,
            "this is a bug of autobatch; f.options(optimizations=...) may leave the pass out.",
        ) from error


def differentiated(
    stored: StoredProgram, inputs: Collection[Leaf], shared: Collection[int], captured: Mapping[int, Any]
) -> AdjointProgram:
    """How the program is run backwards; see ``passes/adjoint.py``."""
    return run([Pass("adjoint", partial(adjoint, inputs=inputs, shared=shared, captured=captured))], stored)


def until(name: str) -> tuple[Pass, ...]:
    """The passes up to the one of this name, or to the one that ends the printed stage of this name."""
    (last,) = (k for k, each in enumerate(PASSES) if name in (each.name, *each.stages))
    return PASSES[: last + 1]


def after(name: str) -> tuple[Pass, ...]:
    """The passes behind those."""
    return PASSES[len(until(name)) :]
