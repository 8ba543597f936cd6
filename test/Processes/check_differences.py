#!/usr/bin/env python3
"""Runs processes that differ in their programs, and checks that all of them end
with an error that says how.

usage: check_differences.py MESH_LAUNCH PROGRAM
"""
import re
import subprocess
import sys

PROCESSES = 3
# What differs, and what every process says of it.
DIFFERENCES = {
    "op": ["rank 2", "another program than rank 0", "DifferentPrograms.cpp:20",
           "DifferentPrograms.cpp:23"],
    "layout": ["rank 2", "f32", "[batch, *]", "[*, batch]"],
    "machine": ["rank 2", "machine model"],
    "exit": ["rank 2"],
}


def problem(launcher, program, difference, texts):
    done = subprocess.run(
        [launcher, "-n", str(PROCESSES), program, difference],
        capture_output=True, text=True, timeout=60)
    output = done.stdout + done.stderr
    if done.returncode == 0:
        return f"expected a failure, got: {output}"
    # The one that ends by itself says nothing.
    speakers = PROCESSES - (difference == "exit")
    for text in texts:
        found = output.count(text)
        if found < speakers:
            return f"expected '{text}' {speakers} times, got {found}: {output}"
    for seconds in re.findall(r"after ([\d.e+-]+) s", output):
        # A second beside what the machine has to do otherwise.
        if float(seconds) > 20:
            return f"took {seconds} s"
    return None


def main():
    launcher, program = sys.argv[1:]
    failed = False
    for difference, texts in DIFFERENCES.items():
        wrong = problem(launcher, program, difference, texts)
        print(f"{difference}: {wrong or 'ok'}", flush=True)
        failed |= wrong is not None
    sys.exit(failed)


if __name__ == "__main__":
    main()
