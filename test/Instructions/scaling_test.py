#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What tracing, each pass and each later stage costs grows with the program and
not faster: instructions, counted by callgrind, for n and for 4n layers.

  scaling_test.py COMPILE_BENCHMARK CASE N [CASE N ...]

CASEs are compile-benchmark's. Prints a table; fails where 4n layers take more than
4 times 1.3 of what n take.
"""
import glob
import os
import platform
import re
import subprocess
import sys
import tempfile

from callgrind import inclusive, skip_unless_possible

# The counted stages: every pass, and stages that are no passes.
PASS = re.compile(r"(\w+)Pass::runOnOperation\(\)")
STAGES = {
    "fingerprint": "meshloom::fingerprint[",
    "gradient": "meshloom::GradientTape::gradient(",
    "toProgram": "meshloom::toProgram(",
    "verify program": "meshloom::Program::verify(",
    "serialize": "meshloom::Compiled::serialize[",
    "step graph": "meshloom::plan::buildStepGraph(",
    "schedule": "meshloom::cpu::schedule(",
    "place": "meshloom::cpu::place(",
    "trace and compile": "meshloom::compile(",
}
BOUND = 1.3
# FormKernels looks for dependences among 4,096 ops at most, which programs of
# more than that reach everywhere and smaller ones do not.
# Phases that take little time, as those of few layers, are cut into fewer chunks.
BOUNDS = {("blocks", "FormKernels"): 2, ("matmuls", "place"): 2}
# Fewer instructions than this say nothing.
LEAST = 200_000


def stages(counts):
    """Instructions by name of pass or stage, of those by function."""
    found = {}
    for name, instructions in counts.items():
        stage_match = PASS.search(name)
        key = stage_match[1] if stage_match else None
        for stage, function in STAGES.items():
            if function in name and "::$_" not in name:
                key = stage
        if key:
            found[key] = max(found.get(key, 0), instructions)
    return found


def main():
    program, *words = sys.argv[1:]
    skip_unless_possible(program)
    cases = [(name, int(n)) for name, n in zip(words[::2], words[1::2])]
    command = [program]
    for name, few in cases:
        command += [name, str(few), name, str(4 * few)]
    # On one core nothing is compiled beside the refinement of layouts, which happens
    # where that takes long enough: passes would be counted twice in one of the runs.
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as cache:
        # The machine code of kernels is generated before, as under callgrind
        # that is most of the time: the programs are then compiled once more.
        # It is found again as it is for a processor that valgrind's is too.
        environment = {"MESHLOOM_CACHE": cache}
        if platform.machine() == "x86_64":
            environment["MESHLOOM_CPU"] = "x86-64-v2"
        subprocess.run(command, check=True, capture_output=True,
                       env={**os.environ, **environment})
        for compiled in glob.glob(os.path.join(cache, "program*")):
            os.remove(compiled)
        # All in one process: valgrind takes most of its time for what it has not
        # seen before.
        counts = [stages(found) for found in
                  inclusive(command, "compile_case", environment)]
    if len(counts) != 2 * len(cases):
        sys.exit(f"{len(counts)} programs were counted, not {2 * len(cases)}")
    failures = 0
    for (case, few), small, large in zip(cases, counts[::2], counts[1::2]):
        print(f"{case}: instructions a layer, {few} and {4 * few} layers")
        for key in sorted(large, key=lambda k: -large[k]):
            if key not in small or large[key] < LEAST:
                continue
            ratio = large[key] / small[key] / 4
            bound = BOUNDS.get((case, key), BOUND)
            bad = ratio > bound
            failures += bad
            print(f"{key:>24} {small[key] / few:>12,.0f} {large[key] / few / 4:>12,.0f}"
                  f" {ratio:6.2f}{f'  more than {bound}' if bad else ''}")
        if "PropagateLayouts" not in large:
            sys.exit("no pass was found")
    if unseen := STAGES.keys() - set().union(*counts):
        sys.exit(f"not found in any program: {', '.join(sorted(unseen))}")
    print(f"{failures} grow faster than the program")
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
