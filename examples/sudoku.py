"""A thousand sudokus at once, by backtracking: each board guesses, fails and returns on its own.

python -m examples.sudoku [--boards 1000] [--holes 52]
"""

import numpy as np
import tensorflow as tf
import typer

import autobatch as ab
from examples.against_a_loop import report

CELLS = np.arange(81)
HOUSES = np.stack([CELLS // 9, CELLS % 9, CELLS // 27 * 3 + CELLS % 9 // 3])  # row, column and box of each cell
SEES = tf.constant((HOUSES[:, :, None] == HOUSES[:, None, :]).any(0) & ~np.eye(81, dtype=bool))  # [cell, cell]


def candidates(board):
    """[81, 9]: which digits no cell in sight has."""
    has = tf.one_hot(board - 1, 9) > 0
    return ~tf.reduce_any(SEES[:, :, tf.newaxis] & has, axis=1)


@ab.autobatch
def solve(board):
    """The board [81] filled, whether it can be, and how many guesses that took; zeros are empty cells."""
    open_ = tf.cast(candidates(board), tf.int32)
    choices = tf.where(board > 0, 10, tf.reduce_sum(open_, axis=1))
    cell = tf.argmin(choices, output_type=tf.int32)
    if choices[cell] == 10:
        return board, True, 0
    guesses = 0
    for digit in range(1, 10):
        if open_[cell, digit - 1] == 1:
            tried = tf.where(tf.range(81) == cell, digit, board)
            filled, is_solved, more = solve(tried)
            guesses += more + 1
            if is_solved:
                return filled, True, guesses
    return board, False, guesses


def puzzles(count: int, holes: int, rng: np.random.Generator) -> np.ndarray:
    """Boards [count, 81] that can be solved: shuffled solutions, with holes."""
    rows, columns = np.mgrid[0:9, 0:9]
    pattern = (rows * 3 + rows // 3 + columns) % 9
    boards = np.empty((count, 81), np.int32)
    for board in boards:
        bands = [np.concatenate([rng.permutation(3) + 3 * band for band in rng.permutation(3)]) for _ in range(2)]
        board[:] = rng.permutation(np.arange(1, 10))[pattern[bands[0]][:, bands[1]]].ravel()
        board[rng.permutation(81)[:holes]] = 0
    return boards


def main(boards: int = 1000, holes: int = 52) -> None:
    given = puzzles(boards, holes, np.random.default_rng(0))
    filled, is_solved, guesses = report(solve, given, tried=2)
    groups = [np.sort(filled.numpy()[:, house == k]) for house in HOUSES for k in range(9)]
    right = np.all([group == np.arange(1, 10) for group in groups], axis=(0, 2)) & is_solved.numpy()
    kept = np.all((given == 0) | (given == filled.numpy()), axis=1)
    print(f"{(right & kept).sum():,} of {boards:,} solved, by {np.min(guesses)} to {np.max(guesses):,} guesses")
    for row in np.stack([given[0].reshape(9, 9), filled[0].numpy().reshape(9, 9)], axis=1):
        print("    ".join(" ".join(str(digit or ".") for digit in half) for half in row))


if __name__ == "__main__":
    typer.run(main)
