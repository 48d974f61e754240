"""Integrals by adaptive quadrature: the recursion goes deep where the integrand is sharp, for each member elsewhere.

python -m examples.quadrature [--members 10000]
"""

import numpy as np
import typer

import autobatch as ab
from examples.against_a_loop import report


def peak(x, center, width):
    return 1.0 / ((x - center) ** 2 + width**2)


@ab.autobatch
def simpson(a, fa, m, fm, b, fb, whole, tolerance, center, width):
    """The integral over [a, b], and how many values it took (Kuncir 1962)."""
    left, right = 0.5 * (a + m), 0.5 * (m + b)
    f_left, f_right = peak(left, center, width), peak(right, center, width)
    first, second = (m - a) * (fa + 4.0 * f_left + fm) / 6.0, (b - m) * (fm + 4.0 * f_right + fb) / 6.0
    error = first + second - whole
    if abs(error) < 15.0 * tolerance or b - a < 1e-6:
        return first + second + error / 15.0, 2
    half = 0.5 * tolerance
    one, count = simpson(a, fa, left, f_left, m, fm, first, half, center, width)
    other, more = simpson(m, fm, right, f_right, b, fb, second, half, center, width)
    return one + other, count + more + 2


@ab.autobatch
def integral(center, width, tolerance):
    """Of the peak over [0, 1]."""
    fa, fm, fb = peak(0.0, center, width), peak(0.5, center, width), peak(1.0, center, width)
    value, count = simpson(0.0, fa, 0.5, fm, 1.0, fb, (fa + 4.0 * fm + fb) / 6.0, tolerance, center, width)
    return value, count + 3


def main(members: int = 10_000) -> None:
    rng = np.random.default_rng(0)
    center, width = rng.uniform(0, 1, members), 10.0 ** rng.uniform(-3, 0, members)
    exact = (np.arctan((1 - center) / width) + np.arctan(center / width)) / width
    value, count = report(integral, center, width, 1e-8 * exact)
    print(f"{'width':>16} {'integrals':>10} {'values each':>12} {'largest relative error':>24}")
    for low in (-3, -2, -1):
        chosen = (width >= 10.0**low) & (width < 10.0 ** (low + 1))
        worst = np.max(np.abs(value.numpy() / exact - 1)[chosen], initial=0)
        span = f"{10.0**low:g} to {10.0 ** (low + 1):g}"
        print(f"{span:>16} {chosen.sum():>10,} {np.mean(count.numpy()[chosen]):>12,.0f} {worst:>24.1e}")


if __name__ == "__main__":
    typer.run(main)
