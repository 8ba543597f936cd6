#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles the cases for TPUs that are not there: libtpu accepts what mesh-opt
exports of every one. Exits 77, saying why, where there is no libtpu.

  compile_for_tpu.py MESH_OPT LIBTPU CASES [NAME ...]
"""
import os
import re
import subprocess
import sys
from pathlib import Path

# By the number of devices.
TOPOLOGIES = {2: "v5e:1x2", 4: "v5e:2x2", 8: "v5e:2x4", 16: "v5e:4x4"}
# The programs that libtpu 0.0.51 has no code for, as it says.
REFUSED = {"einsum_split_contracted": "AllReduceScatterFusion not implemented"}


def compile_for(mesh_opt, libtpu, program, topology):
    return subprocess.run([mesh_opt, str(program), f"--target=tpu:{topology}",
                           f"--tpu-library={libtpu}"], capture_output=True, text=True)


def main():
    mesh_opt, libtpu, cases, *names = sys.argv[1:]
    libtpu = os.environ.get("TPU_LIBRARY_PATH", libtpu)
    if not Path(libtpu).exists():
        print(f"skipped: libtpu is not installed: there is no '{libtpu}' "
              "(TPU_LIBRARY_PATH names another); scripts/fetch-pjrt-cpu-plugin --tpu fetches "
              "it for those who accept its terms")
        return 77
    wrong, count = [], 0
    for program in sorted(Path(cases).glob("*/program.mlir")):
        name = program.parent.name
        if names and name not in names:
            continue
        count += 1
        done = compile_for(mesh_opt, libtpu, program, TOPOLOGIES[8])
        other = re.search(r"the program's mesh .* has (\d+) devices", done.stderr)
        if other:
            done = compile_for(mesh_opt, libtpu, program, TOPOLOGIES[int(other.group(1))])
        refusal = REFUSED.get(name)
        right = refusal in done.stderr if refusal else "bytes on each device" in done.stdout
        if not right:
            wrong.append(name)
            print(f"{name}: {done.stderr or 'compiled, though it is listed as refused'}")
    print(f"{count - len(wrong)} of {count} programs are as expected")
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main())
