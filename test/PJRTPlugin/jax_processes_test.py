# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""JAX in two processes of two virtual devices each, by jax.distributed.initialize.

  python jax_processes_test.py PLUGIN

A Python without JAX is a skip (exit code 77, for ctest). An exception ends the second process
in the middle of the program: the first one must learn of it, and both must end soon.
"""
import importlib.util
import os
import socket
import subprocess
import sys
from functools import partial
from pathlib import Path

PROCESSES = 2


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start_processes(plugin: str) -> int:
    environment = os.environ | {
        "JAX_PLATFORMS": "meshloom,cpu",
        "MESHLOOM_DEVICES": "2",
        "MESHLOOM_PJRT_PLUGIN": plugin,
        "PYTHONPATH": str(Path(__file__).resolve().parents[2] / "python"),
    }
    port = str(free_port())
    processes = [
        subprocess.Popen([sys.executable, __file__, "process", port, str(rank)], env=environment)
        for rank in range(PROCESSES)
    ]
    codes = [process.wait(timeout=120) for process in processes]
    print("exit codes", codes)
    return 0 if codes == [0, 1] else 1


def run_process(port: str, rank: int) -> None:
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.experimental import io_callback, multihost_utils
    from jax.sharding import Mesh, NamedSharding
    from jax.sharding import PartitionSpec as P

    jax.distributed.initialize(f"127.0.0.1:{port}", PROCESSES, rank)
    assert [device.process_index for device in jax.devices()] == [0, 0, 1, 1]
    assert [device.id for device in jax.local_devices()] == [2 * rank, 2 * rank + 1]
    mesh = Mesh(np.array(jax.devices()).reshape(2, 2), ("data", "model"))

    # Each process brings its part, and collectives cross processes.
    rows = NamedSharding(mesh, P(("data", "model")))
    values = np.arange(32, dtype=np.float32).reshape(8, 4)
    x = jax.make_array_from_process_local_data(rows, values[4 * rank : 4 * rank + 4])
    gathered = jax.jit(lambda a: a, out_shardings=NamedSharding(mesh, P()))(x)
    np.testing.assert_array_equal(gathered, values)
    # A result of whole values is whole, so that each process can read it.
    tall = np.arange(256, dtype=np.float32).reshape(64, 4)
    np.testing.assert_array_equal(gathered @ jnp.asarray(tall).T, values @ tall.T)
    total = jax.shard_map(
        lambda a: jax.lax.psum(a, ("data", "model")), mesh=mesh, in_specs=rows.spec, out_specs=P()
    )
    np.testing.assert_array_equal(total(x), values.reshape(4, 2, 4).sum(0))
    np.testing.assert_array_equal(
        multihost_utils.process_allgather(np.full(2, rank)), [[0, 0], [1, 1]]
    )
    # The processes may come in another order, along the last axis, and along a diagonal.
    for order in ([3, 2, 1, 0], [0, 2, 1, 3], [0, 2, 3, 1]):
        devices = np.array(jax.devices())[order].reshape(2, 2)
        blocks = NamedSharding(Mesh(devices, mesh.axis_names), P("data", "model"))
        moved = jax.jit(lambda a: a - a.sum(0))(jax.device_put(values, blocks))
        for shard in moved.addressable_shards:
            np.testing.assert_array_equal(shard.data, (values - values.sum(0))[shard.index])
        # Parts go to the processes that have them on the other mesh, and back.
        for shard in jax.device_put(x, blocks).addressable_shards:
            np.testing.assert_array_equal(shard.data, values[shard.index])
        for shard in jax.device_put(moved, rows).addressable_shards:
            np.testing.assert_array_equal(shard.data, (values - values.sum(0))[shard.index])
    # One process calls a function, and the others get its results.
    calls = []

    def sines(a):
        calls.append(a.shape)
        return np.sin(a)

    last_device = jax.sharding.SingleDeviceSharding(jax.devices()[-1])
    for call, caller in (
        (partial(jax.pure_callback, sines), 0),
        (partial(io_callback, sines, ordered=True), 0),
        (partial(io_callback, sines, sharding=last_device), 1),
    ):
        result = jax.jit(lambda a, call=call: call(a, a) + 1)(x)
        np.testing.assert_array_equal(
            multihost_utils.process_allgather(result, tiled=True), np.sin(values) + 1
        )
        assert calls == ([values.shape] if rank == caller else []), calls
        calls.clear()
    # Programs of one process run in it alone.
    assert jnp.arange(4.0).sum() + rank == 6 + rank
    last = NamedSharding(Mesh(np.array(jax.devices()[2:]), "model"), P("model"))
    x_of_last = jax.make_array_from_callback(
        values.shape, last, lambda index: values[index], dtype=values.dtype
    )
    doubled = jax.jit(lambda a: a * 2)(x_of_last)
    assert len(doubled.addressable_shards) == 2 * rank

    # A training step is that of one process.
    def loss(weights, a):
        return jnp.square(jnp.tanh(a @ weights["in"]) @ weights["out"]).mean()

    def step(weights, a):
        value, gradient = jax.value_and_grad(loss)(weights, a)
        return jax.tree.map(lambda w, g: w - 0.1 * g, weights, gradient), value

    weights = {
        "in": np.linspace(-1, 1, 32, dtype=np.float32).reshape(4, 8),
        "out": np.linspace(1, 2, 16, dtype=np.float32).reshape(8, 2),
    }
    places = {"in": NamedSharding(mesh, P(None, "model")), "out": NamedSharding(mesh, P("model"))}
    expected, sharded = weights, jax.device_put(weights, places)
    batch = jax.device_put(values / 32, NamedSharding(mesh, P("data")))
    for _ in range(2):
        expected, expected_loss = jax.jit(step)(expected, values / 32)
        sharded, value = jax.jit(step, donate_argnums=0)(sharded, batch)
        np.testing.assert_allclose(value, expected_loss, rtol=1e-5)

    # A process that an exception ends is an error of the others, whose own devices stay.
    if rank == 1:
        raise ValueError("process 1 ends")
    try:
        jax.block_until_ready(total(x))
        raise AssertionError("a sum with a process that has ended succeeded")
    except (ValueError, RuntimeError) as error:
        assert "rank 1" in str(error) and "ended" in str(error), error
    np.testing.assert_array_equal(jnp.arange(3.0) + 1, [1, 2, 3])


if __name__ == "__main__":
    if importlib.util.find_spec("jax") is None:
        print("SKIP: this Python has no JAX")
        sys.exit(77)
    if sys.argv[1] == "process":
        run_process(sys.argv[2], int(sys.argv[3]))
    else:
        sys.exit(start_processes(sys.argv[1]))
