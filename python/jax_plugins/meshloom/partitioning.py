# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""jax.experimental.custom_partitioning: Meshloom partitions the function itself.

The function says what its partitions compute together. So its own operations are
lowered, as JAX does on one device, and `partition` is not called.
"""

from jax._src import core, custom_partitioning, sharding_impls
from jax._src.interpreters import mlir


def _devices(axis_context):
    """Returns the devices that a program is lowered for, where they are known."""
    if isinstance(axis_context, sharding_impls.ShardingContext):
        return axis_context.device_assignment or ()
    if isinstance(axis_context, sharding_impls.SPMDAxisContext):
        return axis_context.mesh.devices.flat
    return ()


def _lower(ctx, *values, call, **parameters):
    device = next(iter(_devices(ctx.module_context.axis_context)), None)
    if "Meshloom" in getattr(getattr(device, "client", None), "platform_version", ""):
        function = core.jaxpr_as_fun(call)
        return mlir.lower_fun(function, multiple_results=True)(ctx, *values)
    lower = custom_partitioning._custom_partitioning_lowering_rule
    return lower(ctx, *values, call=call, **parameters)


def register() -> None:
    """Registers the lowering for the platform name that JAX's own client has, too."""
    mlir.register_lowering(custom_partitioning.custom_partitioning_p, _lower, platform="cpu")
