# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the programs of this folder on the platform cuda, on the stand-in driver, each held
against the reference interpreter.

  python run_on_cuda.py path/to/mesh-run STAND_IN_DRIVER [name ...]

Work is done in another legal order for each program. Exit code 0 when every result is right.
"""
import os
import sys

from run_on_plugin import FOLDER, failures


def main():
    tool, driver, names = sys.argv[1], sys.argv[2], sys.argv[3:]
    programs = names or sorted(name[:-5] for name in os.listdir(FOLDER) if name.endswith(".mlir"))
    wrong = 0
    for seed, name in enumerate(programs):
        path = os.path.join(FOLDER, name + ".mlir")
        with open(path) as file:
            if "func.func" not in file.read():  # a test of other files
                continue
        os.environ["MESHLOOM_STANDIN"] = f"seed={seed}"
        found = failures(tool, path, f"cuda:driver={driver}")
        wrong += bool(found)
        print(name, "WRONG" if found else "ok", *(line[:200] for line in found), flush=True)
    print(f"{wrong} programs are wrong")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
