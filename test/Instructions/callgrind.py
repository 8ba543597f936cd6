# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts the instructions that functions of a program run, by valgrind's
callgrind: numbers that do not depend on what else the machine does.

    from callgrind import instructions, reason_to_skip
    instructions(["build/bin/mesh-opt", ...], ["*RefineLayouts*runOnOperation()"])
    -> {"(anonymous namespace)::RefineLayouts::runOnOperation()": [81345678]}

A count holds all that happens, in all threads, between the function's begin and
its end. valgrind shows
programs a CPU without AVX-512, so kernels are those of AVX2.
"""
import fnmatch
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77  # what ctest takes for "skipped", see SKIP_RETURN_CODE


def reason_to_skip(binary=None):
    """Why nothing can be counted here, or None."""
    if not shutil.which("valgrind"):
        return "valgrind is not installed (scripts/packages.txt has it)"
    if binary:
        with open(binary, "rb") as file:
            if b"__asan_init" in file.read():
                return f"{binary} is built with sanitizers"
    return None


def skip_unless_possible(binary=None):
    """Ends the script, saying why, where nothing can be counted."""
    if reason := reason_to_skip(binary):
        print("skipped:", reason)
        sys.exit(SKIPPED)


def matching(binary, patterns):
    """The functions of `binary`, demangled, that a pattern matches. callgrind
    reads patterns too, but takes the first only of several."""
    symbols = subprocess.run(["nm", "-C", "--defined-only", binary], text=True,
                             capture_output=True, check=True).stdout
    names = {line.split(" ", 2)[2] for line in symbols.splitlines()
             if line.split(" ", 2)[1:2] in (["t"], ["T"], ["W"], ["w"])}
    found = sorted(name for name in names
                   if any(fnmatch.fnmatchcase(name, p) for p in patterns))
    if not found:
        raise RuntimeError(f"no function of {binary} is called {patterns}")
    return found


def instructions(command, functions, env=None, timeout=600):
    """Runs `command`, whose first word is a path, once for each function that one
    of the patterns in `functions` matches (demangled names; * stands for any
    text). By name: the counts of its calls in order. Fails as the command does."""
    # Callgrind heeds --zero-before of only one of several functions in one run.
    return {name: counts_of(command, name, env, timeout)
            for name in matching(command[0], functions)}


def dumps(command, options, env, timeout):
    """Runs `command`. In order, while they exist: the paths of the dumps, in
    callgrind's format, that the end of a function was the reason for."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "callgrind.out")
        done = subprocess.run(["valgrind", "--tool=callgrind",
                               f"--callgrind-out-file={out}", *options, *command],
                              capture_output=True, text=True, timeout=timeout,
                              env={**os.environ, **(env or {})})
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)} ended with "
                               f"{done.returncode}:\n{done.stderr[-4000:]}")
        for path in sorted(glob.glob(out + ".*"),
                           key=lambda name: int(name.rsplit(".", 1)[1])):
            with open(path, errors="replace") as file:
                if any(line.startswith("desc: Trigger: --dump-after=") for line in file):
                    yield path


def counts_of(command, function, env, timeout):
    counts = []
    for path in dumps(command, [f"--zero-before={function}", f"--dump-after={function}"],
                      env, timeout):
        with open(path, errors="replace") as file:
            if total := re.search(r"^summary: (\d+)", file.read(), re.M):
                counts.append(int(total.group(1)))
    return counts


def inclusive(command, function, env=None, timeout=600):
    """Runs `command` once. A list, for each call of `function` (its name as
    callgrind has it, * stands for any text) in order: by function (demangled), the
    instructions in it and in all that it calls, since the call before."""
    return [inclusive_of(path)
            for path in dumps(command, [f"--dump-after={function}"], env, timeout)]


def inclusive_of(path):
    """Of a file in callgrind's format: by function its instructions with those
    that it calls."""
    names, found = {}, {}
    current = None
    with open(path, errors="replace") as file:
        for line in file:
            if line[0].isdigit() or line[0] in "+-*":
                # A line of the source, and what it or the call before took.
                found[current] = found.get(current, 0) + int(line.split()[1])
            elif line.startswith(("fn=", "cfn=")):
                kind, _, text = line.rstrip("\n").partition("=")
                number, _, name = text.partition(" ")
                names.setdefault(number, name)
                if kind == "fn":
                    current = names[number]
    return found
