#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The same program gives the same bits when it is run again with as many workers,
as docs/Threads.md says, in shared and in private memories.

  determinism_test.py MESH_RUN PROGRAM...
"""
import pathlib
import subprocess
import sys
import tempfile


def results(mesh_run, program, *options):
    """The bytes of all results, by file name."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([mesh_run, program, f"--output-dir={folder}", *options],
                       check=True, capture_output=True)
        return {path.name: path.read_bytes() for path in pathlib.Path(folder).iterdir()}


def main():
    mesh_run, programs = sys.argv[1], sys.argv[2:]
    failures = runs = 0
    for program in programs:
        groups = {
            "shared memory, 2 workers": [["--workers=2"]] * 3,
            "shared memory, 5 workers": [["--workers=5"]] * 3,
            "private memories, 3 workers": [["--workers=3", "--private-memories"]] * 3,
        }
        for name, settings in groups.items():
            every = [results(mesh_run, program, *options) for options in settings]
            runs += len(every)
            if not every[0] or any(other != every[0] for other in every):
                failures += 1
                print(f"{program}: {name}: results differ")
    print(f"{len(programs)} programs, {runs} runs, {failures} groups of runs that differ")
    sys.exit(failures > 0 or not programs)


if __name__ == "__main__":
    main()
