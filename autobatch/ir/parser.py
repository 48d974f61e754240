"""From text to programs: reads what ``str`` of a program prints, so that passes can be tested text to text.

    parse("program(n) -> result ...")     a Program or a StackProgram
    parse_typed("... types: ...")         a TypedProgram or a TypedStackProgram

What a helper captures and the code of primitives are not in the text: their ``call`` is ``ir.no_code``, and their kind
is "member", or "write" where that shows.  ``str(parse(str(program))) == str(program)`` for every program.
"""

from __future__ import annotations

import ast
import builtins
import collections
import enum
import re
import symtable
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import tensorflow as tf

from autobatch import errors, ir
from autobatch.ir.typed import TypedProgram, TypedStackProgram
from autobatch.ir.types import Shared, Static, Tensor, Type, Weak, leaves, list_of
from autobatch.language.one_of import OneOf

_NAME = r"[^\W\d][\w']*(?:[.:][\w']+)*"
_NAMES = rf"{_NAME}(?:, {_NAME})*"
_SIGNATURE = rf"\(((?:{_NAMES})?)\) -> ((?:{_NAMES})?)"


def parse(text: str) -> ir.Program | ir.StackProgram:
    """Reads a program of either language.

    Raises InvalidProgramError, with the line, for anything else.
    """
    lines = _Lines(text)
    program = _stack_program(lines) if lines.next_is("program") else _program(lines)
    lines.end()
    return program


def parse_typed(text: str) -> TypedProgram | TypedStackProgram:
    """Reads a program with the types of its variables.

    A class becomes a named tuple of its fields; types of other objects are not read.  Raises InvalidProgramError.
    """
    lines = _Lines(text)
    typed = _typed_stack_program(lines) if lines.next_is("program") else _typed_program(lines)
    lines.end()
    return typed


class _Lines:
    """The lines that are not blank, one after the other."""

    def __init__(self, text: str):
        self.rest = [(k + 1, line) for k, line in enumerate(text.splitlines()) if line.strip()]
        self.place: ir.Location | None = None

    def next_is(self, start: str) -> bool:
        return bool(self.rest) and self.rest[0][1].lstrip().startswith(start)

    def indented(self) -> bool:
        return bool(self.rest) and self.rest[0][1].startswith(" ")

    def take(self, pattern: str, what: str) -> re.Match:
        """The next line, which must look like this."""
        if not self.rest:
            raise errors.InvalidProgramError(f"The text ends where {what} should come.", [(self.place, "")])
        number, line = self.rest.pop(0)
        self.place = ir.Location("<program>", number, len(line) - len(line.lstrip()), line, len(line.strip()))
        found = re.fullmatch(pattern, line.strip())
        if found is None:
            raise errors.InvalidProgramError(f"This is not {what}.", [(self.place, "")])
        return found

    def location(self) -> ir.Location:
        assert self.place is not None
        return self.place

    def end(self) -> None:
        if self.rest:
            self.take("(?!)", "part of a program")


def _names(text: str) -> tuple[str, ...]:
    return tuple(name for name in text.split(", ") if name)


# --- the two languages ----------------------------------------------------------------------------


def _program(lines: _Lines) -> ir.Program:
    functions = []
    while lines.next_is("function") or not functions:
        name, inputs, outputs = lines.take(rf"function ({_NAME}){_SIGNATURE}", "a function").groups()
        place = lines.location()
        drafts = _blocks(lines, _local_op)
        signature = ir.Signature(name, _names(inputs), _names(outputs))
        known = _known(drafts, [*signature.inputs, *signature.outputs])
        blocks = tuple(ir.Block(tuple(make(known) for make in ops), end, handlers) for ops, end, _, handlers in drafts)
        functions.append(ir.Function(name, signature.inputs, blocks, signature.outputs, place))
    return ir.Program(tuple(functions))


def _stack_program(lines: _Lines) -> ir.StackProgram:
    inputs, outputs = map(_names, lines.take(rf"program{_SIGNATURE}", "a stack program").groups())
    (stacks,) = lines.take(rf"stacks: pc(?:, ({_NAMES}))?", "the list of stacks").groups()
    (registers,) = lines.take(rf"registers: ({_NAMES})", "the list of registers").groups()
    drafts = _blocks(lines, _stack_op)
    held = () if registers == "none" else _names(registers)
    known = _known(drafts, [*inputs, *outputs, *held])  # what is never set shares the register of what is
    blocks = tuple(ir.Block(tuple(make(known) for make in ops), end) for ops, end, *_ in drafts)
    labels = tuple((i, label) for i, (_, _, label, _) in enumerate(drafts) if label)
    return ir.StackProgram(inputs, blocks, outputs, labels, _names(stacks or ""), held)


_Known = frozenset  # the names of a function's, or of a stack program's, variables


class _Op:
    """An operation of which the outputs are known; the inputs are, once all variables are."""

    def __init__(self, outputs: tuple[str, ...], make: Callable[[_Known], Any]):
        self.outputs, self.make = outputs, make

    def __call__(self, known: _Known) -> Any:
        return self.make(known)


_Draft = tuple[list[_Op], Any, str, tuple[ir.Handler, ...]]  # operations, terminator, label


def _known(drafts: list[_Draft], more: list[str]) -> _Known:
    handlers = [handler.variable for *_, handlers in drafts for handler in handlers]
    return frozenset(more).union(handlers, *(op.outputs for ops, *_ in drafts for op in ops))


def _blocks(lines: _Lines, op_of: Callable[[str, ir.Location], _Op]) -> list[_Draft]:
    drafts: list[_Draft] = []
    while lines.next_is("block"):
        number, label = lines.take(r"block (\d+):(?: \((.*)\))?", "a block").groups()
        if int(number) != len(drafts):
            raise errors.InvalidProgramError(f"This should be block {len(drafts)}.", [(lines.location(), "")])
        ops: list[_Op] = []
        handlers: list[ir.Handler] = []
        while lines.next_is("handler "):
            handlers.append(_handler(lines))
        while True:
            line = lines.take("(.*)", "an operation or a terminator")[1]
            end = _terminator(line, lines.location())
            if end is not None:
                break
            ops.append(op_of(line, lines.location()))
        drafts.append((ops, end, label or "", tuple(handlers)))
    return drafts


def _handler(lines: _Lines) -> ir.Handler:
    """Its classes are Python's own."""
    variable, block, text = lines.take(rf"handler ({_NAME}) (\d+):(.*)", "a handler").groups()
    clauses = [names.strip().split(", ") for names in text.split(" | ") if names.strip()]
    return ir.Handler(variable, int(block), tuple(tuple(getattr(builtins, n) for n in names) for names in clauses))


def _terminator(line: str, place: ir.Location) -> ir.Terminator | None:
    if line == "return":
        return ir.Return()
    if found := re.fullmatch(rf"raise(?: ({_NAME}))?", line):
        return ir.Raise(found[1])
    if found := re.fullmatch(r"push((?:jump|branch) .*) (\d+)", line):
        then = _terminator(found[1], place)
        return ir.PushJump(then, int(found[2]), place) if isinstance(then, ir.Jump | ir.Branch) else None
    if found := re.fullmatch(r"jump (\d+)", line):
        return ir.Jump(int(found[1]))
    if found := re.fullmatch(rf"branch ({_NAME}) (\d+|return) (\d+|return)", line):
        true, false = (ir.RETURN if target == "return" else int(target) for target in found.groups()[1:])
        return ir.Branch(found[1], true, false, place)
    return None


def _local_op(line: str, place: ir.Location) -> _Op:
    if found := re.fullmatch(rf"({_NAMES}) = call ({_NAME})\((.*)\)", line):
        outputs, inputs = _names(found[1]), _names(found[3])
        return _Op(outputs, lambda _: ir.Call(outputs, found[2], inputs, place))
    return _assign(ir.Primitive, line, place)


def _stack_op(line: str, place: ir.Location) -> _Op:
    keyword, _, rest = line.partition(" ")
    match keyword:
        case "pop":
            return _Op((), lambda _: ir.Pop(_names(rest), place))
        case "push":
            return _assign(ir.Push, rest, place)
        case "update":
            return _assign(ir.Update, rest, place)
    raise errors.InvalidProgramError("This is neither an operation nor a terminator.", [(place, "")])


def _assign(kind: type[ir.Assign], line: str, place: ir.Location) -> _Op:
    found = re.fullmatch(rf"({_NAMES}) = (.*)", line)
    outputs, text = (_names(found[1]), found[2]) if found else ((), line)

    def make(known: _Known) -> ir.Assign:
        inputs, template = _taken_apart(text, known, place)
        return kind(outputs, _expression(template, len(inputs)), inputs, place)

    return _Op(outputs, make)


def _expression(template: str, count: int) -> ir.Expression:
    if template == ir.copies(count).template and count:
        return ir.copies(count)
    changes = template.startswith("setitem(«0», ")
    kind = "write" if template == "write(«0», «1», «2»)" else "member"
    return ir.Expression(template, ir.no_code, kind, int(changes), ir.no_code if changes else None)


# --- expressions ----------------------------------------------------------------------------------

_QUOTED = r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*\""""
_TOKEN = re.compile(
    rf"(?P<format>[fF](?:{_QUOTED}))|(?P<text>(?:[bBrRuU]*)(?:{_QUOTED}))|(?<![\w'.!])(?P<name>{_NAME})"
)


def _taken_apart(text: str, known: _Known, place: ir.Location) -> tuple[tuple[str, ...], str]:
    """The variables that an expression reads, in order, and its text with «0», «1», ... in their places."""
    found: dict[str, str] = {}  # a stand-in that Python can parse, for each variable

    def stand_in(match: re.Match) -> str:
        if match["text"]:
            return match[0]
        if match["format"]:
            return re.sub(r"\{[^{}]*\}", lambda part: _TOKEN.sub(stand_in, part[0]), match[0])
        variable = next((name for name in _prefixes(match["name"]) if name in known), None)
        if variable is None:
            return match[0]
        return found.setdefault(variable, f"ab__{len(found)}__") + match["name"].removeprefix(variable)

    python = _TOKEN.sub(stand_in, text)
    try:
        free = _free_names(python)
    except SyntaxError as error:
        raise errors.InvalidProgramError("This is no expression.", [(place, "")]) from error
    inputs: list[str] = []
    for variable, name in found.items():
        if name in free:
            python = python.replace(name, f"«{len(inputs)}»")
            inputs.append(variable)
        else:  # a parameter of a lambda, or what a comprehension goes over
            python = python.replace(name, variable)
    return tuple(inputs), python


def _prefixes(dotted: str) -> Iterator[str]:
    while dotted:
        yield dotted
        dotted = dotted[: max(dotted.rfind("."), dotted.rfind(":"), 0)]


def _free_names(expression: str) -> set[str]:
    tables, names = [symtable.symtable(f"({expression}\n)", "<program>", "eval")], set()
    while tables:
        table = tables.pop()
        names |= {s.get_name() for s in table.get_symbols() if s.is_global() or table.get_type() == "module"}
        tables += table.get_children()
    return names


# --- types ----------------------------------------------------------------------------------------


def _typed_program(lines: _Lines) -> TypedProgram:
    program = _program(lines)
    lines.take("types:", "the types")
    types: dict[tuple[str, str], Type] = {}
    while lines.next_is("function"):
        (function,) = lines.take(rf"function ({_NAME})", "a function").groups()
        types |= {(function, v): t for v, t in _types(lines).items()}
    shared = _shared(types.values())
    arguments = tuple(types.get((program.entry.name, v)) for v in program.entry.inputs)
    return TypedProgram(ir.Program(program.functions, arguments, shared), types, shared, ())


def _typed_stack_program(lines: _Lines) -> TypedStackProgram:
    program = _stack_program(lines)
    owners: dict[int, ir.Signature] = {}
    while lines.next_is("function"):
        line = lines.take(rf"function ({_NAME}){_SIGNATURE}: blocks ([\d ]+)", "a function and its blocks")
        signature = ir.Signature(line[1], _names(line[2]), _names(line[3]))
        owners |= dict.fromkeys(map(int, line[4].split()), signature)
    if sorted(owners) != list(range(len(program.blocks))):
        raise errors.InvalidProgramError("Each block must belong to one function.", [(lines.location(), "")])
    epilogue = int(lines.take(r"epilogue: (\d+)", "the epilogue")[1]) if lines.next_is("epilogue") else None
    lines.take("types:", "the types")
    types = _types(lines)
    of_blocks = tuple(owners[i] for i in range(len(program.blocks)))
    return TypedStackProgram(program, types, _shared(types.values()), (), of_blocks, epilogue)


def _types(lines: _Lines) -> dict[str, Type]:
    types = {}
    while lines.indented():
        name, text = lines.take(rf"({_NAME}): (.*)", "a variable and its type").groups()
        types[name] = _type(text, lines.location())
    return types


def _shared(types: Iterable[Type]) -> tuple[Tensor | Weak, ...]:
    return tuple(leaf.leaf for type_ in types for leaf in leaves(type_) if isinstance(leaf, Shared))


def _option(node: ast.expr) -> Any:
    """A value, a member of an enum of this name, or what stands for a function."""
    match node:
        case ast.Name(name):
            return type(name, (), {})
        case ast.Attribute(value=ast.Name(name), attr=member):
            made: Any = enum.Enum(name, [member])
            return made[member]
        case _:
            return ast.literal_eval(node)


_LEAF = re.compile(r"(shared )?(?:Python (int|float|bool)|([a-z]\w+)\[([\d, ]*)\])")
_FUNCTION = re.compile(r"the function ([^\s,\])}]+)")


def _type(text: str, place: ir.Location) -> Type:
    found: list[Type] = []

    def stand_in(match: re.Match) -> str:
        shared, kind, dtype, shape = match.groups()
        if kind:
            leaf: Any = Weak({"int": int, "float": float, "bool": bool}[kind])
        else:
            leaf = Tensor(tf.as_dtype(dtype), tuple(map(int, shape.split(", "))) if shape else ())
        found.append(Shared(0, leaf) if shared else leaf)  # which of the shared arguments, the text does not say
        return f"Type({len(found) - 1})"

    def function(match: re.Match) -> str:
        found.append(Static(type(match[1], (), {})))
        return f"Type({len(found) - 1})"

    def build(node: ast.expr) -> Type:
        match node:
            case ast.Call(func=ast.Name("Type"), args=[ast.Constant(int(k))]):
                return found[k]
            case ast.Call(func=ast.Name("list_of"), args=[ast.Constant(int(capacity)), item]):
                return list_of([[build(item)]], capacity)
            case ast.Call(func=ast.Name("one_of"), args=options):
                return OneOf(tuple(map(_option, options)), Weak(int, near=True))
            case ast.Tuple(items):
                return tuple(map(build, items))
            case ast.List(items):
                return list(map(build, items))
            case ast.Dict(keys, values):
                return {
                    k.id if isinstance(k, ast.Name) else ast.literal_eval(k): build(v)  # type: ignore[arg-type]
                    for k, v in zip(keys, values, strict=True)
                }
            case ast.Call(func=ast.Name(name), keywords=parts) if parts:  # a named tuple, or a dataclass
                fields = [part.arg or "" for part in parts]
                return collections.namedtuple(name, fields)(*(build(part.value) for part in parts))
            case _:
                return Static(_option(node))

    try:
        return build(ast.parse(_FUNCTION.sub(function, _LEAF.sub(stand_in, text)), mode="eval").body)
    except (SyntaxError, ValueError, TypeError) as error:
        raise errors.InvalidProgramError("This is no type that can be read.", [(place, "")]) from error
