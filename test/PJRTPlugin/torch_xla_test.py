# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch on virtual devices of the plug-in, by torch_xla.

  python torch_xla_test.py PLUGIN

A Python without torch_xla is a skip (exit code 77, for ctest). torch_xla finds the plug-in
by the entry point that pyproject.toml has. A mesh is for a whole process, so the tests with
one have a process of their own.
"""
import copy
import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PYTHON = Path(__file__).resolve().parents[2] / "python"


def run_test_cases(plugin: str) -> int:
    """Runs each test case in a process, where the package looks as if it were installed."""
    sys.path.insert(0, str(PYTHON))
    from build_wheel import metadata, project

    with tempfile.TemporaryDirectory() as scratch:
        installed = Path(scratch, "meshloom_jax-0.dist-info")
        installed.mkdir()
        for name, text in metadata(project()).items():
            (installed / name).write_text(text)
        environment = os.environ | {
            "MESHLOOM_PJRT_PLUGIN": os.path.abspath(plugin),
            "PJRT_DEVICE": "MESHLOOM",
            "PYTHONPATH": os.pathsep.join([str(PYTHON), scratch]),
        }
        return max(
            subprocess.run([sys.executable, __file__, "case", case],
                           env=environment | {"MESHLOOM_DEVICES": devices}).returncode
            for case, devices in {"OneDevice": "1", "OnMesh": "8"}.items()
        )


if __name__ == "__main__":
    if importlib.util.find_spec("torch_xla") is None:
        print("SKIP: this Python has no torch_xla")
        sys.exit(77)
    if sys.argv[1] != "case":
        sys.exit(run_test_cases(sys.argv[1]))
    del sys.argv[1]

import numpy as np
import torch
import torch_xla
import torch_xla.distributed.spmd as spmd
import torch_xla.runtime
from torch import nn
from torch.nn import functional as F


class ResidualBlock(nn.Module):
    def __init__(self, inputs: int, outputs: int, stride: int):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs),
            nn.ReLU(), nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False), nn.BatchNorm2d(outputs))
        self.shortcut = nn.Identity() if inputs == outputs else nn.Sequential(
            nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        return F.relu(self.body(x) + self.shortcut(x))


class ResNet18(nn.Sequential):
    def __init__(self, width: int, classes: int):
        blocks, inputs = [], width
        for outputs, stride in [(width, 1), (2 * width, 2), (4 * width, 2), (8 * width, 2)]:
            blocks += [ResidualBlock(inputs, outputs, stride), ResidualBlock(outputs, outputs, 1)]
            inputs = outputs
        super().__init__(
            nn.Conv2d(3, width, 7, 2, 3, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
            nn.MaxPool2d(3, 2, 1), *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(),
            nn.Linear(inputs, classes))


class AttentionBlock(nn.Module):
    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.projections = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        queries, keys, values = (
            part.unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for part in self.projections(self.norms[0](x)).chunk(3, -1))
        heads = F.scaled_dot_product_attention(queries, keys, values, is_causal=True)
        x = x + self.out(heads.transpose(1, 2).flatten(2))
        return x + self.down(F.gelu(self.up(self.norms[1](x))))


class GPT(nn.Module):
    def __init__(self, words: int, length: int, width: int, heads: int):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(words, width), nn.Embedding(length, width)
        self.blocks = nn.Sequential(AttentionBlock(width, heads), AttentionBlock(width, heads))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words)

    def forward(self, words):
        x = self.tokens(words) + self.positions(torch.arange(words.shape[1], device=words.device))
        return self.head(self.norm(self.blocks(x))).flatten(0, 1)


class Training(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # PyTorch asks for the devices before the first gradient on CPU.
        cls.device = torch_xla.device()
        torch.manual_seed(0)

    def losses(self, model, x, labels, optimizer):
        """Returns the losses of three steps, as numbers."""
        losses = []
        for _ in range(3):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), labels.flatten())
            loss.backward()
            optimizer.step()
            torch_xla.sync()
            losses.append(loss.item())
        return losses

    def compare(self, model, x, labels, optimizer, shard=lambda model, x, labels: None):
        """Trains a model on CPU and on the device, and compares losses and weights."""
        other = copy.deepcopy(model).to(self.device)
        arguments = x.to(self.device), labels.to(self.device)
        shard(other, *arguments)
        expected = self.losses(model, x, labels, optimizer(model.parameters()))
        losses = self.losses(other, *arguments, optimizer(other.parameters()))
        np.testing.assert_allclose(losses, expected, rtol=1e-3)
        self.assertLess(losses[2], losses[0])
        weights = other.state_dict()
        for name, weight in model.state_dict().items():
            torch.testing.assert_close(weights[name].cpu(), weight, rtol=1e-2, atol=1e-3)
        return other

    def gpt(self):
        return GPT(64, 16, 32, 4), torch.randint(64, (4, 16)), torch.randint(64, (4, 16))


class OneDevice(Training):
    def test_resnet18(self):
        self.compare(ResNet18(8, 10), torch.randn(16, 3, 32, 32), torch.randint(10, (16,)),
                     lambda weights: torch.optim.SGD(weights, 0.01, momentum=0.9))

    def test_gpt(self):
        self.compare(*self.gpt(), lambda weights: torch.optim.AdamW(weights, 1e-3, eps=1e-4))

    def test_compiled_function(self):
        compiled = torch.compile(lambda x: (x.sin() + x @ x).tanh(), backend="openxla")
        x = torch.randn(4, 4)
        torch.testing.assert_close(compiled(x.to(self.device)).cpu(), (x.sin() + x @ x).tanh())


class OnMesh(Training):
    @classmethod
    def setUpClass(cls):
        torch_xla.runtime.use_spmd()
        super().setUpClass()

    def test_gpt(self):
        mesh = spmd.Mesh(np.arange(8), (4, 2), ("data", "model"))

        def shard(model, x, labels):
            spmd.mark_sharding(x, mesh, ("data", None))
            spmd.mark_sharding(labels, mesh, ("data", None))
            for block in model.blocks:
                for layer in (block.projections, block.up):
                    spmd.mark_sharding(layer.weight, mesh, ("model", None))
                for layer in (block.out, block.down):
                    spmd.mark_sharding(layer.weight, mesh, (None, "model"))

        model = self.compare(
            *self.gpt(), lambda weights: torch.optim.AdamW(weights, 1e-3, eps=1e-4), shard)
        self.assertIn("devices=[2,1,4]",
                      torch_xla._XLAC._get_xla_sharding_spec(model.blocks[0].up.weight))


if __name__ == "__main__":
    unittest.main()
