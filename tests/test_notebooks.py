"""What a notebook shows of programs and runs."""

import sys

import numpy as np

from autobatch.ir import drawing
from examples.fibonacci import fibonacci

N = np.int32([3, 9, 12])


def test_a_program_is_drawn_or_written(monkeypatch):
    lowered = fibonacci.lower(N)
    monkeypatch.setitem(sys.modules, "pygraphviz", None)  # as if it were not installed
    shown = lowered._repr_html_()
    assert shown.startswith("<p>fibonacci, lowered for a batch of 3</p><pre>function fibonacci")
    assert "cond = n &lt;= 1" in shown
    monkeypatch.setattr(drawing, "to_svg", lambda _: '<?xml version="1.0"?>\n<svg width="1pt"></svg>')
    assert lowered._repr_html_() == '<p>fibonacci, lowered for a batch of 3</p><svg width="1pt"></svg>'


def test_a_run_shows_how_far_it_is():
    run = fibonacci.start(N).advance(3)
    shown = run._repr_html_()
    assert shown.startswith("<p>Run of fibonacci: ") and "of 3 members finished" in shown
    assert f'<progress value="{run.progress.finished}" max="3">' in shown
