"""Whether the samplers leave their distributions alone; ``python -m benchmarks correctness`` asks more, and longer."""

import pytest

from benchmarks import correctness


@pytest.mark.filterwarnings("ignore::autobatch.mcmc.SamplingWarning")
@pytest.mark.parametrize(
    ("check", "variant"),
    [
        (correctness.simulation_based_calibration, "multinomial"),
        (correctness.geweke, "multinomial"),
        (correctness.geweke, "slice"),
    ],
)
def test_calibration(check, variant):
    for found in check(variant=variant):
        assert found.holds, found


def test_the_checks_can_fail(monkeypatch):
    """A log density that is wrong is found out."""
    right = correctness.small_model
    monkeypatch.setattr(correctness, "small_model", lambda y: lambda q: 0.7 * right(y)(q))
    assert not all(found.holds for found in correctness.geweke())
