# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs JAX's own tests on the plug-in, and compares with expected_failures.txt.

  python run_jax_tests.py PLUGIN SOURCE [--every N [--sample K]] [--workers N] FILE ...

SOURCE is a folder with JAX's sources at the version that this Python has
(`git clone --depth 1 --branch jax-v0.10.2 https://github.com/jax-ml/jax`); FILE is the name
of a test file in its folder `tests`, as `lax_test`. With --every N one test in N runs,
always the same ones: those of sample K, from 0 to N - 1, by default 0. Needs pytest, pytest-xdist (a test that ends its process ends no
other), absl-py and hypothesis; a Python without them, and a missing SOURCE, is a skip (exit
code 77, for ctest).

Exit code 0: no test failed but those of the list, and all of the list that ran failed.
"""
import argparse
import fnmatch
import importlib.util
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

HERE = Path(__file__).resolve().parent
NEEDED = ["jax", "pytest", "xdist", "absl", "hypothesis"]


def skip(reason):
    print(f"SKIP: {reason}")
    sys.exit(77)


def expected_failures():
    """Patterns of tests that fail, with the reason of each."""
    expected = {}
    for line in (HERE / "expected_failures.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            pattern, _, reason = line.partition(" ")
            if not reason.strip():
                sys.exit(f"expected_failures.txt: {pattern} has no reason")
            expected[pattern] = reason.strip()
    return expected


def run_file(arguments, name):
    """Returns the outcome (passed, failed or skipped) and the error of each test of a file."""
    environment = dict(os.environ)
    environment["JAX_PLATFORMS"] = "meshloom,cpu"
    environment["MESHLOOM_PJRT_PLUGIN"] = str(Path(arguments.plugin).resolve())
    environment["MESHLOOM_SAMPLE_EVERY"] = str(arguments.every)
    environment["MESHLOOM_SAMPLE"] = str(arguments.sample)
    paths = [HERE, HERE.parents[1] / "python", environment.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(map(str, filter(None, paths)))
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "report.xml"
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-n", str(arguments.workers), "-p",
             "sample_tests", "-p", "no:cacheprovider", "-W", "ignore", "--tb=line",
             f"--junitxml={report}", f"tests/{name}.py"],
            cwd=arguments.source, env=environment, capture_output=True, text=True)
        if not report.exists():
            sys.exit(f"{name}: pytest wrote no report\n{done.stdout}\n{done.stderr}")
        outcomes = {}
        for case in ElementTree.parse(report).iter("testcase"):
            test = f"{name}::{case.get('classname').rpartition('.')[2]}::{case.get('name')}"
            tags = {child.tag: child.get("message", "") for child in case}
            error = tags.get("failure", tags.get("error"))
            outcomes[test] = (("skipped" if "skipped" in tags else "passed", "")
                              if error is None else ("failed", error))
        return outcomes


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("plugin")
    parser.add_argument("source")
    parser.add_argument("--every", type=int, default=1, metavar="N")
    parser.add_argument("--sample", type=int, default=0, metavar="K")
    parser.add_argument("--workers", type=int, default=2, metavar="N")
    parser.add_argument("files", nargs="+", metavar="FILE")
    arguments = parser.parse_args()
    if not 0 <= arguments.sample < arguments.every:
        parser.error(f"--sample is from 0 to {arguments.every - 1}")
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        skip(f"this Python has no {', '.join(missing)}")
    if not (Path(arguments.source) / "tests").is_dir():
        skip(f"there are no sources of JAX at {arguments.source}")

    expected = expected_failures()
    wrong = 0
    for name in arguments.files:
        outcomes = run_file(arguments, name)
        count = {kind: sum(outcome == kind for outcome, _ in outcomes.values())
                 for kind in ("passed", "failed", "skipped")}
        ran = count["passed"] + count["failed"]
        print(f"{name}: {count['passed']} passed, {count['failed']} failed, "
              f"{count['skipped']} skipped: {100 * count['passed'] / max(ran, 1):.1f} %", flush=True)
        for test, (outcome, error) in outcomes.items():
            reasons = [reason for pattern, reason in expected.items()
                       if fnmatch.fnmatchcase(test, pattern)]
            if outcome == "failed" and not reasons:
                print(f"  FAILED {test}: {' '.join(error.split())[:200]}")
                wrong += 1
            if outcome == "passed" and reasons:
                print(f"  PASSED, and is in expected_failures.txt ({reasons[0]}): {test}")
                wrong += 1
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
