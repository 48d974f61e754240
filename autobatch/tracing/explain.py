"""Exceptions that come out of user code while it is traced: which to pass on, which to turn into ours."""

from __future__ import annotations

import itertools
import linecache
import re
import sys
import types
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

from autobatch import context, errors, ir
from autobatch.language.one_of import is_known

_RUNS = ("autobatch.passes.", "autobatch.tracing.")  # what runs the program's own code, and batched primitives
_LIBRARIES = {"tensorflow", "keras", "tf_keras", "tensorflow_probability", "autobatch", "numpy"}


class NoneOperandError(TypeError):
    """Of an operator on None: of values, as other members have others there.

    ``refusal``: what is said where all have None.
    """

    def __init__(self, text: str, refusal: errors.AutobatchError):
        super().__init__(text)
        self.refusal = refusal


def is_of_none(error: Exception) -> bool:
    """Whether it is because something is None, as it may not be for other members, or for none of them."""
    of_attribute = isinstance(error, AttributeError) and "'NoneType' object has no attribute" in str(error)
    return of_attribute or isinstance(error, NoneOperandError)


def raise_at(location: ir.Location, error: Exception, inputs: Iterable[Any] = ()) -> NoReturn:
    """Raises what the user shall see of an error that the code at ``location`` raised, which got these inputs.

    An error of the user's own keeps its type and gains a note with the line; one from inside TensorFlow becomes ours.
    """
    location = _refined(error, location)
    shown = _explained(error, location)
    if isinstance(shown, errors.AutobatchError):
        told = getattr(error, "helpers", frozenset())
        shown.helpers = told.union(at.tb_frame.f_code for at in _helpers(error))
    codes = {*getattr(error, "helpers", ()), *(at.tb_frame.f_code for at in _helpers(error))}
    given = tuple(value for value in inputs if is_known(value) and getattr(value, "__code__", None) in codes)
    options = getattr(error, "options", given)  # functions that no name in the source stands for
    shown.chosen = {(location.file, location.line): options} if options else {}  # type: ignore[attr-defined]
    if shown is not error:
        raise shown from error
    if isinstance(error, errors.AutobatchError):
        raise error
    error.helpers = frozenset(at.tb_frame.f_code for at in _helpers(error))  # type: ignore[attr-defined]
    note = f"in autobatched code:\n{errors.show(location)}"
    error.__notes__ = [*getattr(error, "__notes__", ()), note]  # type: ignore[attr-defined]
    raise error


def _explained(error: Exception, location: ir.Location) -> Exception:
    helper = _helper(error)
    places = [(location, "")] if helper is None else [(_place(helper), ""), (location, "called here")]
    if isinstance(error, errors.AutobatchError):
        return error if error.places else type(error)(error.message, places, error.help, kind=error.kind)
    text = _first_line(error)
    if type(error).__name__ == "OperatorNotAllowedInGraphError" or "as a Python `bool`" in str(error):
        return _not_converted(helper, places)
    file, module = _origin(error)
    if isinstance(error, NameError) and file == location.file:
        return errors.UndefinedVariableError(
            f"{text.capitalize()}.", places, "define or import it.", kind="undefined-name"
        )
    if isinstance(error, TypeError) and "unhashable" in text and ("Tensor" in text or "WeakScalar" in text):
        return errors.TypeMismatchError(
            "What differs between members is a dict's key, or an item of a set that Python keeps.",
            places,
            "use if and elif, or a list that is indexed by it; of a set, add, discard, in, len, sorted and max work.",
            kind="unhashable-member",
        )
    if isinstance(error, TypeError) and "'NoneType'" in text and "support" in text:  # operators, by Python's own rules
        text = re.sub("'(Symbolic)?Tensor'|'WeakScalar'", "'number'", text)
        return NoneOperandError(
            text, errors.TypeMismatchError(f"Python refuses this line: {text}.", places, kind="python-refuses")
        )
    standard = module.split(".")[0] in sys.stdlib_module_names - {"__main__"}
    if isinstance(error, TypeError) and (file == location.file or standard):
        shown = text.replace("SymbolicTensor", "Tensor")
        return errors.TypeMismatchError(
            f"Python refuses this line: {shown}.", places, _help(text), kind="python-refuses"
        )
    attribute = re.search(r"'(SymbolicTensor|WeakScalar)' object has no attribute '(\w+)'", text)
    if attribute:
        what = {"SymbolicTensor": "tensor", "WeakScalar": "number that differs between members"}[attribute.group(1)]
        return errors.TypeMismatchError(
            f"A {what} has no `{attribute.group(2)}` while the program is lowered.",
            places,
            "its value is not known then; f.unbatched runs one member in plain Python.",
            kind="symbolic-attribute",
        )
    if isinstance(error, ValueError) and "array element with a sequence" in text:  # a[i] = x within a helper
        what = "A per-member value is put into an array of NumPy's by code that runs while the program is lowered."
        return errors.TypeMismatchError(what, places, _help("ymbolic"), kind="numpy-of-member")
    if isinstance(error, AttributeError | NotImplementedError | TypeError) and "ymbolic" in str(error):
        what = "Python and NumPy cannot compute with a per-member value"
        return errors.TypeMismatchError(
            f"{what}." if "numpy array" in text else f"{what}: {text}.", places, _help(text), kind="numpy-of-member"
        )
    if module.startswith("autobatch.language.") and isinstance(error, ArithmeticError | LookupError | ValueError):
        return error  # what Python's own function or method, which is called there, says of known values
    if module.split(".")[0] == "autobatch":
        return errors.TypeMismatchError(f"This line does not work: {text}.", places, kind="python-refuses")
    number = re.search(r"Expected (\w+) passed to .*, got (\S+) of type '(\w+)'", text)
    if number:
        dtype, value, kind = number.groups()
        return errors.TypeMismatchError(
            f"The {kind} {value} meets a tensor of {dtype}.",
            places,
            f"tf.cast the tensor to tf.{kind}32 first.",
            kind="mixed-dtypes",
        )
    mixed = re.search(r"of '(\w+)' Op has type (\w+) that does not match type (\w+)", text)
    if mixed:
        operation, second, first = mixed.groups()
        return errors.TypeMismatchError(
            f"TensorFlow does not mix dtypes; here {first} and {second} meet in {operation}.",
            places,
            "use tf.cast.",
            kind="mixed-dtypes",
        )
    if module.split(".")[0] in _LIBRARIES:
        return errors.TypeMismatchError(
            f"TensorFlow refuses this line: {text}.", places, _help(str(error)), kind="tensorflow-refuses"
        )
    return error


def _not_converted(helper: types.TracebackType | None, places: list) -> Exception:
    """Code that runs while tracing, and branches on a symbolic tensor."""
    if helper is None:
        return errors.UnsupportedSyntaxError(
            "This asks Python for the truth or the items of a per-member value.",
            places,
            "use `if`, `and`, `or`, `for` or `in` as statements or operators of the autobatched function, or a "
            "TensorFlow function (tf.where, tf.sort).",
            kind="truth-of-member",
        )
    code = helper.tb_frame.f_code
    if code.co_name == "<lambda>":
        what, instead = "A lambda", "make it a `def`, and call it by its name."
    elif context.is_users(code):
        what, instead = (
            f"`{code.co_name}`",
            "call it by its name, in a loop or a comprehension, not by map or the like, nor through a decorator.",
        )
    else:
        what, instead = f"`{code.co_name}` of {_module(helper)}", "write what it does as a loop."
    return errors.UnsupportedSyntaxError(
        f"{what} branches or loops on a per-member value, but is not autobatched.",
        places,
        instead,
        kind="not-autobatched",
    )


def _help(text: str) -> str:
    if "list indices" in text or "interpreted as an integer" in text:
        return "this needs one Python number for all members; a loop over ab.unroll(range(4)) has that."
    if ">>" in text or "<<" in text:
        return "use tf.bitwise.right_shift and tf.bitwise.left_shift."
    if "divmod" in text:
        return "write a // b, a % b."
    if "complex()" in text:
        return "complex numbers that differ between members are TensorFlow's: tf.complex(x, y), tf.sqrt, tf.exp, abs."
    if "ymbolic" in text:
        return "this function of Python's or NumPy's is not one that members can call; use TensorFlow's."
    if "expected to be a" in text:
        return "TensorFlow does not mix dtypes: use tf.cast."
    if "slice scalar" in text:
        return "for one member this is a scalar: the batch axis is not there."
    return ""


def _frames(error: Exception) -> Iterator[types.TracebackType]:
    """What the error went through, outermost first."""
    traceback = error.__traceback__
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


def _helper(error: Exception) -> types.TracebackType | None:
    """The innermost user function below the autobatched one that the error came from."""
    return next(reversed(_helpers(error)), None)


def _helpers(error: Exception) -> list[types.TracebackType]:
    """The user functions below the autobatched one that the error came through, outermost first."""
    found: list[types.TracebackType] = []
    inside = False
    for at in _frames(error):
        if at.tb_frame.f_code.co_name.startswith(context.GENERATED) or _module(at).startswith(_RUNS):
            inside, found = True, []
        elif inside and _module(at).split(".")[0] not in _LIBRARIES and not _is_inline(at.tb_frame.f_code):
            found.append(at)
    return found


def _refined(error: Exception, location: ir.Location) -> ir.Location:
    """The part of the statement that the error came from, where Python tells it (3.11)."""
    inside = [at for at in _frames(error) if at.tb_frame.f_code.co_name.startswith(context.GENERATED)]
    place = _place(inside[-1]) if inside else location
    return place if (place.file, place.line) == (location.file, location.line) else location


def _is_inline(code: types.CodeType) -> bool:
    """Whether this is a comprehension, which stands in the autobatched function itself."""
    return code.co_name in ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>") or code.co_filename.startswith("<str")


def _place(at: types.TracebackType) -> ir.Location:
    code, line = at.tb_frame.f_code, at.tb_lineno
    if hasattr(code, "co_positions"):
        positions = next(itertools.islice(code.co_positions(), at.tb_lasti // 2, None), (None,) * 4)
        first, last, column, end = positions
        if first == line and column is not None:
            return ir.location(code.co_filename, line, column, end if first == last else None)
    text = linecache.getline(code.co_filename, line)
    return ir.location(code.co_filename, line, len(text) - len(text.lstrip()))


def _module(at: types.TracebackType) -> str:
    return at.tb_frame.f_globals.get("__name__", "")


def _origin(error: Exception) -> tuple[str, str]:
    """The file and the module of the code that raised the error."""
    frames = list(_frames(error))
    return (frames[-1].tb_frame.f_code.co_filename, _module(frames[-1])) if frames else ("", "")


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    # Without TensorFlow's names of graph nodes, which mean nothing to the user.
    return re.sub(r" for '\{\{node.*?\}\}.*", "", lines[0]).rstrip(".") if lines else type(error).__name__


def operation_failure(message: str) -> str:
    """What an operation says that failed while it ran, without the stack of where it was traced."""
    files = re.findall(r'^  File "(.+)", line (\d+)', message, re.MULTILINE)
    said = [
        line for line in message.splitlines() if line and not re.match(r"Graph execution error|Detected at|\s", line)
    ]
    place = f" ({files[-1][0]}:{files[-1][1]})" if files else ""
    return (said[0] if said else message) + place
