# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the programs of this folder on a PJRT plug-in, each held against the reference
interpreter.

  python run_on_plugin.py path/to/mesh-run PLUGIN [--one-device] [name ...]

--one-device: every mesh has one device, as a plug-in of a single GPU has no more.
MESHLOOM_PJRT_CPU_PLUGIN goes before PLUGIN; where there is no such file, the exit code is
77 (a skip, for ctest). Exit code 0 when every result is right but for those in KNOWN,
which docs/PJRT.md explains.
"""
import os
import re
import subprocess
import sys
import tempfile

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(FOLDER))
from one_device import on_one_device

# By program, what a line of the output must have where it fails.
KNOWN = {
    "decompositions": "cannot be exported to StableHLO: dtensor.lu",
    # A factor of what has none is nan in all places, and not in the lower half alone.
    "linear_algebra": "verify result 4 ",
    "not_finite_matrices": "cannot be exported to StableHLO: dtensor.pivoted_qr",
    # The values that go along with equal keys of a sort that is not stable.
    "sorted_blocks": "verify result 5 ",
}
KNOWN_ON_GPU = {
    "conv_types": "Convolutions must have floating-point or integral operands",
}


def failures(tool, path, platform):
    """The lines that say what is wrong; none where nothing is."""
    done = subprocess.run([tool, path, "--verify", f"--platform={platform}"],
                          capture_output=True, text=True, timeout=300)
    if done.returncode == 0:
        return []
    lines = (done.stdout + done.stderr).splitlines()
    wrong = [line for line in lines if line.endswith(": WRONG")]
    return wrong or [line for line in lines if "error" in line][:1] or [f"exit {done.returncode}"]


def main():
    tool, plugin, names = sys.argv[1], sys.argv[2], sys.argv[3:]
    plugin = os.environ.get("MESHLOOM_PJRT_CPU_PLUGIN", plugin)
    if not os.path.exists(plugin):
        print(f"SKIP: there is no PJRT plug-in at {plugin}; scripts/fetch-pjrt-cpu-plugin fetches it")
        sys.exit(77)
    one = "--one-device" in names
    names = [name for name in names if name != "--one-device"]
    expected = KNOWN | (KNOWN_ON_GPU if "cuda" in plugin or "rocm" in plugin else {})
    programs = names or sorted(name[:-5] for name in os.listdir(FOLDER) if name.endswith(".mlir"))
    wrong = 0
    with tempfile.TemporaryDirectory() as scratch:
        for name in programs:
            with open(os.path.join(FOLDER, name + ".mlir")) as file:
                text = file.read()
            if "func.func" not in text:  # a test of other files
                continue
            path = os.path.join(scratch, name + ".mlir")
            with open(path, "w") as file:
                file.write(on_one_device(text) if one else text)
            found = failures(tool, path, "pjrt:" + plugin)
            new = [line for line in found if not re.search(expected.get(name, "$^"), line)]
            wrong += bool(new)
            verdict = "WRONG" if new else "known" if found else "ok"
            print(name, verdict, *(line[:200] for line in found), flush=True)
    print(f"{wrong} programs are wrong")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
