# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs exported programs in JAX's own XLA on eight CPU devices.

  python run_with_jax.py path/to/mesh-opt path/to/test/Cases [name ...]

Each case is partitioned and exported by

  mesh-opt --stablehlo-to-dtensor --dtensor-partition=machine=ring \\
           --spmd-to-stablehlo --emit-portable-artifact program.mlir

read by JAX's StableHLO, compiled as one device's program, fed with the shards that `meshloom.boxes` names,
and what the devices return is put together and compared
with the case's expected results. Padding is filled with nan (or the type's
largest number): whatever reads it fails. Every device's copy of an element is
compared, not only one.

Exit code 0 when every result is right but those of programs that have no form in
StableHLO, 1 when one is not, 77 (a skip, for
ctest) where JAX is not installed.
"""
import json
import os
import subprocess
import sys

os.environ["XLA_FLAGS"] = (os.environ.get("XLA_FLAGS", "") +
                           " --xla_force_host_platform_device_count=8")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

try:
    import jax
    import jax._src.interpreters.mlir as jax_mlir
    import ml_dtypes
    import numpy as np
    from jax._src.lib import xla_client
    from jax.extend.mlir import ir
    from jax.extend.mlir.dialects import stablehlo
except ImportError as problem:
    print(f"SKIP: JAX is not installed here ({problem})")
    sys.exit(77)

jax.config.update("jax_enable_x64", True)

# mesh-opt says this of decompositions that XLA's compilers do not expand.
NOT_IN_STABLEHLO = "cannot be exported to StableHLO: dtensor."
DTYPES = {"bf16": ml_dtypes.bfloat16, "f16": np.float16, "f32": np.float32, "f64": np.float64,
          "i1": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
          "ui8": np.uint8, "ui16": np.uint16, "ui32": np.uint32, "ui64": np.uint64,
          "complex<f32>": np.complex64, "complex<f64>": np.complex128}


class Parts:
    """What devices hold of one argument or result."""

    def __init__(self, type_, attributes):
        local = ir.RankedTensorType(type_)
        self.local = tuple(local.shape)
        self.element = str(local.element_type)
        self.dtype = np.dtype(DTYPES[self.element])
        self.shape = tuple(int(ir.IntegerAttr(a).value)
                           for a in ir.ArrayAttr(attributes["meshloom.shape"]))
        if self.shape:
            boxes = np.array(ir.DenseElementsAttr(attributes["meshloom.boxes"]))
            self.boxes = boxes.reshape(-1, len(self.shape), 2)

    def box(self, device):
        return tuple(slice(b, e) for b, e in self.boxes[device]) if self.shape else ()

    def cut(self, value, device):
        """`device`'s shard of `value`, padded with what must not be read."""
        held = value[self.box(device)]
        if self.dtype.kind in "iu":
            padding = np.iinfo(self.dtype).max
        else:
            padding = self.dtype.kind == "b" or np.nan
        shard = np.full(self.local, padding, self.dtype)
        shard[tuple(slice(0, n) for n in held.shape)] = held
        return shard

    def check(self, got, want, device):
        """`device`'s part of the result beside the expected one: both flat."""
        box = self.box(device)
        held = got[tuple(slice(0, s.stop - s.start) for s in box)]
        return np.ravel(held), np.ravel(want[box])


def main_of(module):
    return next(op for op in module.body.operations
                if ir.StringAttr(op.operation.attributes["sym_name"]).value == "main")


def text_and_parts_of(artifact):
    with jax_mlir.make_ir_context() as context, ir.Location.unknown():
        module = stablehlo.deserialize_portable_artifact(context, artifact)
        main = main_of(module)
        function = ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value)

        def read(types, name):
            return [Parts(type_, ir.DictAttr(attrs))
                    for type_, attrs in zip(types, ir.ArrayAttr(main.attributes[name]))] if types else []

        return str(module), read(function.inputs, "arg_attrs"), read(function.results, "res_attrs")


def compile_text(text, devices):
    """Devices are replicas: XLA's partitioner has no part in it."""
    options = xla_client.CompileOptions()
    options.num_replicas, options.num_partitions = len(devices), 1
    build = options.executable_build_options
    build.num_replicas, build.num_partitions = len(devices), 1
    options.device_assignment = xla_client.DeviceAssignment.create(
        np.arange(len(devices)).reshape(-1, 1))
    return devices[0].client.compile_and_load(
        text, xla_client.DeviceList(tuple(devices)), options)


def stacked(shards, devices):
    """One array whose shard on each device is the one given."""
    mesh = jax.sharding.Mesh(np.array(devices), ("device",))
    sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("device"))
    placed = [jax.device_put(shard[None] if shard.ndim == 0 else shard, device)
              for shard, device in zip(shards, devices)]
    shape = (placed[0].shape[0] * len(devices),) + placed[0].shape[1:]
    return jax.make_array_from_single_device_arrays(shape, sharding, placed)


def execute(text, arguments, results, values, devices):
    program = compile_text(text, devices)
    buffers = []
    for parts, value in zip(arguments, values):
        shards = [parts.cut(value, d) for d in range(len(devices))]
        if parts.local:
            buffers.append(stacked(shards, devices))
        else:  # a scalar has no dim to stack along: it is replicated
            mesh = jax.sharding.Mesh(np.array(devices), ("device",))
            sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())
            buffers.append(jax.make_array_from_single_device_arrays(
                (), sharding, [jax.device_put(s, d) for s, d in zip(shards, devices)]))
    returned = program.execute_sharded(buffers).disassemble_into_single_device_arrays()
    return [[np.asarray(shard) for shard in shards] for shards in returned]


def expected(folder, k, parts, common):
    """The whole expected result, or the sample that the case keeps of it and
    where its elements lie."""
    want = np.load(os.path.join(folder, "expected.npz"))[f"result_{k}"]
    return want, common.sample(int(np.prod(parts.shape, dtype=np.int64)))


def run_case(tool, folder, devices, common, make):
    with open(os.path.join(folder, "case.json")) as file:
        case = json.load(file)
    done = subprocess.run(
        [tool, "--stablehlo-to-dtensor", "--dtensor-partition=machine=ring", "--spmd-to-stablehlo",
         "--emit-portable-artifact", os.path.join(folder, "program.mlir")],
        capture_output=True, timeout=300)
    messages = done.stderr.decode()
    if done.returncode:
        return "not exported: " + (messages.strip().splitlines() or ["?"])[0]
    text, arguments, results = text_and_parts_of(done.stdout)
    # JAX drops arguments that it does not use; the case lists them all.
    specs, used = iter(case["inputs"]), []
    for parts in arguments:
        used.append(next(spec for spec in specs if tuple(spec["shape"]) == parts.shape
                         and spec["dtype"] == parts.dtype.name))
    values = [make(spec) for spec in used]
    values = [v.view(p.dtype) if v.dtype.kind == "V" else v for v, p in zip(values, arguments)]
    shards = execute(text, arguments, results, values, devices[:int(np.prod(list(case["mesh"].values())))])
    worst = 0.0
    for k, (parts, held) in enumerate(zip(results, shards)):
        want, where = expected(folder, k, parts, common)
        # The sampled elements, each device's copy of them.
        flat = np.full(int(np.prod(parts.shape, dtype=np.int64)), -1)
        flat[where] = np.arange(len(where))
        index = flat.reshape(parts.shape)
        seen = np.zeros(len(where), bool)
        for device, shard in enumerate(held):
            got, at = parts.check(shard, index, device)
            got, at = got[at >= 0], at[at >= 0]
            if not len(at):
                continue
            seen[at] = True
            if got.dtype == ml_dtypes.bfloat16:
                got = got.astype(np.float32)
            if want.dtype.kind in "biu" and not np.array_equal(got, want[at]):
                return f"WRONG: result {k} differs on device {device}"
            full = want.copy()
            full[at] = got
            worst = max(worst, common.relative_error(full, want))
        if not seen.all():
            return f"WRONG: no device holds all of result {k}"
    if worst > case["tolerance"]:
        return f"WRONG: error {worst:.1e}"
    whole = messages.count("runs on whole values")
    return f"ok ({whole} ops on whole values)" if whole else "ok"


def main():
    tool, folder, names = sys.argv[1], sys.argv[2], sys.argv[3:]
    sys.path[:0] = [folder, os.path.dirname(os.path.abspath(folder))]
    import run_cases  # which says where `common` is
    import common
    devices = jax.devices("cpu")
    failed = 0
    for name in names or sorted(os.listdir(folder)):
        if not os.path.exists(os.path.join(folder, name, "case.json")):
            continue
        try:
            verdict = run_case(tool, os.path.join(folder, name), devices, common, run_cases.make)
        except Exception as problem:  # whatever JAX raises belongs to this case
            verdict = f"{type(problem).__name__}: {str(problem)[:300]}"
        print(f"{name:40s} {verdict}", flush=True)
        failed += not verdict.startswith("ok") and NOT_IN_STABLEHLO not in verdict
    print(f"{failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
