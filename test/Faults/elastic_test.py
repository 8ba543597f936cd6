#!/usr/bin/env python3
"""A training that loses processes twice, and is restarted on 8, 3 and then 5 of
them, ends where an unbroken one does.

usage: elastic_test.py BIN
"""
import pathlib
import re
import subprocess
import sys
import tempfile

BIN = pathlib.Path(sys.argv[1]).resolve()


def train(sizes):
    with tempfile.TemporaryDirectory() as folder:
        hosts = pathlib.Path(folder, "hosts")
        hosts.write_text(f"localhost {sizes[0]}\n")
        done = subprocess.run([BIN / "mesh-launch", "--hosts-file", hosts, "--max-restarts", "5", "--grace", "10",
                               BIN / "elastic", folder, hosts, *map(str, sizes)],
                              capture_output=True, text=True, timeout=200)
    if done.returncode != 0:
        sys.exit(f"sizes {sizes}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    restarts = re.findall(r"mesh-launch: restart \d of 5 with (\d+) processes", done.stderr)
    if restarts != [str(size) for size in sizes[1:]]:
        sys.exit(f"expected restarts with {sizes[1:]} processes, got {restarts}:\n{done.stderr}")
    return [float(line.split()[-1]) for line in done.stdout.splitlines()]


unbroken, broken = train([2]), train([8, 3, 5])
print("unbroken:         ", unbroken)
print("8, 3, 5 processes:", broken)
if len(unbroken) != 4 or unbroken[0] != 12 or broken[0] != 12:
    sys.exit("expected 12 steps and three weights")
if any(abs(one - other) > 1e-5 for one, other in zip(unbroken, broken)):
    sys.exit("they differ by more than rounding")
