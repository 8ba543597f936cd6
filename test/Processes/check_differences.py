#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs processes that differ in their programs, and checks that all of them end
with an error that says how.

usage: check_differences.py MESH_LAUNCH PROGRAM
"""
import os
import pathlib
import re
import subprocess
import sys

PROCESSES = 3
SOURCE = pathlib.Path(__file__).parent / "DifferentPrograms.cpp"


def line_of(code):
    """Where the source has this code, as an error names it."""
    lines = SOURCE.read_text().splitlines()
    return f"{SOURCE.name}:{next(number for number, line in enumerate(lines, 1) if code in line)}"


# The differences, and the texts that every process prints.
DIFFERENCES = {
    "op": ["rank 2", "another program than rank 0", line_of("reduce_sum(x + 1.0)"), line_of("reduce_sum(x * 2.0)")],
    "constant": ["rank 2", "another program than rank 0", "of the constant 1.5", "of the constant 2.5", "DifferentPrograms.cpp:"],
    "layout": ["rank 2", "f32", "[batch, *]", "[*, batch]"],
    "machine": ["rank 2", "machine model"],
    "devices": ["2 in rank 0", "4 in rank 2", "--devices-per-process"],
    "private": ["leave private_memories out"],
    "submesh constant": ["rank 2", "another program than rank 0", "of the constant 1.5", "of the constant 2.5", line_of("w * y * rate")],
    "submesh value": ["holds a nan or an infinity", "DifferentPrograms.cpp:"],
    "exit": ["rank 2", "[unavailable]"],
    "refused": ["rank 2", "refused, v = 2", "[unavailable]"],
    "late": ["rank 2", "within 2000 ms", "[deadline exceeded]"],
    "late call": ["rank 2", "within 2000 ms", "[deadline exceeded]"],
}
# The same programs, but not the same calls of them: what is said of it by the
# first one that ends, after which mesh-launch ends the others.
ORDERS = {
    "order": [", after ", "calls 'first' (at ", "rank 2 (host ", "calls 'second' (at "],
    "often": [", after 'first' (at ", "calls 'second' (at ", "rank 2 (host ",
              "calls 'first' (at "],
    "eager": [", after 'second' (at ", "calls 'first' (at ", "rank 2 (host ",
              "'reduce_max' (at ", "for the first time"],
    "barrier": [", after 'second' (at ", "calls 'first' (at ", "rank 2 (host ", "calls barrier 'meet'"],
    "barriers": ["calls in one order", "calls barrier 'part'", "rank 2 (host ", "calls barrier 'meet'"],
    "value": ["do not have the same value where all must: ", "rank 2 (host ", "'w', f32 [4] = [1.5, 5, 6, 7], of distribute (at ",
              " = [2.5, 5, 6, 7], of distribute (at ", "DifferentPrograms.cpp:"],
    "scalar": ["do not have the same value where all must: ", "rank 2 (host ", ", f32 [] = 1.5, of ", ", f32 [] = 2.5, of "],
    "local": ["do not have the same value where all must: ", "rank 2 (host ", ", f32 [] = 1.5, of multiply (at ",
              ", f32 [] = 2.5, of multiply (at "],
    "later": ["rank 2 (host ", "'w', f32 [4] = [1, 5, 6, 7]", "= [1, 5, 6, 2.5]"],
    "submesh call": ["calls in one order", "calls 'step', which sends f32 [", "rank 2 (host ", "'reduce_max' (at "],
    "save": ["calls 'step' (at ", "rank 2 (host ", "calls Checkpoint::write (at ", "DifferentPrograms.cpp:"],
    "fit": ["rank 2 (host ", "calls save (at ", line_of("save(model"), line_of("model.fit(")],
    "thread": ["rank 2 (host ", "outside of the main thread", "'second' (at ",
               " 0 times, this rank 1 times"],
    "end": ["rank 2 (host ", "has left the others: its program has ended"],
}


def problem(launcher, program, difference, texts):
    # Time to say it, also on a busy machine; who comes late is not waited for.
    grace = 5 if difference.startswith("late") else 30
    done = subprocess.run(
        [launcher, "-n", str(PROCESSES), f"--grace={grace}", program, difference],
        capture_output=True, text=True, timeout=300,
        env={**os.environ, "MESHLOOM_TIMEOUT": "120"})
    output = done.stdout + done.stderr
    if done.returncode == 0:
        return f"expected a failure, got: {output}"
    # One that ends by itself, or is ended before it is there, says nothing; of
    # orders the first one speaks.
    speakers = PROCESSES - (difference in ("exit", "refused", "late", "late call")) if difference in DIFFERENCES else 1
    for text in texts:
        found = output.count(text)
        if found < speakers:
            return f"expected '{text}' {speakers} times, got {found}: {output}"
    # Users know their lines, and not the library's.
    for line in re.findall(r"\S*/lib/\w+/\S*\.(?:cpp|h):\d+", output):
        return f"expected lines of the program, got {line}: {output}"
    for seconds in re.findall(r"after ([\d.e+-]+) s", output):
        # A second beside what the machine has to do otherwise, or the timeout.
        if float(seconds) > 60:
            return f"took {seconds} s"
    return None


def main():
    launcher, program = sys.argv[1:]
    failed = False
    for difference, texts in {**DIFFERENCES, **ORDERS}.items():
        wrong = problem(launcher, program, difference, texts)
        print(f"{difference}: {wrong or 'ok'}", flush=True)
        failed |= wrong is not None
    sys.exit(failed)


if __name__ == "__main__":
    main()
