"""What is refused, with what to write instead."""

import tensorflow as tf

import autobatch as ab
from autobatch.errors import (
    TypeMismatchError,
    UndefinedVariableError,
    UnsupportedSyntaxError,
    VectorizationError,
)
from tests.conformance import N, V, X, refused

COUNT = tf.Variable(0.0)


@refused("`with`", UnsupportedSyntaxError, "a helper function that has it")
def with_(x):
    with tf.name_scope("here"):  # here
        return x


@refused("`yield` in a batched function itself, `await`", UnsupportedSyntaxError, "a list that is filled")
def yield_(x):
    yield x  # here


@refused("`global`", UnsupportedSyntaxError, "return the value")
def global_(x):
    global COUNT  # here
    COUNT = x
    return x


@refused("`del`", UnsupportedSyntaxError, "nothing: what is not read costs nothing")
def del_(x):
    del x  # here


@refused("`class` in a function", UnsupportedSyntaxError, "do it outside")
def class_(x):
    class Point:  # here
        pass

    return x


@refused("`*args`, `**kwargs` parameters", UnsupportedSyntaxError, "a tuple or a dict as one parameter")
def starred(*xs):  # here
    return xs[0]


@refused(
    "assignment to an attribute of a tensor, a struct or a shared object",
    UnsupportedSyntaxError,
    "`dataclasses.replace`",
)
def attribute(x):
    x.value = 3  # here
    return x


@refused("TensorFlow's control flow and random numbers", VectorizationError, "plain Python; `ab.random`")
def tf_random(x):
    return x + tf.random.normal([])  # here


@refused("a change of a `tf.Variable`", UnsupportedSyntaxError, "return the new value")
def variable(x):
    COUNT.assign(x)  # here
    return x


@refused("different dtypes or shapes on two paths", TypeMismatchError, "`tf.cast`; pad")
def two_types(x):
    if x > 0:
        return x
    return tf.cast(x, tf.int32)  # here


@refused("a variable that nothing sets before it is read", UndefinedVariableError, "a value before the branch")
def unset(x):
    z = y * 2  # noqa: F821  # here
    y = x
    return y + z


@refused("a slice whose bounds differ between members", TypeMismatchError, "`tf.gather(x, start + tf.range(n))`", V, N)
def member_slice(v, n):
    return v[n:]  # here


@refused("`d |= e` of a dict, across a branch", UnsupportedSyntaxError, "a new dict; variables")
def inserted(x):
    parts = {"a": x}
    if x > 0:
        parts |= {"b": x}  # here
    return parts["a"]


@refused("an object of a library's that must outlive its block", TypeMismatchError, "make it again")
def outlives(x):
    values = tf.TensorArray(tf.float32, 1).write(0, x)
    if x > 0:
        x = tf.exp(x)
    return values.read(0) + x  # here


@refused(
    "`print` in a compiled program", UnsupportedSyntaxError, '`f.options(backend="local_static", jit_compile=False)`'
)
def print_(x):
    print(x)  # here
    return x


@refused("a dict whose keys differ between members", UnsupportedSyntaxError, "a choice of values, or a list")
def filtered(x):
    return {k: y for k, y in ((1, x), (2, 2.0 * x)) if y > 0 and y < 5}  # here


@refused("a recursion that never ends for want of a base case", TypeMismatchError, "a path that returns")
def endless(x):  # here
    return endless_batched(x)


@refused(
    "a recursion over static arguments without end",
    UnsupportedSyntaxError,
    "a condition on static values",
    X,
    0,
    static_argnames="n",
)
def climbs(x, n):  # here
    return climbs_batched(x, n + 1) if x > 0 else x


endless_batched = ab.autobatch(endless)
climbs_batched = ab.autobatch(climbs, static_argnames="n")
