#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Instructions of one round of each hot path (hot_paths.cpp) stay below bounds,
some 5 % above what they took when each bound was set. A change that makes one
cheaper lowers its bound; one that needs more says why.

  hot_paths_test.py HOT_PATHS
"""
import sys

from callgrind import instructions, skip_unless_possible

# instructions of one round, in the order of hot_paths.cpp
BOUNDS = {
    # Kernels of few numbers are interpreted: 400 instructions more a
    # call, and 5 ms less to compile.
    "eager_add": 12_450,
    "eager_add_8_devices": 12_520,
    # Results carry the event of their run, which may end later.
    "function_add_8_devices": 12_120,
    # A call is asked for what it would refuse before its variables are moved.
    "function_with_variable": 10_600,
    "read_scalar": 1_000,
}
ROUNDS, BATCHES = 2, 12


def main():
    binary = sys.argv[1]
    skip_unless_possible(binary)
    counts = instructions([binary, str(ROUNDS), str(BATCHES)], ["counted"])["counted"]
    if len(counts) != BATCHES * len(BOUNDS):
        sys.exit(f"{len(counts)} calls were counted, not {BATCHES * len(BOUNDS)}")
    failed = False
    for i, (name, bound) in enumerate(BOUNDS.items()):
        count = min(counts[i * BATCHES:(i + 1) * BATCHES]) / ROUNDS
        failed |= count > bound
        print(f"{name}: {count:.0f} instructions, at most {bound}"
              f"{'' if count <= bound else ': TOO MANY'}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
