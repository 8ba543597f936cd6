# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""JAX on 8 virtual devices of the plug-in.

  python jax_test.py PLUGIN [name of a test ...]

A Python without JAX is a skip (exit code 77, for ctest). JAX finds the plug-in by the
package in python/.
"""
import contextlib
import ctypes
import gc
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import unittest
import unittest.mock
import weakref
from pathlib import Path

if __name__ == "__main__":
    if importlib.util.find_spec("jax") is None:
        print("SKIP: this Python has no JAX")
        sys.exit(77)
    os.environ["MESHLOOM_PJRT_PLUGIN"] = sys.argv.pop(1)
os.environ["JAX_PLATFORMS"] = "meshloom,cpu"
os.environ["MESHLOOM_DEVICES"] = "8"
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

import jax
import jax.numpy as jnp
import jax_plugins.meshloom
import numpy as np
from jax._src.lib import _jax, xla_client
from jax.experimental import io_callback, serialize_executable
from jax.experimental.custom_partitioning import custom_partitioning
from jax.experimental.layout import Format, Layout
from jax.sharding import AxisType, Mesh, NamedSharding, SingleDeviceSharding
from jax.sharding import PartitionSpec as P


def mesh_of(*shape: int) -> Mesh:
    names = ("x", "y", "z")[: len(shape)]
    return jax.make_mesh(shape, names, axis_types=(AxisType.Auto,) * len(shape))


# The platforms of a process are made once, so that these have one of their own.
TWO_PLUGINS = """
import sys
import jax, jax.numpy as jnp
from jax._src import xla_bridge
xla_bridge.register_plugin("second", library_path=sys.argv[1], options={"num_devices": 2})
ours, others = jax.devices("meshloom"), jax.devices("second")
print(len(ours), len(others))
x = jax.device_put(jnp.arange(8.0), ours[7])
y = jax.device_put(x, jax.NamedSharding(jax.sharding.Mesh(others, "x"), jax.P("x")))
print(jnp.sum(x), jnp.sum(y))
try:
    x + y
except ValueError:
    print("refused")
print(jnp.sum(jax.device_put(y, ours[0])), jnp.sum(jax.device_put(x, others[1])))
"""


class OneDevice(unittest.TestCase):
    def test_devices_say_whose_they_are(self):
        self.assertEqual(len(jax.devices()), 8)
        self.assertIn("Meshloom", repr(jax.devices()[3]))
        self.assertIn("Meshloom", jax.devices()[0].client.platform_version)
        self.assertEqual(jax.devices()[0].default_memory().kind, "device")

    def test_gradient_of_a_jitted_function(self):
        x = np.arange(6, dtype=np.float32).reshape(2, 3)
        got = jax.jit(jax.grad(lambda a: jnp.tanh(a @ a.T).sum()))(x)
        with jax.default_device(jax.devices("cpu")[0]):
            expected = jax.grad(lambda a: jnp.tanh(a @ a.T).sum())(x)
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)

    def test_all_element_types_come_back(self):
        for name in ["bfloat16", "float16", "float32", "int8", "uint8", "int16", "uint16",
                     "int32", "uint32", "bool", "complex64", "float8_e4m3fn", "float8_e5m2",
                     "float8_e3m4", "float8_e8m0fnu", "float4_e2m1fn"]:
            with self.subTest(name):
                x = np.arange(4, dtype=np.float32).astype(jnp.dtype(name))
                got = np.asarray(jnp.asarray(x)[::-1])
                self.assertEqual(got.dtype, x.dtype)
                self.assertEqual(got.tobytes(), x[::-1].tobytes())  # also a nan
        for name in ["int4", "uint4"]:
            with self.subTest(name):
                x = np.arange(4).astype(jnp.dtype(name))
                np.testing.assert_array_equal(np.asarray(jnp.asarray(x)).astype(int), range(4))

    def test_unused_bits_of_the_users_bytes_are_nothing(self):
        x = np.frombuffer(b"\x60\x00\xff", np.uint8).view(np.bool_)
        np.testing.assert_array_equal(np.asarray(jnp.asarray(x)).view(np.uint8), [1, 0, 1])
        # 0x2f is -1, or 15, with something in its high bits.
        x = np.frombuffer(b"\x2f\x75", np.uint8).view(jnp.int4)
        np.testing.assert_array_equal(jnp.asarray(x).astype(jnp.int32), [-1, 5])
        np.testing.assert_array_equal(jnp.asarray(x.view(jnp.uint4)).astype(jnp.int32), [15, 5])

    def test_strided_and_empty_arrays(self):
        x = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)
        for view in [x.T, x[:, ::2], x[..., ::-1], x[:0]]:
            np.testing.assert_array_equal(jax.device_put(view, jax.devices()[3]), view)

    def test_numpy_sees_the_memory_of_arrays(self):
        x = jax.jit(lambda a: a + 1)(jnp.arange(1024.0))
        seen = np.asarray(x)
        self.assertEqual(seen.ctypes.data, x.unsafe_buffer_pointer())
        np.testing.assert_array_equal(seen, np.arange(1024.0) + 1)

    def test_a_handler_of_jax_ffi_is_called(self):
        header = Path(jax.ffi.include_dir(), "xla/ffi/api/c_api.h").read_text()
        minor_version = int(re.search(r"API_MINOR (\d+)", header)[1])

        def word(address: int, index: int) -> int:
            return ctypes.c_uint64.from_address(address + 8 * index).value

        def elements(buffer: int) -> np.ndarray:
            floats = ctypes.cast(word(buffer, 3), ctypes.POINTER(ctypes.c_float))
            return np.ctypeslib.as_array(floats, (word(word(buffer, 5), 0),))

        @ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
        def scale(frame: int) -> None:
            if word(frame, 1):  # The handler is asked for the version of its interface.
                metadata = word(word(frame, 1), 3)
                ctypes.c_int32.from_address(metadata + 28).value = minor_version
                return
            factor = ctypes.c_float.from_address(word(word(word(frame, 20), 0), 1)).value
            operand, result = (word(word(frame, index), 0) for index in (9, 14))
            elements(result)[:] = factor * elements(operand)

        capsule = jax.ffi.pycapsule(ctypes.cast(scale, ctypes.c_void_p))
        jax.ffi.register_ffi_target("test_scale", capsule, platform="cpu")
        call = jax.ffi.ffi_call("test_scale", jax.ShapeDtypeStruct((4,), jnp.float32))
        for factor in (3, 5):
            y = jax.jit(lambda a: call(a + 1, factor=np.float32(factor)))(jnp.arange(4.0))
            np.testing.assert_array_equal(y, factor * np.arange(1.0, 5.0))

    def test_pointers_of_equal_arrays_differ(self):
        x = jnp.arange(1024.0)
        equal = [x, jnp.array(x, copy=True), *jax.jit(lambda a: (a, a))(x)]
        seen = np.asarray(equal[2])  # has the memory of x
        pointers = [y.unsafe_buffer_pointer() for y in equal]
        self.assertEqual(len(set(pointers)), 4)
        self.assertEqual(pointers, [y.unsafe_buffer_pointer() for y in equal])
        for y in equal:
            np.testing.assert_array_equal(y + 0, np.arange(1024.0))
            y.delete()
        np.testing.assert_array_equal(seen, np.arange(1024.0))

    def users_memory(self, count):
        """Ones in NumPy's memory, which lie where arrays can have their elements."""
        memory = np.ones(count + 16, np.float32)
        start = (-memory.ctypes.data % 64) // 4
        return memory[start : start + count]

    def test_memory_of_the_user_is_read_where_it_is(self):
        x = self.users_memory(1 << 16)
        y = jax.device_put(x, jax.devices()[0])
        self.assertEqual(y.unsafe_buffer_pointer(), x.ctypes.data)
        shards = jax.device_put(
            x, NamedSharding(jax.make_mesh((2,), "x"), P("x"))
        ).addressable_shards
        self.assertEqual(len(shards), 2)
        for shard in shards:
            self.assertEqual(shard.data.unsafe_buffer_pointer() % 64, 0)
            np.testing.assert_array_equal(shard.data, x[shard.index])

    def test_memory_of_the_user_is_not_overwritten(self):
        for program in (
            lambda a: a + 1,
            lambda a: jax.lax.fori_loop(0, 3, lambda i, b: b + 1, a) - 2,
            lambda a: jax.lax.cond(a[0] > 0, lambda b: b + 1, lambda b: b, a),
        ):
            x = self.users_memory(1 << 16)
            y = jax.device_put(x, jax.devices()[0])
            same = jax.jit(lambda a: a)(y)
            for donated in (y, same):
                z = jax.jit(program, donate_argnums=0)(donated)
                np.testing.assert_array_equal(z, 2)
                np.testing.assert_array_equal(x, 1)

    def test_results_do_not_lie_in_memory_of_the_user(self):
        x = self.users_memory(1 << 16)
        for program in (
            lambda a: a,
            lambda a: a.reshape(256, 256),
            lambda a: a[:32768],
            lambda a: jax.lax.cond(a[0] > 0, lambda b: b, lambda b: b + 1, a),
            lambda a: jax.lax.fori_loop(0, 0, lambda i, b: b + 1, a),
        ):
            x[:] = 1
            y = jax.jit(program)(jax.device_put(x, jax.devices()[0]))
            y.block_until_ready()
            x[:] = 5
            np.testing.assert_array_equal(y, 1)

    def test_memory_of_the_user_is_given_back(self):
        x = self.users_memory(1 << 16)
        memory = weakref.ref(x.base)
        y = jax.device_put(x, jax.devices()[0])
        del x
        z = y + 1
        np.testing.assert_array_equal(y, 1)
        self.assertIsNotNone(memory())
        y.delete()
        z.block_until_ready()
        gc.collect()
        jnp.zeros(1).block_until_ready()  # JAX gives up what it had to keep
        gc.collect()
        self.assertIsNone(memory())

    def test_a_donated_array_is_gone(self):
        x = jnp.arange(8.0)
        step = jax.jit(lambda a: a * 2, donate_argnums=0)
        step(x)
        self.assertTrue(x.is_deleted())
        with self.assertRaisesRegex(Exception, "deleted|donated"):
            step(x)

    def test_linear_algebra_random_numbers_and_fft(self):
        a = jax.random.normal(jax.random.key(0), (6, 6))
        a = a @ a.T + 6 * jnp.eye(6)
        factor = jnp.linalg.cholesky(a)
        np.testing.assert_allclose(factor @ factor.T, a, rtol=1e-4)
        triangular = jnp.triu(jnp.ones((3, 3))) + jnp.diag(jnp.array([5.0, 3, 1]))
        np.testing.assert_allclose(jnp.linalg.eigvals(triangular), [6, 4, 2])  # LAPACK's order
        values, vectors = jnp.linalg.eigh(a)
        np.testing.assert_allclose(vectors * values @ vectors.T, a, rtol=1e-3)
        np.testing.assert_allclose(jnp.fft.ifft(jnp.fft.fft(a)).real, a, rtol=1e-4)


class Devices(unittest.TestCase):
    def test_a_sharded_product(self):
        x = np.arange(64.0, dtype=np.float32).reshape(8, 8)
        y = jax.device_put(x, NamedSharding(mesh_of(4, 2), P("x", "y")))
        self.assertEqual(y.addressable_shards[5].data.shape, (2, 4))
        z = jax.jit(lambda a: a @ a.T)(y)
        np.testing.assert_allclose(z, x @ x.T)
        self.assertEqual(len(z.sharding.device_set), 8)

    def test_results_have_the_shardings_that_are_asked_for(self):
        mesh = mesh_of(2, 2, 2)
        for spec in [P("x"), P(("z", "x"), "y"), P(None, "y"), P()]:
            with self.subTest(spec):
                sharding = NamedSharding(mesh, spec)
                y = jax.jit(lambda: jnp.arange(64.0).reshape(8, 8), out_shardings=sharding)()
                self.assertEqual(y.sharding, sharding)
                np.testing.assert_array_equal(y, np.arange(64.0).reshape(8, 8))

    def test_addends_enter_shard_map_as_they_are(self):
        mesh = jax.make_mesh((2, 4), ("x", "y"), axis_types=(AxisType.Explicit,) * 2)
        x = jax.device_put(np.arange(8.0, dtype=np.float32), NamedSharding(mesh, P("x")))
        in_map = lambda ins, outs: jax.shard_map(
            lambda a: 2 * a, mesh=mesh, in_specs=ins, out_specs=outs, check_vma=False)
        with jax.set_mesh(mesh):
            addends = jax.jit(in_map(P("x"), P(unreduced={"x"})))(x)
            equal = jax.jit(in_map(P(), P(unreduced={"x"})))(jax.sharding.reshard(x, P()))
            back = in_map(P(unreduced={"x"}), P("x"))
            once = jax.jit(back)(addends)
            constrained = lambda a: jax.sharding.reshard(a, P(unreduced={"x"}))
            both = jax.jit(lambda a: (back(constrained(a)), jax.sharding.reshard(a, P())))(addends)
        self.assertEqual(addends.shape, (4,))
        for shard in equal.addressable_shards:
            np.testing.assert_array_equal(shard.data, 2 * np.arange(8))
        np.testing.assert_array_equal(once, 4 * np.arange(8))
        np.testing.assert_array_equal(both[0], once)
        np.testing.assert_array_equal(both[1], 2 * (np.arange(4) + np.arange(4, 8)))

    def test_collectives_of_shard_map(self):
        mesh = mesh_of(8)

        def body(a):
            i = jax.lax.axis_index("x")
            ring = jax.lax.ppermute(a, "x", [(k, (k + 1) % 8) for k in range(8)])
            return jax.lax.psum(a, "x"), ring, a + i

        f = jax.jit(jax.shard_map(body, mesh=mesh, in_specs=P("x"),
                                  out_specs=(P(), P("x"), P("x"))))
        total, ring, numbered = f(jnp.arange(8.0))
        np.testing.assert_array_equal(total, [28])
        np.testing.assert_array_equal(ring, np.roll(np.arange(8.0), 1))
        np.testing.assert_array_equal(numbered, 2 * np.arange(8.0))

    def test_custom_partitioning_calls_partition(self):
        layouts = []

        def partition(mesh, operands, result):
            layouts.append(([operand.sharding.spec for operand in operands],
                            result.sharding.spec))
            axis = operands[1].sharding.spec[0]

            def product(a, b):
                # The devices' own algorithm, which gives 3 times what the function does.
                return 3 * jax.lax.psum(a @ b, axis)

            return mesh, product, result.sharding, tuple(x.sharding for x in operands)

        product = custom_partitioning(lambda a, b: a @ b)
        product.def_partition(partition, sharding_rule="i j, j k -> i k",
                              reduction_factors=("j",))
        mesh = mesh_of(4, 2)
        x, y = np.arange(32.0).reshape(8, 4), np.arange(12.0).reshape(4, 3)
        arguments = (jax.device_put(x, NamedSharding(mesh, P("x", "y"))),
                     jax.device_put(y, NamedSharding(mesh, P("y"))))
        step = jax.jit(lambda a, b: product(a, b) + 1)
        np.testing.assert_array_equal(step(*arguments), 3 * (x @ y) + 1)
        self.assertEqual(layouts, [([P("x", "y"), P("y", None)], P("x", None))])
        # Nothing is partitioned on one device, in shard_map, or without `partition`.
        np.testing.assert_array_equal(step(x, y), x @ y + 1)
        product.def_partition(None, sharding_rule="i j, j k -> i k")
        np.testing.assert_array_equal(jax.jit(product)(*arguments), x @ y)

    def test_mistakes_of_partition_are_exceptions(self):
        cut = NamedSharding(mesh_of(8), P("x"))
        whole = NamedSharding(mesh_of(8), P())
        wrong = [
            (lambda mesh, operands, result: (mesh, jnp.cos, whole, (cut,)),
             ValueError, r"Mismatch in result shapes.*\(1,\).*\(8,\)"),
            (lambda mesh, operands, result: (mesh, jnp.cos, cut, (None,)),
             ValueError, "must return Sharding"),
            (lambda mesh, operands, result: (mesh, lambda a: jax.debug.print("{}", a) or a, cut,
                                             (cut,)),
             NotImplementedError, "calls Python"),
        ]
        for partition, kind, message in wrong:
            cosine = custom_partitioning(jnp.cos)
            cosine.def_partition(partition, sharding_rule="i -> i")
            with self.assertRaisesRegex(kind, message) as caught:
                jax.jit(cosine)(jax.device_put(np.arange(8.0), cut))
            files = [Path(frame.filename).name
                     for frame in traceback.extract_tb(caught.exception.__traceback__)]
            self.assertNotIn("partitioning.py", files)

    def test_pmap(self):
        got = jax.pmap(lambda a: jax.lax.psum(a, "i"), axis_name="i")(jnp.arange(8.0))
        np.testing.assert_array_equal(got, [28] * 8)

    def test_keys_of_the_compilation_cache_have_the_topology(self):
        topology = xla_client.get_topology_for_devices(jax.devices())
        # JAX 0.8 hashes the bytes itself.
        self.assertTrue(topology.fingerprint() if hasattr(topology, "fingerprint")
                        else topology.serialize())

    def test_results_in_memory_of_the_host(self):
        device = NamedSharding(mesh_of(8), P("x"))
        host = device.with_memory_kind("pinned_host")
        x = jax.device_put(np.arange(8.0), host)
        y = jax.jit(lambda a: (jax.device_put(a, device) + 1, a), out_shardings=(device, host))(x)
        self.assertEqual([a.sharding.memory_kind for a in y], ["device", "pinned_host"])
        z = jax.jit(lambda a: jax.device_put(a * 2, host))(y[0])
        self.assertEqual(z.sharding.memory_kind, "pinned_host")
        np.testing.assert_array_equal(z, np.arange(8.0) * 2 + 2)

    def test_donated_shards(self):
        x = jax.device_put(np.arange(16.0), NamedSharding(mesh_of(8), P("x")))
        y = jax.jit(lambda a: a + 1, donate_argnums=0)(x)
        self.assertTrue(x.is_deleted())
        np.testing.assert_array_equal(y, np.arange(16.0) + 1)

    def test_an_array_that_no_result_can_take_stays(self):
        x = jax.device_put(np.arange(16.0).reshape(8, 2), NamedSharding(mesh_of(2), P("x")))
        jax.jit(lambda a: a @ a.T, donate_argnums=0)(x)
        self.assertFalse(x.is_deleted())
        jax.jit(lambda a: a + 1, donate_argnums=0)(x)
        self.assertTrue(x.is_deleted())

    def test_results_that_are_left_open_have_even_shards(self):
        sharding = NamedSharding(mesh_of(4, 2), P(("x", "y")))
        cut = lambda a: jax.lax.with_sharding_constraint(a, sharding)
        four, five = jax.jit(lambda a: (cut(a[:4] * 2), cut(a[:5] * 3)))(jnp.arange(8.0))
        self.assertEqual([shard.data.shape for shard in four.addressable_shards], [(1,)] * 8)
        np.testing.assert_array_equal(four, np.arange(4.0) * 2)
        self.assertEqual(five.addressable_shards[7].data.shape, (5,))
        np.testing.assert_array_equal(five, np.arange(5.0) * 3)

    def test_arrays_that_lie_column_by_column(self):
        columns = Layout(major_to_minor=(1, 0))
        x = np.arange(32, dtype=np.float32).reshape(4, 8)
        cut = NamedSharding(mesh_of(2, 4), P("x", "y"))
        for sharding in [SingleDeviceSharding(jax.devices()[3]), cut]:
            with self.subTest(sharding):
                format_ = Format(columns, sharding)
                a = jax.device_put(x, format_)
                b = jax.device_put(jax.device_put(x, sharding), format_)
                f = jax.jit(lambda a, b: (a + b, a.T), out_shardings=Format(Layout.AUTO))
                total, turned = f(a, b)
                compiled = f.lower(a, b).compile()
                self.assertEqual(compiled.input_formats[0], (a.format, b.format))
                self.assertRegex(compiled.as_text(), r"layout=\{\(f32\[\d,\d\]\{0,1\}, ")
                orders = [v.format.layout.major_to_minor for v in (a, b, total, turned)]
                self.assertEqual(orders, [(1, 0), (1, 0), (0, 1), (0, 1)])
                self.assertTrue(total.sharding.is_equivalent_to(sharding, 2))
                for array, expected in [(a, x), (b, x), (total, 2 * x), (turned, x.T)]:
                    np.testing.assert_array_equal(array, expected)
                    for shard in array.addressable_shards:
                        np.testing.assert_array_equal(shard.data, expected[shard.index])
        y = jax.jit(jnp.transpose, out_shardings=Format(Layout.AUTO))(x)
        self.assertEqual(y.format.layout.major_to_minor, (1, 0))
        self.assertEqual(np.asarray(y).strides, (4, 32))

    def test_devices_in_a_different_order(self):
        devices = np.array(jax.devices())[[3, 1, 7, 5, 0, 2, 6, 4]]
        sharding = NamedSharding(Mesh(devices, "x"), P("x"))
        x = jax.device_put(np.arange(8.0), sharding)
        y = jax.jit(lambda a: jnp.cumsum(a), out_shardings=sharding)(x)
        np.testing.assert_array_equal(y, np.cumsum(np.arange(8.0)))
        self.assertEqual(y.addressable_shards[0].device.id, y.addressable_shards[0].data.device.id)

    def test_an_array_moves_to_a_mesh_of_any_order(self):
        # No layout over the first mesh has the same blocks on the same devices.
        first = Mesh(np.array(jax.devices()).reshape(2, 4), ("x", "y"))
        second = Mesh(np.array(jax.devices())[[6, 3, 2, 5, 1, 4, 7, 0]].reshape(4, 2), ("x", "y"))
        x = np.arange(64.0).reshape(8, 8)
        sharding = NamedSharding(second, P("y", "x"))
        y = jax.device_put(jax.device_put(x, NamedSharding(first, P("x"))), sharding)
        self.assertEqual(y.sharding, sharding)
        for shard in [*y.addressable_shards, *jax.jit(lambda v: v + 0)(y).addressable_shards]:
            np.testing.assert_array_equal(shard.data, x[shard.index])

    def test_arrays_move_between_devices_and_platforms(self):
        x = jnp.arange(4.0)
        y = jax.device_put(x, jax.devices()[5])
        self.assertEqual(y.device, jax.devices()[5])
        z = jax.device_put(y, jax.devices("cpu")[0])
        np.testing.assert_array_equal(z, np.arange(4.0))
        host = SingleDeviceSharding(jax.devices()[0], memory_kind="pinned_host")
        self.assertEqual(jax.device_put(x, host).sharding.memory_kind, "pinned_host")


class Programs(unittest.TestCase):
    def test_callbacks(self):
        double = lambda v: np.asarray(v) * 2
        shape = jax.ShapeDtypeStruct((3,), np.float32)
        x = jnp.arange(3, dtype=jnp.float32)
        for ordered in [False, True]:
            with self.subTest(ordered=ordered):
                f = jax.jit(lambda a: io_callback(double, shape, a, ordered=ordered))
                np.testing.assert_array_equal(f(x), [0, 2, 4])
        f = jax.jit(lambda a: jax.pure_callback(double, shape, a))
        np.testing.assert_array_equal(f(x), [0, 2, 4])

    def test_callbacks_that_write_into_buffers(self):
        from jax.experimental.buffer_callback import buffer_callback

        def add(context, out, a, b):
            self.assertEqual(context.stage.name, "EXECUTE")
            self.assertEqual((a.shape, a.writeable, out.writeable), ((2, 3), False, True))
            np.asarray(out)[...] = np.asarray(a) + np.from_dlpack(b)

        def double(context, out, a):
            self.assertEqual(np.asarray(out).ctypes.data, np.asarray(a).ctypes.data)
            np.asarray(out)[...] *= 2

        x = jnp.arange(6, dtype=jnp.float32).reshape(2, 3)
        shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
        doubled = buffer_callback(double, shape, input_output_aliases={0: 0})
        f = jax.jit(lambda a: doubled(buffer_callback(add, shape)(a, a + 1)))
        np.testing.assert_array_equal(f(x), 4 * np.asarray(x) + 2)

    def test_a_callback_computes_outside_of_the_mesh_of_its_caller(self):
        one = jax.ShapeDtypeStruct((), jnp.float32)
        with jax.set_mesh(mesh_of(2)):
            f = jax.jit(lambda a: jax.pure_callback(lambda v: v + 1, one, a))
            self.assertEqual(f(jnp.float32(2)), 3)

    def test_a_partitioned_callback_is_called_for_each_shard(self):
        mesh = mesh_of(2, 4)
        x = np.arange(32).reshape(4, 8)
        seen = []
        note = lambda a: seen.append(np.asarray(a).tolist())

        @jax.jit
        def f(a):
            for v in [a, a[0], a.sum()]:
                jax.debug.callback(note, v, partitioned=True)
            return a

        f(jax.device_put(x, NamedSharding(mesh, P(None, "x"))))
        jax.effects_barrier()
        shards = [x[:, :4], x[:, 4:], x[0, :4], x[0, 4:], x.sum()]
        self.assertCountEqual(seen, [shard.tolist() for shard in shards])

    def test_ordered_callbacks_keep_their_order(self):
        seen = []

        @jax.jit
        def f(n):
            def body(i, carry):
                io_callback(lambda k: seen.append(int(k)), None, i, ordered=True)
                return carry
            return jax.lax.fori_loop(0, n, body, 0)

        f(5)
        jax.effects_barrier()
        self.assertEqual(seen, [0, 1, 2, 3, 4])

    def test_ordered_callbacks_of_programs_on_different_devices_keep_their_order(self):
        seen = []

        def slowly(i, x):
            time.sleep(0.01)
            seen.append((int(i), int(x.sum())))

        def f(i, x):
            io_callback(slowly, None, i, x, ordered=True)
            io_callback(slowly, None, i, x + 1, ordered=True)

        expected = []
        for i in range(4):
            mesh = Mesh(np.array(jax.devices()[i : i + 2]), "x")
            x = jax.device_put(np.arange(2) + 10 * i, NamedSharding(mesh, P("x")))
            for start in [x, x + 5]:
                jax.jit(f)(i, start)
                expected += [(i, int(start.sum())), (i, int((start + 1).sum()))]
        jax.effects_barrier()
        self.assertEqual(seen, expected)

    def test_an_exception_of_a_callback_without_results_arrives(self):
        def refuse(v):
            raise ValueError("not this one")

        with self.assertRaisesRegex(Exception, "not this one"):
            jax.jit(lambda a: io_callback(refuse, None, a))(jnp.float32(1))
            jax.effects_barrier()

    def test_an_exception_of_a_callback_arrives(self):
        def refuse(v):
            raise ValueError("not this one")

        shape = jax.ShapeDtypeStruct((), np.float32)
        with self.assertRaisesRegex(Exception, "not this one"):
            jax.block_until_ready(
                jax.jit(lambda a: jax.pure_callback(refuse, shape, a))(jnp.float32(1)))
        self.assertEqual(float(jnp.float32(1) + 1), 2)

    def test_shardings_that_are_inspected_reach_python(self):
        mesh = mesh_of(2, 4)
        x = jax.device_put(np.ones((4, 8), np.float32), NamedSharding(mesh, P("x", "y")))
        for _ in range(2):  # The second program is compiled again for its own function.
            seen = []

            def note(sharding):
                seen.append(sharding.spec)
                jnp.sin(jnp.ones(3)).block_until_ready()  # This compiles a program, too.

            def f(a):
                turned = a.T
                jax.debug.inspect_array_sharding(turned, callback=note)
                in_map = jax.shard_map(of_shard, mesh=mesh, in_specs=P("x"), out_specs=P("x"))
                return turned, in_map(a)

            def of_shard(a):
                jax.debug.inspect_array_sharding(a, callback=note)
                return a + 1

            with jax.set_mesh(mesh):
                jax.jit(f)(x)
            self.assertCountEqual(seen, [P("y", "x"), P()])

        def refuse(sharding):
            raise ValueError("not this sharding")

        with self.assertRaisesRegex(Exception, "not this sharding"), jax.set_mesh(mesh):
            jax.jit(lambda a: (jax.debug.inspect_array_sharding(a, callback=refuse), a + 1))(x)

    def test_a_refused_op_is_named_with_the_line_of_the_user(self):
        def unknown(a):
            shape = jax.ShapeDtypeStruct(a.shape, a.dtype)
            return jax.ffi.ffi_call("nobody_knows_this", shape)(a)

        with self.assertRaisesRegex(Exception, r"(?s)jax_test\.py.*nobody_knows_this"):
            jax.jit(unknown)(jnp.arange(3.0))
        self.assertEqual(float(jnp.float32(1) + 1), 2)

    def test_a_process_that_is_forked_off_reads_values_and_computes_nothing(self):
        f = jax.jit(lambda a: a + 1)
        x = f(jnp.arange(3.0))
        fresh = jax.jit(lambda a: a * 5)
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            signal.alarm(20)  # where it waits for threads that it does not have
            for function in (lambda: np.asarray(x)[2], lambda: f(x), lambda: fresh(x)):
                try:
                    os.write(writer, f"{function()}\n".encode())
                except Exception as error:
                    os.write(writer, f"{error}"[:19].encode() + b"\n")
            os._exit(0)
        os.close(writer)
        os.waitpid(child, 0)
        with os.fdopen(reader) as lines:
            refusal = "FAILED_PRECONDITION\n"
            self.assertEqual(lines.readlines(), ["3.0\n", refusal, refusal])
        self.assertEqual(float(fresh(x)[2]), 15)

    def test_callbacks_have_numbers_of_four_bits(self):
        x = jnp.arange(-4, 4, dtype=jnp.int4)

        def negate(a):
            self.assertEqual(a.dtype, jnp.int4)
            return -a

        y = jax.jit(lambda a: jax.pure_callback(negate, jax.ShapeDtypeStruct((8,), jnp.int4), a))(x)
        np.testing.assert_array_equal(y.astype(jnp.int8)[1:], -np.arange(-3, 4, dtype=np.int8))

    def test_the_inverse_of_one_number(self):
        # Its loop over pivots comes to nothing when kernels are formed.
        for _ in range(3):
            jax.clear_caches()
            np.testing.assert_array_equal(jnp.linalg.inv(jnp.full((1, 1), 4.0)), [[0.25]])

    def test_the_path_of_the_library_may_be_relative(self):
        library = Path(__file__).resolve()
        with contextlib.chdir(library.parent), unittest.mock.patch.dict(
                os.environ, MESHLOOM_PJRT_PLUGIN=library.name):
            self.assertEqual(jax_plugins.meshloom.library_path(), library)

    def test_a_library_that_is_older_than_the_package_says_so(self):
        with self.assertRaisesRegex(Exception, "'later_function'.*older than the package"):
            xla_client.make_c_api_client("meshloom", {"later_function": 1}, None)

    def test_two_plugins_compute_side_by_side(self):
        with tempfile.TemporaryDirectory() as folder:
            second = shutil.copy(os.environ["MESHLOOM_PJRT_PLUGIN"], f"{folder}/second.so")
            child = subprocess.run(
                [sys.executable, "-c", TWO_PLUGINS, second], capture_output=True, text=True,
                env={**os.environ, "JAX_PLATFORMS": "meshloom,second,cpu",
                     "PYTHONPATH": os.pathsep.join(sys.path)}, timeout=120)
        self.assertEqual(child.stdout, "8 2\n28.0 28.0\nrefused\n28.0 28.0\n", child.stderr)

    def test_compile_options(self):
        f = jax.jit(lambda a: a + 1)
        lowered = f.lower(jnp.arange(4.0))
        got = lowered.compile({"deterministic": True, "machine": "ring"})(jnp.arange(4.0))
        np.testing.assert_array_equal(got, np.arange(4.0) + 1)
        with self.assertRaisesRegex(Exception, "No such compile option: 'nonsense'"):
            lowered.compile({"nonsense": True})
        with self.assertRaisesRegex(Exception, "refine must be true or false"):
            lowered.compile({"refine": "perhaps"})

    def test_options_of_xlas_compiler_have_values_of_their_types(self):
        lowered = jax.jit(lambda a: a + 1).lower(jnp.arange(4.0))
        lowered.compile({"xla_embed_ir_in_executable": "True", "xla_gpu_autotune_level": "2",
                         "xla_gpu_autotune_gemm_rtol": 0.5, "xla_of_a_later_version": "x",
                         "xla_gpu_detect_nan": 1, "xla_dump_to": ""})
        for name, value, kind in [("xla_embed_ir_in_executable", "perhaps", "bool"),
                                  ("xla_backend_optimization_level", 1 << 40, "int32"),
                                  ("xla_gpu_autotune_max_solutions", "1.5", "int64"),
                                  ("xla_gpu_autotune_gemm_rtol", "", "float"),
                                  ("xla_gpu_detect_nan", 1.5, "enum"),
                                  ("xla_dump_to", 3, "string")]:
            with self.assertRaisesRegex(
                    Exception, f"While setting option {name}, '{value}' is not a valid {kind}"):
                lowered.compile({name: value})

    def test_analysis_of_a_compiled_program(self):
        sharding = NamedSharding(mesh_of(8), P("x"))
        compiled = jax.jit(lambda a: a.sum() + a, in_shardings=sharding).lower(
            jnp.ones((64, 8), jnp.float32)).compile()
        self.assertEqual(compiled.memory_analysis().argument_size_in_bytes, 64 * 8 * 4 // 8)
        self.assertGreater(compiled.cost_analysis()["bytes accessed"], 0)
        self.assertIn(compiled.cost_analysis()["flops"], range(1, 64 * 8))
        self.assertRegex(compiled.as_text(), "all-(gather|reduce)")
        self.assertEqual(compiled.input_shardings[0][0], sharding)
        replicated = NamedSharding(mesh_of(8), P())
        weights = jax.ShapeDtypeStruct((256, 256), jnp.float32, sharding=replicated)
        rows = jax.ShapeDtypeStruct((64, 256), jnp.float32, sharding=sharding)
        two = jax.jit(lambda a, w: jnp.sin(a @ w) @ w).lower(rows, weights).compile()
        self.assertGreater(two.memory_analysis().temp_size_in_bytes, 0)

    def test_checkpoint_needs_less_memory(self):
        def layer(x, w):
            for _ in range(4):
                x = jnp.tanh(x @ w)
            return x

        def compiled(layer):
            def loss(ws, x):
                for w in ws:
                    x = layer(x, w)
                return x.sum()
            return jax.jit(jax.grad(loss)).lower(ws, x).compile()

        ws, x = [jnp.eye(32) * 0.9] * 6, jnp.linspace(0, 1, 8192 * 32).reshape(8192, 32)
        plain, recomputed = compiled(layer), compiled(jax.checkpoint(layer))
        for a, b in zip(plain(ws, x), recomputed(ws, x)):
            np.testing.assert_allclose(a, b, rtol=1e-6)
        self.assertLess(2 * recomputed.memory_analysis().temp_size_in_bytes,
                        plain.memory_analysis().temp_size_in_bytes)

    def test_the_text_of_a_program_with_a_decomposition(self):
        sharding = NamedSharding(mesh_of(2), P("x"))
        compiled = jax.jit(jax.vmap(jnp.linalg.inv), in_shardings=sharding).lower(
            jnp.ones((8, 3, 3))).compile()
        self.assertRegex(compiled.as_text(), r"f32\[4,3,3\].* custom-call.*dtensor\.lu")

    def test_the_text_of_a_program_with_special_functions(self):
        text = jax.jit(lambda a: (jax.lax.erf(a), jax.lax.top_k(a, 2))).lower(
            jnp.ones((3, 4))).compile().as_text()
        self.assertRegex(text, r" erf\(")
        self.assertRegex(text, "topk|TopK|top_k")

    def test_serialized_programs_and_the_cache(self):
        compiled = jax.jit(lambda a: jnp.cos(a) * 3).lower(jnp.ones(7)).compile()
        loaded = serialize_executable.deserialize_and_load(
            *serialize_executable.serialize(compiled), execution_devices=jax.devices()[:1])
        np.testing.assert_allclose(loaded(jnp.ones(7)), np.cos(np.ones(7)) * 3, rtol=1e-6)
        with tempfile.TemporaryDirectory() as folder:
            names = ("jax_compilation_cache_dir", "jax_persistent_cache_min_compile_time_secs",
                     "jax_persistent_cache_min_entry_size_bytes")
            before = [getattr(jax.config, name) for name in names]
            for name, value in zip(names, (folder, 0, -1)):
                jax.config.update(name, value)
            jax.jit(lambda a: jnp.sin(a) * 5)(jnp.ones(7)).block_until_ready()
            for name, value in zip(names, before):
                jax.config.update(name, value)
            self.assertTrue(os.listdir(folder))

    def test_a_profile_has_programs_and_their_steps(self):
        def multiply(a, b):
            with jax.named_scope("layer"):
                return jnp.tanh(a @ b)

        with tempfile.TemporaryDirectory() as folder:
            with jax.profiler.trace(folder):
                jax.jit(multiply)(jnp.ones((64, 64)), jnp.ones((64, 64))).block_until_ready()
            data = jax.profiler.ProfileData.from_file(str(next(Path(folder).rglob("*.xplane.pb"))))
        plane = data.find_plane_with_name("/device:CUSTOM:Meshloom")
        events = {line.name: list(line.events) for line in plane.lines}
        self.assertIn("jit_multiply", [event.name for event in events.pop("Programs")])
        dots = [dict(event.stats) for event in sum(events.values(), [])
                if event.name.startswith("dot")]
        self.assertEqual(sum(dot["flops"] for dot in dots), 2 * 64**3)
        self.assertGreaterEqual(sum(dot["bytes_accessed"] for dot in dots), 3 * 4 * 64**2)
        self.assertIn("layer", dots[0]["tf_op"])
        self.assertRegex(dots[0]["source"], r"jax_test.py:\d+")

    def test_memory_of_numpy_by_dlpack(self):
        storage = np.zeros(128, np.uint8)
        start = -storage.ctypes.data % 64
        device = jax.devices()[1]

        without_copy = [False] if jax.__version_info__ >= (0, 9) else []

        def moved(array):
            return _jax.dlpack_managed_tensor_to_buffer(
                array.__dlpack__(), device, None, *without_copy)

        x = storage[start:start + 24].view(np.float32).reshape(2, 3)
        x[:] = np.arange(6).reshape(2, 3)
        for source in (x, x.T):
            y = moved(source)
            self.assertEqual(y.devices(), {device})
            np.testing.assert_array_equal(y + 1, source + 1)
        # JAX 0.8 has an error of its own.
        with self.assertRaisesRegex(Exception, "not aligned to 64 bytes|HostBufferSemantics"):
            moved(storage[start + 4:start + 28])

    def test_the_limit_of_memory(self):
        statistics = jax.devices()[1].memory_stats()
        self.assertLess(statistics["bytes_in_use"], statistics["bytes_limit"])

    def test_arrays_of_a_program_for_one_device_feed_one_for_eight(self):
        x = jnp.arange(16.0)
        sharding = NamedSharding(mesh_of(8), P("x"))
        for _ in range(3):
            y = jax.jit(lambda a: a * 2, out_shardings=sharding)(jax.device_put(x, sharding))
            x = jax.device_put(y, jax.devices()[2]) / 2
        np.testing.assert_array_equal(x, np.arange(16.0))


if __name__ == "__main__":
    unittest.main()
