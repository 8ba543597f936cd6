#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A training that loses processes twice, and is restarted on 8, 3 and then 5 of
them, sees every example once an epoch and ends where an unbroken one does; as
does one of which a process is told to end by SIGTERM.

usage: elastic_test.py BIN
"""
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

BIN = pathlib.Path(sys.argv[1]).resolve()


def train(sizes, number=signal.SIGKILL):
    with tempfile.TemporaryDirectory() as folder:
        hosts = pathlib.Path(folder, "hosts")
        hosts.write_text(f"localhost {sizes[0]}\n")
        done = subprocess.run([BIN / "mesh-launch", "--hosts-file", hosts, "--max-restarts", "5", "--grace", "10",
                               BIN / "elastic", folder, hosts, str(int(number)), *map(str, sizes)],
                              capture_output=True, text=True, timeout=200)
        remaining = [path.name for path in pathlib.Path(folder).iterdir()]
    if done.returncode != 0:
        sys.exit(f"sizes {sizes}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    restarts = re.findall(r"mesh-launch: restart \d of 5 with (\d+) processes", done.stderr)
    if restarts != [str(size) for size in sizes[1:]]:
        sys.exit(f"expected restarts with {sizes[1:]} processes, got {restarts}:\n{done.stderr}")
    if remaining != ["hosts"]:
        sys.exit(f"expected the backup to be removed at the end, found {remaining}")
    lines = [line.split() for line in done.stdout.splitlines()]
    return {word: [float(line[-1]) for line in lines if line[-2] == word]
            for word in ("steps", "seen", "weight")}


unbroken = train([2])
for name, broken in (("killed, 8, 3, 5 processes", train([8, 3, 5])),
                     ("told to end, 2, 3 processes", train([2, 3], signal.SIGTERM))):
    for run in (unbroken, broken):
        if run["steps"] != [12] or run["seen"] != [3, 3] or len(run["weight"]) != 33:
            sys.exit(f"{name}: expected 12 steps, every example 3 times and 33 weights, got {run}")
    most = max(abs(one - other) for one, other in zip(unbroken["weight"], broken["weight"]))
    print(f"{name}: weights within {most:.2g}")
    if most > 1e-5:
        sys.exit("they differ by more than rounding")
