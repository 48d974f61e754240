"""Exceptions that come out of user code while it is traced: which to pass on, which to turn into ours."""

from __future__ import annotations

from typing import NoReturn

from autobatch import errors, ir

_LIBRARIES = {"tensorflow", "keras", "tf_keras", "tensorflow_probability", "autobatch"}


def raise_at(location: ir.Location, error: Exception) -> NoReturn:
    """Raises what the user shall see of an error that the code at ``location`` raised.

    An error of the user's own keeps its type and gains a note with the line; one from inside TensorFlow becomes ours.
    """
    shown = _explained(error, location)
    if shown is not error:
        raise shown from error
    if isinstance(error, errors.AutobatchError):
        raise error
    note = f"in autobatched code:\n{errors.show(location)}"
    error.__notes__ = [*getattr(error, "__notes__", ()), note]  # type: ignore[attr-defined]
    raise error


def _explained(error: Exception, location: ir.Location) -> Exception:
    place = [(location, "")]
    if isinstance(error, errors.AutobatchError):
        return error if error.places else type(error)(error.message, place, error.help)
    text = _first_line(error)
    if type(error).__name__ == "OperatorNotAllowedInGraphError" or "as a Python `bool`" in str(error):
        return errors.UnsupportedSyntaxError(
            "This runs as straight-line code, but asks for the truth or the items of a per-member value.",
            place,
            "if a helper function branches or loops on it, decorate the helper with @ab.autobatch.",
        )
    file, module = _origin(error)
    if isinstance(error, NameError) and file == location.file:
        return errors.UndefinedVariableError(f"{text.capitalize()}.", place, "define or import it.")
    if isinstance(error, TypeError) and file == location.file:
        return errors.TypeMismatchError(f"Python refuses this line: {text}.", place, _help(text))
    if isinstance(error, AttributeError | NotImplementedError) and "ymbolic" in str(error):
        return errors.TypeMismatchError(f"A per-member value cannot do this: {text}", place, _help(text))
    if module.split(".")[0] == "autobatch":
        return errors.TypeMismatchError(f"This line does not work: {text}.", place)
    if module.split(".")[0] in _LIBRARIES:
        return errors.TypeMismatchError(f"TensorFlow refuses this line: {text}", place, _help(str(error)))
    return error


def _help(text: str) -> str:
    if "ymbolic" in text:
        return "Python's and NumPy's functions need numbers; use TensorFlow's (tf.sin for math.sin or np.sin)."
    if "does not match type" in text or "expected to be a" in text:
        return "TensorFlow does not mix dtypes: use tf.cast."
    if "slice scalar" in text:
        return "for one member this is a scalar: the batch axis is not there."
    return ""


def _origin(error: Exception) -> tuple[str, str]:
    """The file and the module of the code that raised the error."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    if traceback is None:
        return "", ""
    frame = traceback.tb_frame
    return frame.f_code.co_filename, frame.f_globals.get("__name__", "")


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
