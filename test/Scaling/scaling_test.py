#!/usr/bin/env python3
"""What tracing, each pass and each later stage costs grows with the program and
not faster: instructions, counted by callgrind, for n and for 4n layers.

  scaling_test.py COMPILE_BENCHMARK CASE N [OPTION...]

CASE and OPTIONs are compile-benchmark's. Prints a table; exits 1 where 4n layers
take more than 4 times 1.3 of what n take. Exits 77 without valgrind.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

# What is counted: every pass, and stages that are no passes.
PASS = re.compile(r"(\w+)Pass::runOnOperation\(\)")
STAGES = {
    "fingerprint": "meshloom::fingerprint(",
    "gradient": "meshloom::detail::emitGradient(",
    "toProgram": "meshloom::toProgram(",
    "verify program": "meshloom::Program::verify(",
    "serialize": "meshloom::Compiled::serialize(",
    "step graph": "meshloom::cpu::buildStepGraph(",
    "schedule": "meshloom::cpu::schedule(",
    "place": "meshloom::cpu::place(",
    "trace and compile": "meshloom::compile(",
}
# What runs on whole programs although it is not linear, and up to where.
BOUNDS = {}
DEFAULT_BOUND = 1.3
# Fewer instructions than this say nothing.
LEAST = 200_000


def counts(program, case, n, options, folder):
    """Instructions by name of pass or stage."""
    out = pathlib.Path(folder) / f"callgrind.{n}"
    subprocess.run(
        ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}"]
        + [program, case, str(n), *options],
        check=True,
        capture_output=True,
        env={**os.environ, "MESHLOOM_CACHE": "off"},
    )
    table = subprocess.run(
        ["callgrind_annotate", "--inclusive=yes", "--threshold=100", out],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    found = {}
    for line in table.splitlines():
        match = re.match(r"\s*([\d,]+) \([ \d.]+%\)\s+\S*?:(.*)", line)
        if not match:
            continue
        instructions, name = int(match[1].replace(",", "")), match[2]
        known = PASS.search(name)
        key = known[1] if known else None
        for stage, function in STAGES.items():
            if function in name and "::$_" not in name:
                key = stage
        if key:
            found[key] = max(found.get(key, 0), instructions)
    return found


def main():
    if not shutil.which("valgrind"):
        print("valgrind is not installed")
        sys.exit(77)
    program, case, n, *options = sys.argv[1:]
    few, many = int(n), 4 * int(n)
    with tempfile.TemporaryDirectory() as folder:
        small = counts(program, case, few, options, folder)
        large = counts(program, case, many, options, folder)
    failures = 0
    print(f"{case}: instructions a layer, {few} and {many} layers")
    for key in sorted(large, key=lambda k: -large[k]):
        if key not in small or large[key] < LEAST:
            continue
        ratio = large[key] / small[key] / 4
        bound = BOUNDS.get(key, DEFAULT_BOUND)
        bad = ratio > bound
        failures += bad
        print(
            f"{key:>24} {small[key] / few:>12,.0f} {large[key] / many:>12,.0f}"
            f" {ratio:6.2f}{f'  more than {bound}' if bad else ''}"
        )
    assert "PropagateLayouts" in large, "no pass was found"
    print(f"{failures} grow faster than the program")
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
