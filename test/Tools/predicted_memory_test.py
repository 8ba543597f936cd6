# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Holds the predicted peak of each device against what a loaded program reports.

    python predicted_memory_test.py path/to/mesh-run FOLDER ...

Every .mlir file of the folders that compiles as it is (others are tests of errors) is
loaded on virtual CPUs with private memories. Its predicted peak may differ by 5 %. Exit
code 1 where one differs by more, or where a folder has no program.
"""
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile


def figures(tool, program):
    """The statistics of a program, or None where it does not compile."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "stats.json")
        done = subprocess.run(
            [tool, program, "--compile-only", "--private-memories", f"--stats={path}"],
            capture_output=True, text=True)
        if done.returncode:
            return None
        with open(path) as file:
            return json.load(file)


def main(tool, folders):
    wrong = 0
    for folder in folders:
        programs = sorted(pathlib.Path(folder).rglob("*.mlir"))
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            found = list(pool.map(lambda program: figures(tool, program), programs))
        count = 0
        for program, stats in zip(programs, found):
            if stats is None:
                continue
            count += 1
            reported = stats["peak_bytes_per_device"]
            predicted = stats["predicted"].get("peak_bytes_per_device", -1)
            if abs(predicted - reported) > 0.05 * reported:
                wrong += 1
                print(f"{program}: predicted {predicted} bytes, reported {reported}")
        print(f"{folder}: {count} of {len(programs)} programs compared")
        wrong += count == 0
    return wrong > 0


sys.exit(main(sys.argv[1], sys.argv[2:]))
