#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""mesh-opt --target=tpu:... with libtpu, which needs no TPU: every topology
compiles the tutorial's step, sizes and collectives are what the program says,
and the executable is saved. Exits 77, saying why, where there is no libtpu.

  tpu_target_test.py MESH_OPT PROGRAM.mlir LIBTPU
"""
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

# Name, devices, what libtpu calls them, processes.
TOPOLOGIES = [
    ("v5e:2x4", 8, "TPU v5 lite", 2),
    ("v4:2x2x2", 16, "TPU v4", 2),
    ("v5p:2x2x2", 8, "TPU v5", 2),
    ("v6e:2x4", 8, "TPU v6 lite", 2),
    ("v5e:16x16", 256, "TPU v5 lite", 64),
]
SIZES = ["code", "argument", "output", "alias", "temp", "peak"]


class TPUTargetTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.root = Path(cls.folder.name)
        cls.source = PROGRAM.read_text()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def program(self, devices):
        """The step on that many devices, 16 examples each."""
        path = self.root / f"step{devices}.mlir"
        text = self.source.replace("batch = 8", f"batch = {devices}")
        path.write_text(re.sub(r"\b128(?=x|>)", str(16 * devices), text))
        return path

    def run_tool(self, *arguments, fails=False):
        done = subprocess.run([MESH_OPT, *map(str, arguments), f"--tpu-library={LIBTPU}"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode != 0, fails, done.stderr)
        return done.stderr if fails else done.stdout

    def sizes(self, report):
        return {name: int(re.search(rf"^  {name} +(\d+)$", report, re.M).group(1))
                for name in SIZES}

    def test_every_topology(self):
        """Weights and biases are the larger part of the arguments, and their new
        values take their memory; the ops are counted."""
        weights = 4 * (784 * 700 + 700 + 700 * 10 + 10)
        for name, devices, kind, processes in TOPOLOGIES:
            with self.subTest(name):
                saved = self.root / "step.bin"
                start = time.monotonic()
                report = self.run_tool(self.program(devices), f"--target=tpu:{name}",
                                       "-o", saved)
                print(f"{name}: {time.monotonic() - start:.2f} s", file=sys.stderr)
                self.assertIn(f"@main on the mesh <batch={devices}> for {name}: {devices} "
                              f"devices of kind {kind}, {processes} processes\n", report)
                sizes = self.sizes(report)
                self.assertGreater(sizes["code"], 10_000)
                self.assertGreater(sizes["argument"], weights)
                self.assertGreater(sizes["output"], weights)
                self.assertGreaterEqual(sizes["alias"], weights)
                self.assertGreater(sizes["peak"], sizes["argument"])
                flops = int(re.search(r"^  flops +(\d+)$", report, re.M).group(1))
                self.assertGreater(flops, 2 * 2 * 16 * 784 * 700)
                # Both say where in the source they come from.
                groups = f"groups of {devices}: "
                position = rf"bytes.* at \S*step{devices}.mlir:\d+"
                self.assertRegex(report, rf"(?m)^  all_\w+ over \[batch\], {groups}\d+ {position}")
                self.assertRegex(report, rf"(?m)^  all-\S+.*, {groups}\d+ {position}")
                self.assertGreater(saved.stat().st_size, sizes["code"] // 2)

    def test_another_number_of_devices(self):
        self.assertEqual(
            self.run_tool(self.program(8), "--target=tpu:v5e:4x4", fails=True),
            "mesh-opt: the program's mesh <batch=8> has 8 devices, but the topology v5e:4x4 "
            "has 16\n")

    def test_unknown_topologies(self):
        for name in ["v5litepod-8", "v5e:3x4", "nothing"]:
            error = self.run_tool(self.program(8), f"--target=tpu:{name}", fails=True)
            self.assertIn("Topologies of TPUs are GENERATION:SHAPE", error)

    def test_generations_without_figures_need_a_machine(self):
        program = self.program(8)
        error = self.run_tool(program, "--target=tpu:v3:2x2", fails=True)
        self.assertIn("there are figures for v4, v5e, v5p, v6e", error)
        self.assertIn("name one with --machine", error)
        report = self.run_tool(program, "--target=tpu:v3:2x2", "--machine=ring")
        self.assertIn("8 devices of kind TPU v3", report)


if __name__ == "__main__":
    MESH_OPT, PROGRAM, LIBTPU = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
    LIBTPU = os.environ.get("TPU_LIBRARY_PATH", LIBTPU)
    if not Path(LIBTPU).exists():
        print(f"skipped: libtpu is not installed: there is no '{LIBTPU}' "
              "(TPU_LIBRARY_PATH names another); scripts/fetch-pjrt-cpu-plugin --tpu fetches "
              "it for those who accept its terms")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
