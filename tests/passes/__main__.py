"""``python -m tests.passes --programs 20000 --seed 7`` looks for graphs whose meaning a pass changes."""

import argparse

from hypothesis import HealthCheck, seed, settings

from tests.passes.test_random_graphs import check, given_graphs

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--programs", type=int, default=10000)
parser.add_argument("--seed", type=int, default=0)
given = parser.parse_args()
wide = settings(max_examples=given.programs, deadline=None, database=None, suppress_health_check=list(HealthCheck))
seed(given.seed)(wide(given_graphs(check)))()
print(f"{given.programs} programs, no difference")
