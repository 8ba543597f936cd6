"""Counts the instructions of each compiler pass on programs of n and 4n parts,
with callgrind, and fails where a pass grows faster than the program.

  python count_growth.py path/to/mesh-opt [--machine=NAME] [--parts=N] [program ...]

Programs: `layers`, transformer blocks written out with their gradients on a mesh
of 2x4; `chain`, products, sums and tanh, one after the other; `fan`, one value
that everything uses. A pass is what its runOnOperation costs with all that it
calls, so that load and caches of the machine do not matter. Four times the parts
may cost 4 x 1.3 times as much; passes below a hundredth of the whole are printed
only. Exit code 77 (a skip, for ctest) where there is no valgrind.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

GROWTH, MOST, LEAST_SHARE = 4, 1.3, 0.01
D, H, S, B = 64, 4, 16, 8  # width, heads, tokens, batch


class Text:
    """StableHLO with Shardy annotations, op by op."""

    def __init__(self):
        self.arguments, self.lines, self.types = [], [], {}

    @staticmethod
    def type(shape):
        return f"tensor<{'x'.join(map(str, shape + ('f32',)))}>"

    def argument(self, shape, *axes):
        name = f"%arg{len(self.arguments)}"
        dims = ", ".join(f'{{"{a}"}}' if a else "{}" for a in axes)
        self.arguments.append(f"{name}: {self.type(shape)} "
                              f"{{sdy.sharding = #sdy.sharding<@mesh, [{dims}]>}}")
        self.types[name] = shape
        return name

    def add(self, text, shape):
        name = f"%v{len(self.lines)}"
        self.lines.append(f"    {name} = {text}")
        self.types[name] = shape
        return name

    def unary(self, op, a):
        return self.add(f"stablehlo.{op} {a} : {self.type(self.types[a])}", self.types[a])

    def binary(self, op, a, b):
        return self.add(f"stablehlo.{op} {a}, {b} : {self.type(self.types[a])}", self.types[a])

    def dot(self, a, b, contract, batch=((), ())):
        left, right = self.types[a], self.types[b]
        shape = tuple(left[i] for i in batch[0])
        shape += tuple(n for i, n in enumerate(left) if i not in batch[0] + contract[0])
        shape += tuple(n for i, n in enumerate(right) if i not in batch[1] + contract[1])
        dims = f"contracting_dims = {list(contract[0])} x {list(contract[1])}"
        if batch[0]:
            dims = f"batching_dims = {list(batch[0])} x {list(batch[1])}, " + dims
        return self.add(f"stablehlo.dot_general {a}, {b}, {dims} : ({self.type(left)}, "
                        f"{self.type(right)}) -> {self.type(shape)}", shape)

    def reshape(self, a, shape):
        return self.add(f"stablehlo.reshape {a} : ({self.type(self.types[a])}) -> "
                        f"{self.type(shape)}", shape)

    def transpose(self, a, order):
        shape = tuple(self.types[a][i] for i in order)
        return self.add(f"stablehlo.transpose {a}, dims = {list(order)} : "
                        f"({self.type(self.types[a])}) -> {self.type(shape)}", shape)

    def reduce(self, op, init, a, dims):
        kept = [i for i in range(len(self.types[a])) if i not in dims]
        shape = tuple(self.types[a][i] for i in kept)
        start = self.add(f"stablehlo.constant dense<{init}> : tensor<f32>", ())
        return self.add(f"stablehlo.reduce({a} init: {start}) applies stablehlo.{op} across "
                        f"dimensions = {list(dims)} : ({self.type(self.types[a])}, "
                        f"tensor<f32>) -> {self.type(shape)}", shape)

    def broadcast(self, a, dims, shape):
        return self.add(f"stablehlo.broadcast_in_dim {a}, dims = {list(dims)} : "
                        f"({self.type(self.types[a])}) -> {self.type(shape)}", shape)

    def module(self, result):
        return "\n".join(
            ['module {', '  sdy.mesh @mesh = <["batch"=2, "model"=4]>',
             f"  func.func public @main({', '.join(self.arguments)}) -> "
             f"{self.type(self.types[result])} {{", *self.lines,
             f"    return {result} : {self.type(self.types[result])}", "  }", "}", ""])


def layers(n):
    t = Text()
    h = t.argument((B, S, D), "batch", None, None)

    def weight(rows, columns, *axes):
        return t.argument((rows, columns), *axes)

    def product(x, w):
        return t.dot(x, w, ((2,), (0,)))

    def norm(x):
        shape = t.types[x]
        square = t.reduce("add", "0.0", t.binary("multiply", x, x), (2,))
        return t.binary("multiply", x,
                        t.broadcast(t.unary("rsqrt", square), (0, 1), shape))

    def heads(x):
        return t.transpose(t.reshape(x, (B, S, H, D // H)), (0, 2, 1, 3))

    for _ in range(n):
        x = norm(h)
        q, k, v = (heads(product(x, weight(D, D, None, "model"))) for _ in range(3))
        scores = t.unary("exponential", t.dot(q, k, ((3,), (3,)), ((0, 1), (0, 1))))
        sums = t.reduce("add", "0.0", scores, (3,))
        share = t.binary("divide", scores, t.broadcast(sums, (0, 1, 2), t.types[scores]))
        mixed = t.dot(share, v, ((3,), (2,)), ((0, 1), (0, 1)))
        mixed = t.reshape(t.transpose(mixed, (0, 2, 1, 3)), (B, S, D))
        h = t.binary("add", h, product(mixed, weight(D, D, "model", None)))
        up = t.unary("tanh", product(norm(h), weight(D, 4 * D, None, "model")))
        h = t.binary("add", h, product(up, weight(4 * D, D, "model", None)))
    return t.module(t.reduce("add", "0.0", h, (0, 1, 2))), True


def chain(n):
    t = Text()
    value = before = t.argument((256, 256), "batch", None)
    for _ in range(n):
        w = t.argument((256, 256), None, "model")
        value, before = t.dot(value, w, ((1,), (0,))), value
        value, before = t.binary("add", value, before), value
        value, before = t.unary("tanh", value), value
    return t.module(value), False


def fan(n):
    t = Text()
    x = t.argument((256, 256), "batch", None)
    value = x
    for _ in range(n):
        w = t.argument((256, 256), None, "model")
        value = t.unary("tanh", t.binary("add", value, t.dot(x, w, ((1,), (0,)))))
    return t.module(value), False


# Large enough for RefineLayouts to fold them.
PROGRAMS = dict(layers=(layers, 12), chain=(chain, 300), fan=(fan, 300))


def counts(tool, program, parts, machine, folder):
    """Instructions of each pass, and of all."""
    text, gradient = program(parts)
    path, ready, out = (os.path.join(folder, name) for name in ("in", "ready", "counts"))
    with open(path, "w") as file:
        file.write(text)
    passes = ["--stablehlo-to-dtensor"] + ["--dtensor-gradient"] * gradient
    subprocess.run([tool, path, *passes, "-o", ready], check=True)
    subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", tool,
                    ready, "--target=cpu", f"--machine={machine}", "-o", os.devnull],
                   check=True, stderr=subprocess.DEVNULL)
    listing = subprocess.run(["callgrind_annotate", "--inclusive=yes", "--threshold=100", out],
                             check=True, capture_output=True, text=True).stdout
    found = {}
    for line in listing.splitlines():
        number = re.match(r"\s*([\d,]+) \(", line)
        name = re.search(r"meshloom::.*?(\w+?)(Pass)?::runOnOperation\(\)", line)
        if not number:
            continue
        value = int(number[1].replace(",", ""))
        if "PROGRAM TOTALS" in line:
            found["all"] = value
        elif name:
            found[name[1]] = max(found.get(name[1], 0), value)
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("programs", nargs="*", default=list(PROGRAMS))
    parser.add_argument("--machine", default="ring")
    parser.add_argument("--parts", type=int)
    parser.add_argument("--passes", help="hold these only to the limit, as in Refine|Propagate")
    args = parser.parse_args()
    if not shutil.which("valgrind") or not shutil.which("callgrind_annotate"):
        print("skipped: there is no valgrind")
        return 77
    bad = []
    for name in args.programs:
        program, parts = PROGRAMS[name]
        parts = args.parts or parts
        with tempfile.TemporaryDirectory() as folder:
            few = counts(args.tool, program, parts, args.machine, folder)
            many = counts(args.tool, program, GROWTH * parts, args.machine, folder)
        print(f"{name}, {args.machine}: instructions of {parts} and {GROWTH * parts} parts")
        for key in sorted(many, key=many.get, reverse=True):
            growth = many[key] / few.get(key, many[key])
            held = many[key] >= LEAST_SHARE * many["all"] and (
                not args.passes or re.search(args.passes, key))
            over = held and growth > GROWTH * MOST
            print(f"  {key:28} {few.get(key, 0):15,} {many[key]:15,}  {growth:6.2f}"
                  f"{'  too fast' if over else ''}")
            if over:
                bad.append(f"{key} on {name}")
    if bad:
        print("faster than the program: " + ", ".join(bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
