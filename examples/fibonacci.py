"""The first example of the README: recursion, each member to its own depth, in one batched run.

python -m examples.fibonacci
"""

import tensorflow as tf

import autobatch as ab


@ab.autobatch
def fibonacci(n):
    if n <= 1:
        return 1
    return fibonacci(n - 2) + fibonacci(n - 1)


if __name__ == "__main__":
    print(fibonacci(tf.constant([3, 7, 4, 5])))
    print(fibonacci.lower(tf.constant([3, 7])).as_text("stack"))
