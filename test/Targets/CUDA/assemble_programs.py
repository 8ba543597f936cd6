# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""NVIDIA's assembler takes the kernels of the programs of a folder and those in a source of the
backend, and finds registers for all that they hold.

  python assemble_programs.py path/to/mesh-opt FOLDER SOURCE

The assembler is MESHLOOM_PTXAS, or ptxas of CUDA_HOME, of /usr/local/cuda, of build/cuda (see
scripts/fetch-cuda-tools), or of the PATH. Where there is none, the exit code is 77 (a skip, for
ctest).
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
ARCHITECTURE = "sm_80"
SPILL = re.compile(r"(\d+) bytes spill stores, (\d+) bytes spill loads")
REGISTERS = re.compile(r"Used (\d+) registers")


def assembler():
    home = os.environ.get("CUDA_HOME", "/usr/local/cuda")
    places = [os.environ.get("MESHLOOM_PTXAS"), os.path.join(home, "bin", "ptxas"),
              os.path.join(ROOT, "build", "cuda", "ptxas")]
    found = [place for place in places if place and os.access(place, os.X_OK)]
    return found[0] if found else shutil.which("ptxas")


def assemble(ptxas, code, scratch, *options):
    """The registers of each kernel, and what is wrong; both may be empty."""
    source = os.path.join(scratch, "kernels.ptx")
    with open(source, "w") as file:
        file.write(code)
    done = subprocess.run([ptxas, "-v", *options, f"-arch={ARCHITECTURE}", source, "-o",
                           os.path.join(scratch, "kernels.cubin")],
                          capture_output=True, text=True, timeout=300)
    text = done.stdout + done.stderr
    wrong = [] if done.returncode == 0 else text.splitlines()[:3]
    wrong += [f"spills {stores} bytes" for stores, loads in SPILL.findall(text)
              if stores != "0" or loads != "0"]
    return [int(count) for count in REGISTERS.findall(text)], wrong


def main():
    tool, folder, source = sys.argv[1:]
    ptxas = assembler()
    if not ptxas:
        print("SKIP: there is no ptxas; scripts/fetch-cuda-tools fetches it, and NVIDIA's toolkit has it")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as scratch:
        code = re.search(r'R"\((.*?)\)"', open(source).read(), re.DOTALL).group(1)
        # The driver has the functions that this code calls.
        registers, wrong = assemble(ptxas, code, scratch, "--compile-only")
        for line in wrong:
            print(f"{source}: {line}")
        faults = int(bool(wrong))
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            if not name.endswith(".mlir") or "func.func" not in open(path).read():
                continue
            printed = subprocess.run([tool, "--target=cuda", path],
                                     capture_output=True, text=True, timeout=300)
            if printed.returncode != 0:
                found, wrong = [], printed.stderr.splitlines()[:1]
            elif ".entry" in printed.stdout:
                found, wrong = assemble(ptxas, printed.stdout, scratch)
            else:
                continue
            registers += found
            faults += bool(wrong)
            for line in wrong:
                print(f"{name}: {line}")
    print(f"{len(registers)} kernels take up to {max(registers, default=0)} registers; "
          f"{faults} programs are wrong")
    sys.exit(faults > 0)


if __name__ == "__main__":
    main()
