"""Versions of a variable, on text."""

from autobatch.ir.parser import parse
from autobatch.passes.versions import with_versions

BEFORE = """\
function f(c, n) -> result
block 0:
  w = 'a'
  branch c 1 2
block 1:
  w = w + 'b'
  jump 2
block 2:
  w = w + n
  branch w 2 3
block 3:
  result = w
  return
"""
AFTER = """\
function f(c, n) -> result
block 0:
  w.v2 = 'a'
  w.v1 = w.v2
  branch c 1 2
block 1:
  w.v3 = w.v2 + 'b'
  w.v1 = w.v3
  jump 2
block 2:
  w.v4 = w.v1 + n
  w.v1 = w.v4
  branch w.v4 2 3
block 3:
  result = w.v4
  return
"""


def test_each_assignment_has_its_own():
    changed = with_versions(parse(BEFORE), "f", ["w", "n"])
    assert str(changed).strip() == AFTER.strip()


def test_what_is_a_version_is_left():
    program = with_versions(parse(BEFORE), "f", ["w"])
    assert with_versions(program, "f", ["w.v1"]) is program
    assert with_versions(program, "f", ["n"]) is program
