# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the programs of this folder on the platform cuda, on the stand-in driver, each held
against the reference interpreter.

  python run_on_cuda.py path/to/mesh-run STAND_IN_DRIVER [--cublaslt=STAND_IN_BLAS] [name ...]

Work is done in another legal order for each program. --cublaslt: programs that have products
run once more, with this library. Exit code 0 when every result is right.
"""
import os
import sys

from run_on_plugin import FOLDER, failures


def main():
    tool, driver, names = sys.argv[1], sys.argv[2], sys.argv[3:]
    libraries = [name for name in names if name.startswith("--cublaslt=")]
    names = [name for name in names if name not in libraries]
    programs = names or sorted(name[:-5] for name in os.listdir(FOLDER) if name.endswith(".mlir"))
    wrong = 0
    for seed, name in enumerate(programs):
        path = os.path.join(FOLDER, name + ".mlir")
        with open(path) as file:
            text = file.read()
        if "func.func" not in text:  # a test of other files
            continue
        os.environ["MESHLOOM_STANDIN"] = f"seed={seed}"
        for library in ["", *(f",{option[2:]}" for option in libraries if "dot_general" in text)]:
            found = failures(tool, path, f"cuda:driver={driver}{library}")
            wrong += bool(found)
            print(name + library, "WRONG" if found else "ok", *(line[:200] for line in found),
                  flush=True)
    print(f"{wrong} programs are wrong")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
