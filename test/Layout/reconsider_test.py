# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Automatic layouts that begin with a user's own are never predicted to be slower.

    reconsider_test.py MESH_OPT TRANSFORMER.mlir [--count=N]

N random programs with random layouts are predicted as their user compiles them, and with
--auto-layout --reconsider, to which these layouts are a start. So are the plans that people
write by hand for the training step TRANSFORMER (test/Scale/export_plain.py).
"""
import argparse
import random
import sys

from transformer_plans_test import MESHES, hand_plans, predicted, with_mesh, with_shardings

MACHINES = ("ring", "ring-latency", "shared-memory", "gpu:h100", "cpu:tcp")
SIZES = (64, 512, 2048)


def random_program(numbers):
    """Returns the text of a program of products, sums and functions of square tensors, whose
    arguments have random layouts."""
    axes = numbers.choice(([("x", 4)], [("x", 2), ("y", 4)]))
    size = numbers.choice(SIZES)
    mesh = ", ".join(f"{axis} = {devices}" for axis, devices in axes)

    def layout():
        dims = [[], []]
        for axis, _ in axes:
            if (dim := numbers.randrange(3)) < 2:
                dims[dim].append(axis)
        texts = [f"{{{', '.join(dim)}}}" if len(dim) > 1 else dim[0] if dim else "*" for dim in dims]
        return f", #dtensor.layout<#mesh, [{', '.join(texts)}]>"

    plain = f"tensor<{size}x{size}xf32>"
    types = {}
    for argument in range(numbers.randrange(2, 5)):
        types[f"%a{argument}"] = plain[:-1] + layout() + ">"
    arguments = ", ".join(f"{name}: {type}" for name, type in types.items())
    lines = []
    for number in range(numbers.randrange(2, 7)):
        operand, last = numbers.choice(list(types)), list(types)[-1]
        operands = f"({types[operand]}, {types[last]}) -> {plain}"
        kind = numbers.randrange(4)
        if kind == 0:
            op = f"dtensor.tanh {last} : ({types[last]}) -> {plain}"
        elif kind == 1:
            op = f"dtensor.add {operand}, {last} : {operands}"
        else:
            terms = numbers.choice(("[1] x [0]", "[0] x [0]", "[1] x [1]"))
            op = f"dtensor.dot_general {operand}, {last} contracting {terms} : {operands}"
        lines.append(f"    %{number} = {op}\n")
        types[f"%{number}"] = plain
    return (
        f"#mesh = #dtensor.mesh<{mesh}>\nmodule attributes {{dtensor.open_signature}} {{\n"
        f"  func.func @main({arguments}) -> {plain} {{\n{''.join(lines)}"
        f"    return {list(types)[-1]} : {plain}\n  }}\n}}\n"
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mesh_opt")
    parser.add_argument("transformer")
    parser.add_argument("--count", type=int, default=100)
    options = parser.parse_args()
    slower, faster = [], 0

    def compare(title, text, machine):
        nonlocal faster
        written = predicted(options.mesh_opt, text, machine, "--predict")[1]
        found = predicted(options.mesh_opt, text, machine, "--auto-layout", "--reconsider")[1]
        faster += found < written
        if found > written:
            slower.append(f"{title}, {machine}: {found} ps instead of {written} ps:\n{text[:4000]}")

    for number in range(options.count):
        numbers = random.Random(number)
        compare(f"program {number}", random_program(numbers), MACHINES[number % len(MACHINES)])
    plain = open(options.transformer).read()
    for title, mesh in MESHES.items():
        for name, layout in hand_plans(list(mesh)).items():
            text = with_shardings(with_mesh(plain, mesh), layout)
            compare(f"{name}, {title}", text, "tpu:v5e:2x4")
    if not faster:
        slower.append("no program is faster than with the layouts that it has")
    print(f"{faster} programs are faster than with the layouts that they have")
    sys.exit("\n".join(slower) or 0)


if __name__ == "__main__":
    main()
