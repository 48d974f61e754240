"""What machines are expected to cost on accelerators, and the dispatch that is chosen for one."""

import jax
import numpy as np
import pytest
import tensorflow as tf

import autobatch as ab
from autobatch.errors import SettingError
from autobatch.machine import devices
from benchmarks import hlo
from examples.fibonacci import fibonacci

N = np.int32([3, 9, 12, 5])


@ab.autobatch
def powers(matrix, n):
    while n > 0:
        matrix = matrix @ matrix
        n = n - 1
    return matrix


def matrices(lanes):
    return tf.zeros([lanes, 64, 64]), tf.zeros([lanes], tf.int32)


def test_the_cost_as_text():
    blocks = len(fibonacci.lower(N).stack_program.blocks)
    lines = str(fibonacci.lower(N).cost("h100")).splitlines()
    assert lines[0] == "a pass over all blocks, 4 lanes, h100: expected"
    assert [line.split()[0] for line in lines[1:]] == ["rounds", "guarded"]
    assert f"{2 * blocks + 1:.2f} questions" in lines[2]
    assert lines[1].endswith("<- auto")


def test_questions_are_worth_it_where_blocks_do_much():
    assert powers.lower(*matrices(2)).cost("h100").dispatch == "rounds"
    assert powers.lower(*matrices(5_000)).cost("h100").dispatch == "guarded"


def test_other_devices_have_no_model():
    with pytest.raises(SettingError, match="no model of 'abacus'; there are 'h100', 'tpu-v5e'"):
        fibonacci.lower(N).cost("abacus")


@pytest.mark.parametrize(("lanes", "dispatch"), [(2, "rounds"), (5_000, "guarded")])
def test_auto_goes_by_the_device(monkeypatch, lanes, dispatch):
    def loops(**options):
        return powers.options(**options).lower(*matrices(lanes)).as_text("stablehlo").count("stablehlo.while")

    assert loops(dispatch="rounds") < loops(dispatch="guarded") == loops()
    monkeypatch.setattr(devices, "here", lambda: "h100")
    assert loops() == loops(dispatch=dispatch)


@pytest.mark.parametrize(("backend", "dispatch"), [("cpu", "auto"), ("gpu", "rounds"), ("tpu", "rounds")])
def test_auto_goes_by_the_device_of_jax(monkeypatch, backend, dispatch):
    monkeypatch.setattr(jax, "default_backend", lambda: backend)
    for options in ({}, {"max_steps": 1000}):
        assert fibonacci.options(**options).lower(N).to_jax()._entry._options.dispatch == dispatch
    assert fibonacci.options(dispatch="sweep").lower(N).to_jax()._entry._options.dispatch == "sweep"


PROGRAM = """
HloModule machine

%inner (a: (s32[], f32[8])) -> (s32[], f32[8]) {
  %a = (s32[], f32[8]) parameter(0)
  %x = f32[8]{0} get-tuple-element(%a), index=1
  %f = f32[8]{0} fusion(%x), kind=kLoop, calls=%fused
  ROOT %t = (s32[], f32[8]) tuple(%i, %f)
}

%asks (a: (s32[], f32[8])) -> pred[] {
  %n = s32[] constant(5)
  ROOT %c = pred[] compare(%i, %n), direction=LT
}

%body (a: (s32[], f32[8])) -> (s32[], f32[8]) {
  %copied = (f32[8]{0}, s64[2,3]{1,0}) copy(%x)
  %known = (s32[], f32[8]) while(%a), condition=%asks, body=%inner, backend_config={"known_trip_count":{"n":"5"}}
  %unknown = (s32[], f32[8]) while(%known), condition=%asks, body=%inner
  ROOT %chosen = (s32[], f32[8]) conditional(%p, %unknown, %unknown), branch_computations={%inner, %inner}
}

ENTRY %main (x: f32[8]) -> f32[8] {
  %loop = (s32[], f32[8]) while(%start), condition=%asks, body=%body
  ROOT %r = f32[8]{0} get-tuple-element(%loop), index=1
}
"""


def test_a_pass_is_read_from_a_compiled_program():
    # The loop's own condition; a copy; five turns; one turn and two questions; two branches.
    assert hlo.read(PROGRAM).a_pass(counted=False) == hlo.Work(1 + 1 + 5 + (1 + 2) + 2, 1, 8 * 4 + 6 * 8, 1 + 2 + 2)
    assert hlo.read(PROGRAM).a_pass(counted=True) == hlo.Work(1 + 1 + 5 + 5 + 2, 1, 80, 1 + 2)
