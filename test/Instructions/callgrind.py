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
    # Of several functions in one run callgrind heeds --zero-before of one only.
    return {name: counts_of(command, name, env, timeout)
            for name in matching(command[0], functions)}


def counts_of(command, function, env, timeout):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "callgrind.out")
        run = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}",
               f"--zero-before={function}", f"--dump-after={function}"]
        done = subprocess.run(run + command, capture_output=True, text=True,
                              timeout=timeout,
                              env={**os.environ, **(env or {})})
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)} ended with "
                               f"{done.returncode}:\n{done.stderr[-4000:]}")
        counts = []
        dumps = glob.glob(out + ".*")
        for dump in sorted(dumps, key=lambda name: int(name.rsplit(".", 1)[1])):
            with open(dump, errors="replace") as file:
                text = file.read()
            total = re.search(r"^summary: (\d+)", text, re.M)
            if total and "desc: Trigger: --dump-after=" in text:
                counts.append(int(total.group(1)))
        return counts


def inclusive(command, env=None, timeout=600):
    """Runs `command` once. By function (demangled): the instructions of the whole
    run in it and in all that it calls."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "callgrind.out")
        subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}",
                        *command], check=True, capture_output=True, timeout=timeout,
                       env={**os.environ, **(env or {})})
        listing = subprocess.run(["callgrind_annotate", "--inclusive=yes",
                                  "--threshold=100", out], check=True,
                                 capture_output=True, text=True).stdout
    lines = re.findall(r"^ *([\d,]+) \([ \d.]+%\) +\S*?:(.*)", listing, re.M)
    found = {}
    for number, name in lines:
        count = int(number.replace(",", ""))
        found[name] = max(found.get(name, 0), count)
    return found
