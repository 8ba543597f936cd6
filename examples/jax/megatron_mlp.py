# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains a block as Megatron cuts it: the batch over one axis, the hidden layer over
the other one. The number of devices is that of the platform: 8, or 512 on a laptop.

    JAX_PLATFORMS=meshloom,cpu MESHLOOM_DEVICES=512 python megatron_mlp.py
"""
import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

MODEL = 4
WIDTH, HIDDEN, BATCH, STEPS = 64, 256, 512, 50

mesh = jax.make_mesh((jax.device_count() // MODEL, MODEL), ("batch", "model"),
                     axis_types=(AxisType.Auto,) * 2)


def place(value, *axes):
    return jax.device_put(value, NamedSharding(mesh, P(*axes)))


keys = jax.random.split(jax.random.key(0), 4)
params = {
    "up": place(jax.random.normal(keys[0], (WIDTH, HIDDEN)) / WIDTH**0.5, None, "model"),
    "down": place(jax.random.normal(keys[1], (HIDDEN, WIDTH)) / HIDDEN**0.5, "model", None),
}
x = place(jax.random.normal(keys[2], (BATCH, WIDTH)), "batch", None)
target = place(jnp.roll(x, 1, axis=1), "batch", None)


def loss_of(params, x, target):
    y = jax.nn.gelu(x @ params["up"]) @ params["down"]
    return jnp.mean((x + y - target) ** 2)


@jax.jit
def step(params, x, target):
    loss, gradient = jax.value_and_grad(loss_of)(params, x, target)
    return jax.tree.map(lambda p, g: p - 2.0 * g, params, gradient), loss


for i in range(STEPS + 1):
    params, loss = step(params, x, target)
    if i % 10 == 0:
        print(f"step {i}: loss {loss:.4f} on {jax.device_count()} devices")
