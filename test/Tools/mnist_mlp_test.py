#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tutorial's program from its command line: every mesh trains to the same
losses, MNIST's files are read plain and gzipped, and what cannot be is an error
before anything is written.

  mnist_mlp_test.py MNIST_MLP PJRT_CPU_PLUGIN STAND_IN_DRIVER

XLA's plug-in for CPUs is MESHLOOM_PJRT_CPU_PLUGIN, else the argument; where there
is no such file, that test is skipped.
"""
import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

# Nine batches of 128 and a last one of 8 rows, as the tutorial's 5,000 images
# have: 10 steps.
IMAGES = ["--train", "1160", "--test", "200", "--epochs", "1"]


class MnistMlpTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.root = Path(cls.folder.name)
        # Most kernels are the same on all meshes.
        os.environ["MESHLOOM_CACHE"] = str(cls.root / "cache")
        cls.reference = cls.train("--mesh", "batch=8")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def run_program(cls, *options):
        output = Path(tempfile.mkdtemp(dir=cls.root))
        return output, subprocess.run(
            [sys.argv[1], *IMAGES, "--output", output / "run", *options],
            capture_output=True, text=True, timeout=300)

    @classmethod
    def train(cls, *options):
        """Output folder, text, and the loss of each step."""
        output, result = cls.run_program(*options)
        assert result.returncode == 0, result.stderr
        output = output / "run"
        lines = (output / "losses.csv").read_text().split("\n")
        assert lines[0] == "step,loss" and lines[-1] == "", lines
        return output, result.stdout, [float(line.split(",")[1]) for line in lines[1:-1]]

    def expect_same(self, mesh, *options, reference=None):
        _, expected, expected_losses = reference or self.reference
        with self.subTest(mesh=mesh):
            _, text, losses = self.train("--mesh", mesh, *options)
            self.assertEqual(len(losses), len(expected_losses))
            for step, (ours, wanted) in enumerate(zip(losses, expected_losses)):
                self.assertLessEqual(abs(ours - wanted), 1e-4 * abs(wanted), f"step {step + 1}")
            self.assertLessEqual(abs(self.accuracy(text) - self.accuracy(expected)), 0.02)
            return text

    def accuracy(self, text):
        return float(re.search(r"Testing accuracy: ([0-9.]+)$", text, re.M)[1])

    def expect_error(self, message, *options):
        with self.subTest(options=options):
            output, result = self.run_program(*options)
            self.assertEqual(result.returncode, 1, result.stdout)
            self.assertIn(message, result.stderr)
            self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
            self.assertEqual([p for p in output.rglob("*") if p.is_file()], [])

    def test_the_guide_shows_what_it_prints(self):
        guide = (Path(__file__).parents[2] / "docs/GettingStarted.md").read_text()
        block = re.search(r"^The training step on .*?(?=^Traced in)", guide, re.S | re.M)
        self.assertIn(block[0], self.reference[1])

    def test_what_it_prints_and_writes(self):
        output, text, losses = self.reference
        self.assertEqual(len(losses), 10)
        self.assertLess(losses[-1], losses[0])
        self.assertRegex(text, r"Epoch: 0\n")
        self.assertRegex(text, r"Training loss: [0-9.]+, Training accuracy: [0-9.]+\n"
                               r"Testing loss: [0-9.]+, Testing accuracy: [0-9.]+\n")
        self.assertRegex(text, r"w1: f32 784x700  \[\*, \*\]")
        self.assertRegex(text, r"all_reduce over \[batch\], \d+ bytes: ")
        for plot in ("loss.svg", "accuracy.svg"):
            self.assertIn("<svg", (output / plot).read_text())

    def test_meshes(self):
        text = self.expect_same("batch=2,model=4")
        self.assertIn("Against pure data parallelism on as many devices", text)
        self.assertRegex(text, r"w1: f32 784x700  \[\*, model\]")
        for mesh in ("model=4", "batch=3", "batch=2,model=2,copy=2", "rows=3,columns=5", "x=1"):
            self.expect_same(mesh)

    def test_pjrt_plugin(self):
        plugin = os.environ.get("MESHLOOM_PJRT_CPU_PLUGIN", sys.argv[2])
        if not os.path.exists(plugin):
            self.skipTest(f"there is no PJRT plug-in at {plugin}")
        for mesh in ("batch=8", "batch=2,model=4", "batch=3"):
            self.expect_same(mesh, "--platform", "pjrt:" + plugin)
        self.expect_error("there is no PJRT plug-in at '/nowhere.so'", "--platform=pjrt:/nowhere.so")

    def test_logical_gpus_of_the_stand_in_driver(self):
        # It runs products thread by thread, so that the model and its data are small.
        small = ["--hidden=24", "--train", "264", "--test", "40"]
        reference = self.train("--mesh", "batch=8", *small)
        for mesh in ("batch=8", "batch=2,model=4"):
            self.expect_same(mesh, *small, "--platform", "cuda:driver=" + sys.argv[3],
                             reference=reference)

    def test_hidden_layers(self):
        _, text, losses = self.train("--hidden=700,500")
        self.assertRegex(text, r"w2: f32 700x500 ")
        self.assertLess(losses[-1], losses[0])

    def test_data_plain_and_gzipped(self):
        (digits,) = [p for p in self.reference[0].iterdir() if p.is_dir()]
        zipped = self.root / "zipped"
        zipped.mkdir()
        for file in digits.iterdir():
            with open(file, "rb") as source, gzip.open(zipped / (file.name + ".gz"), "wb") as target:
                shutil.copyfileobj(source, target)
        self.assertEqual(len(list(zipped.iterdir())), 4)
        for folder in (digits, zipped):
            self.assertEqual(self.train("--data", folder)[2], self.reference[2])

    def test_errors(self):
        self.expect_error("--mesh: expected AXIS=N, got \"batch\"", "--mesh", "batch")
        self.expect_error("--mesh batch=0: expected a number above 0", "--mesh", "batch=0")
        self.expect_error("axis 'batch' appears twice", "--mesh", "batch=2,batch=4")
        self.expect_error("expected 1 to 65536 devices", "--mesh", "batch=99999999")
        self.expect_error("there is no 'train-images-idx3-ubyte'", "--data", "/nowhere")
        self.expect_error("unknown option --bogus", "--bogus", "1")
        self.expect_error("--hidden: expected a number above 0", "--hidden=700,wide")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
