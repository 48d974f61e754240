"""Functions that processes send each other, in a module that all of them have."""

import tensorflow as tf

import autobatch as ab


@ab.autobatch
def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


shallow = fibonacci.options(max_depth=40)


class Scaled:
    def __init__(self, factor):
        self.factor = factor

    @ab.autobatch
    def halvings(self, x):
        turns = 0
        while x * self.factor > 1.0:
            x, turns = x / 2.0, turns + 1
        return turns

    @ab.autobatch
    @staticmethod
    def doubled(x):
        return x + x


@ab.primitive
def squares(x):
    return tf.square(x)


def plain(n):
    return n + 1 if n > 0 else n


made = ab.autobatch(plain)
