#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs x layouts x meshes, each checked by `mesh-run --verify`
against the reference interpreter. Seeds are fixed, so a failure repeats:

  test/Compiler/random_programs.py build/bin/mesh-run --seed=263 --count=1 --keep

Meshes of one to three axes, tensors of up to five dims with uneven and
one-element extents, pending reductions in arguments, constraints and relayouts
in between. Flags go round robin over machines, refinement and memories.
"""
import argparse
import math
import pathlib
import random
import subprocess
import sys
import tempfile

MESHES = [{"x": 2, "y": 4}, {"x": 3, "y": 2}, {"x": 2}, {"x": 2, "y": 2, "z": 2}, {"x": 4, "y": 2}]
FLAGS = [["--machine=ring", "--no-refine"], ["--machine=ring"], [], ["--private-memories"]]


def tensor(shape, layout=None):
    dims = "".join(f"{d}x" for d in shape)
    return f"tensor<{dims}f32{', ' + layout if layout else ''}>"


class Program:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.mesh = self.random.choice(MESHES)
        self.sizes = [self.random.choice([1, 2, 3, 4, 5, 6, 8, 9]) for _ in range(3)]
        self.values, self.lines = [], []
        for i in range(self.random.randint(2, 4)):
            shape = [self.random.choice(self.sizes) for _ in range(self.random.randint(0, 3))]
            has_layout = self.random.random() < 0.75
            layout = self.layout(len(shape), self.random.random() < 0.2) if has_layout else None
            self.values.append((f"%a{i}", shape, tensor(shape, layout)))
        self.arguments = list(self.values)
        for _ in range(self.random.randint(3, 12)):
            self.step()

    def layout(self, rank, may_be_partial=False):
        axes = list(self.mesh)
        self.random.shuffle(axes)
        dims = []
        for _ in range(rank):
            count = min(self.random.choice([0, 0, 1, 1, 2]), len(axes))
            taken = [axes.pop() for _ in range(count)]
            dims.append({0: "*", 1: "".join(taken)}.get(count, "{" + ", ".join(taken) + "}"))
        partial = ""
        if may_be_partial and axes and self.random.random() < 0.4:
            kind = self.random.choice(["sum", "sum", "max", "min"])
            over = axes[:self.random.randint(1, len(axes))]
            partial = " partial<" + ", ".join(f"{axis}: {kind}" for axis in over) + ">"
        return f"#dtensor.layout<#mesh, [{', '.join(dims)}]{partial}>"

    def emit(self, op, shape, operands, text, kind=None):
        name, kind = f"%{len(self.lines)}", kind or tensor(shape)
        types = ", ".join(operand[2] for operand in operands)
        self.lines.append(f"  {name} = dtensor.{op} {text} : ({types}) -> {kind}")
        self.values.append((name, shape, kind))
        return self.values[-1]

    def step(self):
        r = self.random
        value = r.choice(self.values[-6:] if r.random() < 0.7 else self.values)
        name, shape, _ = value
        choice = r.choice([self.unary, self.binary, self.binary, self.reduce, self.transpose, self.broadcast,
                           self.dot, self.dot, self.reshape, self.relayout, self.slice])
        choice(value, name, shape)

    def unary(self, value, name, shape):
        self.emit(self.random.choice(["negate", "tanh", "abs", "logistic"]), shape, [value], name)

    def binary(self, value, name, shape):
        other = self.random.choice([v for v in self.values if v[1] == shape])
        # No subtract: what is left of equal values is rounding alone.
        op = self.random.choice(["add", "add", "multiply", "maximum", "minimum"])
        self.emit(op, shape, [value, other], f"{name}, {other[0]}")

    def reduce(self, value, name, shape):
        if not shape:
            return
        dims = sorted(self.random.sample(range(len(shape)), self.random.randint(1, len(shape))))
        kind = self.random.choice(["sum", "sum", "max", "min", "prod"])
        self.emit("reduce", [d for i, d in enumerate(shape) if i not in dims], [value], f"{kind} {name} dims {dims}")

    def transpose(self, value, name, shape):
        order = self.random.sample(range(len(shape)), len(shape))
        if order:
            self.emit("transpose", [shape[i] for i in order], [value], f"{name} dims {order}")

    def broadcast(self, value, name, shape):
        if len(shape) > 2:
            return
        dim = self.random.randint(0, len(shape))
        dims = [i for i in range(len(shape) + 1) if i != dim]
        self.emit("broadcast_in_dim", shape[:dim] + [self.random.choice(self.sizes)] + shape[dim:], [value],
                  f"{name} dims {dims}")

    def dot(self, value, name, shape):
        pairs = [(other, i, j) for other in self.values for i in range(len(shape)) for j in range(len(other[1]))
                 if other[1][j] == shape[i] and len(shape) + len(other[1]) <= 5]
        if not pairs:
            return
        other, i, j = self.random.choice(pairs)
        result = [d for k, d in enumerate(shape) if k != i] + [d for k, d in enumerate(other[1]) if k != j]
        self.emit("dot_general", result, [value, other], f"{name}, {other[0]} contracting [{i}] x [{j}]")

    def reshape(self, value, name, shape):
        count = math.prod(shape)
        first = self.random.choice([d for d in range(1, count + 1) if count % d == 0])
        self.emit("reshape", [first, count // first], [value], name)

    def relayout(self, value, name, shape):
        op = self.random.choice(["constraint", "relayout"])
        self.emit(op, shape, [value], name, tensor(shape, self.layout(len(shape))))

    def slice(self, value, name, shape):
        if not shape:
            return
        limits = [(0, d) for d in shape]
        dim = self.random.randrange(len(shape))
        begin = self.random.randint(0, shape[dim] - 1)
        limits[dim] = (begin, self.random.randint(begin + 1, shape[dim]))
        ranges = ", ".join(f"{a}:{b}" for a, b in limits)
        self.emit("slice", [b - a for a, b in limits], [value], f"{name} [{ranges}]")

    def text(self):
        computed = self.values[len(self.arguments):] or self.values
        results = []
        for value in self.random.sample(computed, min(len(computed), self.random.randint(1, 3))):
            if self.random.random() < 0.4:
                name, shape, _ = value
                value = self.emit("constraint", shape, [value], name, tensor(shape, self.layout(len(shape))))
            results.append(value)
        axes = ", ".join(f"{axis} = {size}" for axis, size in self.mesh.items())
        arguments = ", ".join(f"{name}: {kind}" for name, _, kind in self.arguments)
        kinds = ", ".join(kind for _, _, kind in results)
        return "\n".join([f"#mesh = #dtensor.mesh<{axes}>", f"func.func @main({arguments}) -> ({kinds}) {{",
                          *self.lines, f"  return {', '.join(name for name, _, _ in results)} : {kinds}", "}", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mesh_run")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--keep", action="store_true", help="print failing programs")
    options = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(options.seed, options.seed + options.count):
            path = pathlib.Path(folder) / f"program_{seed}.mlir"
            path.write_text(Program(seed).text())
            command = [options.mesh_run, str(path), "--verify", *FLAGS[seed % len(FLAGS)]]
            run = subprocess.run(command, capture_output=True, text=True, timeout=300)
            if run.returncode == 0:
                continue
            failed += 1
            lines = [line for line in (run.stderr + run.stdout).splitlines() if not line.endswith(": ok")]
            print(f"seed {seed} {' '.join(command[2:])}: exit {run.returncode}", *lines[-5:], sep="\n  ")
            if options.keep:
                print(path.read_text())
    print(f"{options.count - failed} of {options.count} programs agree with the reference interpreter")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
