# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""jax.experimental.custom_partitioning: functions that say how they are partitioned.

The lowered program calls the function with its own operations, marked by a name, so that
every reader of the program can compile it. When JAX compiles it for Meshloom's devices, the
layouts around each marked call are looked up first. The user's `partition` gets them, and
the call becomes a shard_map of the function and the layouts that `partition` returns.
"""

import uuid
import weakref

import jax
import numpy as np
from jax._src import compiler, core, custom_partitioning, sharding_impls, traceback_util
from jax._src import mesh as mesh_lib
from jax._src.interpreters import mlir
from jax._src.lib.mlir import ir
from jax._src.lib.mlir.dialects import hlo
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec
from jaxlib import xla_client

from . import callbacks, factors

_ATTRIBUTES = "mhlo.frontend_attributes"
_MARK = "meshloom.partitioned_call"

# Calls of programs that have been lowered, by name, as long as the program lives. A program
# that another process has lowered has other names.
_calls = weakref.WeakValueDictionary()


class _Call:
    """A call of a function with custom_partitioning."""

    def __init__(self, mesh, call, parameters):
        self.mesh = mesh
        self.partition = parameters["partition"]
        self.static_args = parameters["static_args"]
        self.operands, self.results = call.in_avals, call.out_avals
        self.in_tree, self.out_tree = parameters["in_tree"], parameters["out_tree"]
        self.rule = None
        if parameters["sharding_rule"] is not None:
            types = [[ir.RankedTensorType.get(aval.shape, mlir.dtype_to_ir_type(aval.dtype))
                      for aval in avals] for avals in (self.operands, self.results)]
            self.rule = factors.Rule(parameters["sharding_rule"], self.static_args, mesh, *types)

    def module(self, specs):
        """Returns the bytes of a lowered function of global values, which is partitioned as
        the user says where the values have these layouts."""
        count = len(self.operands)
        if self.rule:
            specs = specs[:count] + self.rule.results_of(specs[:count], self.mesh.shape)
        shapes = [
            jax.ShapeDtypeStruct(aval.shape, aval.dtype, sharding=NamedSharding(
                self.mesh, PartitionSpec(*spec, *[None] * (len(aval.shape) - len(spec)))))
            for aval, spec in zip(self.operands + self.results, specs, strict=True)]
        mesh, function, result_shardings, operand_shardings = self.partition(
            *self.static_args, self.mesh, self.in_tree.unflatten(shapes[:count]),
            self.out_tree.unflatten(shapes[count:]))
        sharded = jax.shard_map(
            function, mesh=mesh, check_vma=False,
            in_specs=_specs(self.in_tree, operand_shardings, self.operands, mesh),
            out_specs=_specs(self.out_tree, result_shardings, self.results, mesh))
        operands = self.in_tree.unflatten(
            [jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in self.operands])
        with callbacks.OutsideOfMeshes():
            traced = jax.jit(sharded).trace(*operands)
            self._check(jax.tree.leaves(traced.out_info))
            lowered = traced.lower()
        if lowered._lowering.compile_args["host_callbacks"]:
            raise NotImplementedError(
                "the function that `partition` of a custom_partitioning returns calls Python "
                "(pure_callback, io_callback, jax.debug.print), which Meshloom does not support "
                "there: call Python outside of it")
        return mlir.module_to_bytecode(lowered.compiler_ir())

    def _check(self, results):
        types = [[(value.shape, value.dtype) for value in values]
                 for values in (results, self.results)]
        if types[0] != types[1]:
            raise ValueError(
                f"Mismatch in result shapes. The function that `partition` of a "
                f"custom_partitioning returned has the global results {types[0]} with the result "
                f"shardings that `partition` returned; expected {types[1]}")


def _specs(tree, shardings, avals, mesh):
    """Returns shardings that the user's `partition` has returned as PartitionSpecs of a mesh."""
    specs = []
    for sharding, aval in zip(tree.flatten_up_to(shardings), avals):
        if not isinstance(sharding, jax.sharding.Sharding):
            raise ValueError("Custom Partitioning rules must return Sharding.")
        tiles = sharding._to_xla_hlo_sharding(len(aval.shape))
        specs.append(sharding_impls.parse_flatten_op_sharding(tiles, mesh)[0])
    return tree.unflatten(specs)


def _mesh(axis_context):
    """Returns the mesh of the program that is lowered, or None."""
    mesh = mesh_lib.thread_resources.env.physical_mesh
    devices = axis_context.device_assignment
    abstract = axis_context.abstract_mesh
    if devices is not None and abstract is not None:
        mesh = Mesh(np.array(devices).reshape(abstract.axis_sizes), abstract.axis_names)
    if mesh.empty:
        return None
    return Mesh(mesh.devices, mesh.axis_names, axis_types=(AxisType.Auto,) * mesh.devices.ndim)


def _devices(axis_context):
    """Returns the devices that a program is lowered for, where they are known."""
    if isinstance(axis_context, sharding_impls.ShardingContext):
        return axis_context.device_assignment or ()
    if isinstance(axis_context, sharding_impls.SPMDAxisContext):
        return axis_context.mesh.devices.flat
    return ()


def _is_ours(client):
    return "Meshloom" in getattr(client, "platform_version", "")


def _lower(ctx, *values, call, **parameters):
    context = ctx.module_context
    devices = list(_devices(context.axis_context))
    if not devices or not _is_ours(getattr(devices[0], "client", None)):
        lower = custom_partitioning._custom_partitioning_lowering_rule
        return lower(ctx, *values, call=call, **parameters)
    mesh = None
    # The devices of a shard_map have their own values already.
    if len(devices) > 1 and isinstance(context.axis_context, sharding_impls.ShardingContext):
        mesh = _mesh(context.axis_context)
    if mesh is None or not parameters["partition"] or not parameters["decode_shardings"]:
        return mlir.lower_fun(core.jaxpr_as_fun(call), multiple_results=True)(ctx, *values)
    marked = _Call(mesh, call, parameters)
    name = uuid.uuid4().hex
    _calls[name] = marked
    context.add_keepalive(marked)
    results, tokens = mlir.call_lowering(
        "custom_partitioning", call, None, context, ctx.avals_in, ctx.avals_out, ctx.tokens_in,
        *values, dim_var_values=ctx.dim_var_values, const_lowering=ctx.const_lowering,
        attributes={_MARK: ir.StringAttr.get(name)})
    ctx.set_tokens_out(tokens)
    return results


def _marked_calls(module):
    """Returns the marked calls of a module, each with what it calls."""
    found = []

    def visit(block):
        for operation in block.operations:
            attributes = operation.operation.attributes
            if _ATTRIBUTES in attributes and _MARK in attributes[_ATTRIBUTES]:
                name = ir.StringAttr(ir.DictAttr(attributes[_ATTRIBUTES])[_MARK]).value
                if name in _calls:
                    found.append((operation.operation, _calls[name]))
            for region in operation.operation.regions:
                for inner in region.blocks:
                    visit(inner)

    visit(module.body)
    return found


def _copy(module):
    return ir.Module.parse(mlir.module_to_bytecode(module), module.context)


def _inspect(value, function):
    """Has `function` called with the layout of a value, once the program is compiled."""
    hlo.CustomCallOp(
        [value.type], [value], call_target_name=ir.StringAttr.get("InspectSharding"),
        has_side_effect=ir.BoolAttr.get(True), api_version=mlir.i32_attr(1),
        called_computations=ir.ArrayAttr.get([]),
        backend_config=ir.StringAttr.get(xla_client.encode_inspect_sharding_callback(function)))


def _layouts_around_calls(module, compile_module):
    """Returns for each marked call the axes that cut the dims of its operands and results."""
    layouts, functions = [], []
    module = _copy(module)
    with module.context, ir.Location.unknown():
        for operation, call in _marked_calls(module):
            specs = [() for _ in call.operands + call.results]
            layouts.append(specs)

            def note(sharding, index, specs=specs, mesh=call.mesh):
                if not sharding.is_manual():
                    specs[index] = sharding_impls.parse_flatten_op_sharding(sharding, mesh)[0]

            siblings = list(operation.block.operations)
            user = next(i for i, sibling in enumerate(siblings)
                        if sibling.operation == operation) + 1
            values = [*operation.operands, *operation.results]
            for index, value in enumerate(values):
                place = operation if index < len(call.operands) else siblings[user]
                functions.append(lambda sharding, index=index, note=note: note(sharding, index))
                with ir.InsertionPoint(place):
                    _inspect(value, functions[-1])
    compile_module(module)
    return layouts


def _partitioned(module, compile_module):
    """Returns a copy of a module, whose marked calls are partitioned as their users say."""
    layouts = _layouts_around_calls(module, compile_module)
    module = _copy(module)
    with module.context, ir.Location.unknown():
        symbols = ir.SymbolTable(module.operation)
        for (operation, call), specs in zip(_marked_calls(module), layouts, strict=True):
            function = ir.Module.parse(call.module(specs))
            name = mlir.merge_mlir_modules(module, "partitioned", function, symbols)
            operation.attributes["callee"] = ir.FlatSymbolRefAttr.get(name)
            del operation.attributes[_ATTRIBUTES]
    return module


def register() -> None:
    """Registers the lowering for the platform name that JAX's own client has, too."""
    mlir.register_lowering(custom_partitioning.custom_partitioning_p, _lower, platform="cpu")
    # Tracebacks of errors that users see have no functions of this file.
    traceback_util.register_exclusion(__file__)
    compile_or_get_cached = compiler.compile_or_get_cached

    def compile_partitioned(backend, module, devices, options, host_callbacks,
                            executable_devices, *more):
        def compile_module(inspected):
            compiler.backend_compile_and_load(
                backend, inspected, executable_devices, options, host_callbacks)

        if _calls and _is_ours(backend) and _marked_calls(module):
            module = _partitioned(module, compile_module)
        return compile_or_get_cached(backend, module, devices, options, host_callbacks,
                                     executable_devices, *more)

    compiler.compile_or_get_cached = compile_partitioned
