#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The model examples in their tiny sizes: files that they read and write,
mistakes on their command lines, and that benchmark/models.cpp gives the losses
of its twin in JAX. scripts/examples checks the losses that they print.

  examples_test.py BIN
"""
import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BIN = None


def run(program, *options, ok=True):
    done = subprocess.run([BIN / program, *options], capture_output=True, text=True)
    if ok != (done.returncode == 0):
        raise AssertionError(done.stdout + done.stderr)
    return done.stdout if ok else done.stderr


def losses(text):
    return [float(loss) for loss in re.findall(r"^step \d+: loss ([\d.]+),", text, re.M)]


class ExamplesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_weights_are_found_by_name(self):
        """Two steps from where two steps ended are not the first two."""
        file = self.folder / "w.safetensors"
        begin = losses(run("gpt2", "--steps=2", f"--save={file}"))
        length = int.from_bytes(file.read_bytes()[:8], "little")
        header = json.loads(file.read_bytes()[8:8 + length])
        self.assertEqual(header["wte.weight"]["shape"], [256, 32])
        self.assertEqual(header["h.0.attn.c_attn.weight"]["shape"], [32, 96])
        self.assertIn("h.1.attn.c_attn.bias", header)
        loaded = losses(run("gpt2", "--steps=2", f"--weights={file}", "--mesh=model=2"))
        self.assertLess(loaded[0], begin[0])
        self.assertIn("'cls_token' is missing",
                      run("vit", f"--weights={file}", ok=False))

    def test_resnet_names_a_file_that_is_cut_off(self):
        (self.folder / "data_batch_1.bin").write_bytes(bytes(3072))
        self.assertIn("records of 3073 bytes", run("resnet", self.folder, ok=False))

    def test_gpt2_reads_a_text_and_writes_on(self):
        text = self.folder / "text.txt"
        text.write_text("abc " * 100)
        wrote = run("gpt2", f"--data={text}", "--steps=60", "--rate=0.005", "--generate=12")
        self.assertTrue(wrote.endswith("abc abc abc \n"), wrote[-40:])

    def test_mistakes_are_named(self):
        for program, options, message in (
                ("gpt2", ["--size=huge"], "expected small or tiny"),
                ("gpt2", ["--generate=65"], "64 positions"),
                ("gpt2", ["--data=/none"], "cannot read"),
                ("lstm", ["--generate=1"], "unknown option --generate"),
                ("vit", ["--mesh=batch"], "expected AXIS=N"),
                ("vit", ["--batch=0"], "at least 1"),
                # Its description begins with a number, which is no value.
                ("gan", ["--small=1"], "--small takes no value"),
                ("gan", ["--replicas=0"], "at least 1"),
                ("keras_line", ["--strategy=none"], "expected mirrored, central")):
            with self.subTest(options):
                self.assertIn(message, run(program, *options, ok=False))

    def test_losses_are_those_of_jax(self):
        """Of benchmark/peers/models_jax.py, JAX 0.10.2."""
        program = BIN / "model_step"
        if not program.exists():
            self.skipTest("benchmarks are not built")
        for case, first, tenth in (("gpt2", 5.5459404, 5.4582057), ("vit", 2.3223081, 2.1705890),
                                   ("lstm", 4.6051807, 4.6049075), ("decode", 0.4038873, 0.4369895)):
            with self.subTest(case):
                got = json.loads(run("model_step", f"--model={case}", "--json"))
                self.assertAlmostEqual(got["loss_1"], first, delta=2e-5)
                self.assertAlmostEqual(got["loss_10"], tenth, delta=2e-5)


if __name__ == "__main__":
    BIN = Path(sys.argv.pop(1))
    unittest.main()
