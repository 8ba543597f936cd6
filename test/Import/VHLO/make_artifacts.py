#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes Inputs/*.mlirbc, artifacts that the tests beside it read, by JAX.

The programs are StableHLO texts of ../StableHLO, written for several target versions of StableHLO, and one function that
`jax.export` serializes as a user would.

usage: make_artifacts.py    (by a Python that has JAX 0.10.2)
"""

import io
import pathlib

import jax
import jax.numpy as jnp
from jax import export
from jax._src.interpreters import mlir as jax_mlir
from jax.sharding import NamedSharding, PartitionSpec
from jaxlib import _jax
from jaxlib.mlir import ir

HERE = pathlib.Path(__file__).parent
TEXTS = HERE.parent / "StableHLO"

PROGRAMS = [
    (TEXTS / "Releases/jax-0.10.2-step.mlir", "step", ["0.9.0", "1.0.0", "1.5.0", "1.8.5", "1.13.3", "1.17.0"]),
    (TEXTS / "run-manual-column.mlir", "manual-column", ["1.13.3"]),
    (TEXTS / "run-narrow-types.mlir", "narrow-types", ["1.13.3"]),
    (TEXTS / "run-futures.mlir", "futures", ["1.17.0"]),
    (HERE / "Inputs/minifloats.mlir", "minifloats", ["1.13.3"]),
]


def write_text(source, name, versions):
    with jax_mlir.make_ir_context():
        module = ir.Module.parse(source.read_text())
        bytecode = io.BytesIO()
        module.operation.write_bytecode(bytecode)
        for version in versions:
            artifact = _jax.mlir.serialize_portable_artifact(bytecode.getvalue(), version, True)
            (HERE / f"Inputs/{name}-{version}.mlirbc").write_bytes(artifact)


def write_export():
    mesh = jax.make_mesh((2,), ("batch",))
    rows = NamedSharding(mesh, PartitionSpec("batch"))

    def mlp(x, w):
        return jnp.tanh(x @ w).sum(axis=1)

    shapes = jax.ShapeDtypeStruct((8, 4), jnp.float32), jax.ShapeDtypeStruct((4, 16), jnp.float32)
    exported = export.export(jax.jit(mlp, in_shardings=(rows, None), out_shardings=rows))(*shapes)
    (HERE / "Inputs/exported.bin").write_bytes(exported.serialize())


def main():
    (HERE / "Inputs").mkdir(exist_ok=True)
    for source, name, versions in PROGRAMS:
        write_text(source, name, versions)
    write_export()


main()
