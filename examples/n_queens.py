"""In how many ways n queens stand on an n x n board without attacking each other; a member for each first move.

python -m examples.n_queens [--largest 9]
"""

import numpy as np
import typer

import autobatch as ab
from examples.against_a_loop import report

KNOWN = {1: 1, 2: 0, 3: 0, 4: 2, 5: 10, 6: 4, 7: 40, 8: 92, 9: 352, 10: 724, 11: 2680, 12: 14200}


@ab.autobatch
def ways(full, columns, rising, falling):
    """To fill the rows that are left; columns and diagonals in check are bits."""
    if columns == full:
        return 1
    count, free = 0, full & ~(columns | rising | falling)
    while free != 0:
        queen = free & -free
        free = free ^ queen
        count += ways(full, columns | queen, (rising | queen) * 2, (falling | queen) // 2)
    return count


def main(largest: int = 9) -> None:
    moves = [(n, 1 << column) for n in range(1, largest + 1) for column in range(n)]
    n, queen = np.array(moves, np.int32).T
    found = report(ways, 2**n - 1, queen, queen * 2, queen // 2, tried=len(moves)).numpy()
    print(" n  ways")
    for size in range(1, largest + 1):
        total = found[n == size].sum()
        print(f"{size:>2} {total:>5,}{'' if total == KNOWN[size] else '   which is wrong'}")


if __name__ == "__main__":
    typer.run(main)
