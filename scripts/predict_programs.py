#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the table of docs/Predictions.md: programs with their predicted and measured times.

usage: predict_programs.py [--tool=build/bin/mesh-run] [--machine=FILE] [--update]

Calibrates this machine (unless --machine names a model of it), runs every program on virtual
CPUs with one worker, and prints for each the predicted time of a step, the time of the
shortest of many, and the error. --update writes the table to docs/Predictions.md. Takes two
minutes.
"""
import argparse
import array
import json
import math
import os
import pathlib
import random
import re
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = ["mnist_mlp_step", "mnist_mlp_step_sharded", "mnist_mlp_step_tensor", "attention",
            "softmax", "conv_spatial", "scan_over_layers", "megatron_mlp"]
CASES = ["attention_forward", "conv_net_train_data_parallel", "cross_entropy_class_sharded",
         "embedding_vocabulary_sharded", "key_value_cache_update",
         "layer_norm_features_sharded", "matmul_conflicting_operands",
         "megatron_mlp_forward", "mixture_of_experts_einsum",
         "mlp_train_data_and_tensor_parallel", "mlp_train_data_parallel",
         "sort_and_top_k_batch_sharded", "transformer_block_train"]
# Kind, size, devices.
MADE = [("products", 256, 1), ("products", 512, 2), ("products", 1024, 1), ("products", 1024, 4),
        ("layers", 256, 1), ("layers", 512, 4), ("layers", 1024, 8),
        ("sums", 1 << 16, 1), ("sums", 1 << 20, 2), ("sums", 1 << 23, 4)]


def program_text(kind, size, devices):
    """A program whose rows are cut over the devices: `products` is one product, `layers`
    four products with tanh, `sums` a sum of two vectors."""
    mesh = f"#mesh = #dtensor.mesh<x = {devices}>\n"
    if kind == "sums":
        row = f"tensor<{size}xf32, #dtensor.layout<#mesh, [x]>>"
        lines, last = [f"  %0 = dtensor.add %a, %b : {row}"], "%0"
        second = row
    else:
        square = f"tensor<{size}x{size}xf32"
        row = f"{square}, #dtensor.layout<#mesh, [x, *]>>"
        second = f"{square}, #dtensor.layout<#mesh, [*, *]>>"
        lines, last = [], "%a"
        for layer in range(1 if kind == "products" else 4):
            lines.append(f"  %p{layer} = dtensor.matmul {last}, %b : ({row}, {second}) -> {row}")
            last = f"%p{layer}"
            if kind == "layers":
                lines.append(f"  %t{layer} = dtensor.tanh {last} : {row}")
                last = f"%t{layer}"
    body = "\n".join(lines)
    return (f"{mesh}func.func @main(%a: {row}, %b: {second}) -> {row} {{\n{body}\n"
            f"  return {last} : {row}\n}}\n")


def programs(folder):
    """Name and path of each program. A run keeps its arguments for the next one, so that a
    step would copy those that it updates in place: it updates none."""
    for name in PROGRAMS:
        text = (ROOT / "test" / "Programs" / f"{name}.mlir").read_text()
        path = folder / f"{name}.mlir"
        path.write_text(re.sub(r", dtensor\.alias = \d+ : i64", "", text))
        yield f"Programs/{name}", path
    for name in CASES:
        yield f"Cases/{name}", ROOT / "test" / "Cases" / name / "program.mlir"
    for kind, size, devices in MADE:
        path = folder / f"{kind}_{size}_{devices}.mlir"
        path.write_text(program_text(kind, size, devices))
        yield f"{kind} of {size}, {devices} device{'s' if devices > 1 else ''}", path


def run(tool, *arguments):
    subprocess.run([tool, *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)


# Element type in a program: NumPy's name of it, the format of Python's array module.
TYPES = {"f32": ("<f4", "f"), "i32": ("<i4", "i"), "i1": ("|b1", "b")}


def write_input(path, dtype, shape):
    """Writes a global value as .npy: floats in [0, 0.1), so that gradients are no denormal
    numbers, which a processor works on slowly, and small integers, which are classes and
    rows of tables."""
    name, code = TYPES[dtype]
    count = math.prod(shape)
    numbers = random.Random(0)
    values = ([0.1 * numbers.random() for _ in range(count)] if code == "f"
              else [numbers.randrange(2 if code == "b" else 8) for _ in range(count)])
    header = f"{{'descr': '{name}', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little")
                     + header.encode() + array.array(code, values).tobytes())


def inputs(tool, program, folder):
    """Options of mesh-run with an input for each argument of the program."""
    facts = folder / "facts.json"
    run(tool, program, "--compile-only", f"--explain={facts}")
    described = json.loads(facts.read_text())["programs"][0]
    options = []
    for number, argument in enumerate(described["arguments"]):
        tensor = described["tensors"][argument["tensor"]]
        path = folder / f"input_{number}.npy"
        write_input(path, tensor["type"], tensor["shape"])
        options.append(f"--input={path}")
    return options


def times(tool, machine, program, folder):
    """The predicted time of a step and the shortest measured one, in milliseconds. What
    else the machine does makes runs longer, so they are many, and in several processes."""
    stats = folder / "stats.json"
    arguments = [program, "--workers=1", f"--machine={machine}", f"--stats={stats}",
                 *inputs(tool, program, folder)]
    best, repeat = math.inf, 20
    for _ in range(4):
        run(tool, *arguments, f"--repeat={repeat}")
        found = json.loads(stats.read_text())
        best = min(best, found["best_step_ms"])
        repeat = max(20, min(50000, int(700 / best)))
    return found["predicted"]["step_ms"], best


def table(rows):
    text = "| program | predicted, us | measured, us | error |\n|---|---|---|---|\n"
    for name, predicted, measured in rows:
        error = 100 * (predicted / measured - 1)
        text += f"| {name} | {1000 * predicted:.1f} | {1000 * measured:.1f} | {error:+.0f} % |\n"
    errors = sorted(abs(predicted / measured - 1) for _, predicted, measured in rows)
    within = sum(error <= 0.15 for error in errors)
    return text + (f"\n{within} of {len(errors)} programs are within 15 %. The median error is "
                   f"{100 * errors[len(errors) // 2]:.0f} %, the largest one "
                   f"{100 * errors[-1]:.0f} %.\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tool", default=str(ROOT / "build" / "bin" / "mesh-run"))
    parser.add_argument("--machine")
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    os.environ["MESHLOOM_CACHE"] = "off"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        machine = options.machine or folder / "machine.json"
        if not options.machine:
            run(options.tool, f"--calibrate={machine}", "--workers=1")
        rows = [(label, *times(options.tool, machine, path, folder))
                for label, path in programs(folder)]
    text = table(rows)
    print(text)
    if options.update:
        page = ROOT / "docs" / "Predictions.md"
        head, _, rest = page.read_text().partition("<!-- table -->\n")
        _, _, tail = rest.partition("<!-- end of table -->\n")
        page.write_text(f"{head}<!-- table -->\n{text}<!-- end of table -->\n{tail}")


if __name__ == "__main__":
    main()
