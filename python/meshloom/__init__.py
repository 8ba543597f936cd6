# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs JAX on Meshloom's virtual devices, and shows what a program sends between devices.

`meshloom.use(devices=8)` makes them JAX's default platform in this process.

The other functions take a jitted function with its arguments, or a lowered program: StableHLO
as text (`jax.jit(f).lower(...).as_text()`) or as the bytes of a portable artifact. They
compile it with Meshloom's `mesh-opt` for a machine model, and run nothing. So the
program may be of any platform. docs/JAX.md has examples.
"""

from ._analysis import (
    ArgumentLayout,
    CollectivesError,
    Collective,
    assert_collectives,
    auto_layout,
    collectives,
    explain,
    predict,
    predict_pipeline,
    suggest,
    tool_path,
)
from ._picture import visualize
from ._platform import use

__all__ = [
    "ArgumentLayout",
    "Collective",
    "CollectivesError",
    "assert_collectives",
    "auto_layout",
    "collectives",
    "explain",
    "predict",
    "predict_pipeline",
    "suggest",
    "tool_path",
    "use",
    "visualize",
]
