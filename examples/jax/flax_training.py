# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains a network of flax with optax, with the batch over all devices.

    pip install flax optax
    JAX_PLATFORMS=meshloom,cpu MESHLOOM_DEVICES=8 python flax_training.py
"""
import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

BATCH, WIDTH, CLASSES, STEPS = 64, 32, 10, 30


class Network(nnx.Module):
    def __init__(self, rngs: nnx.Rngs):
        self.hidden = nnx.Linear(WIDTH, 64, rngs=rngs)
        self.norm = nnx.BatchNorm(64, rngs=rngs)
        self.output = nnx.Linear(64, CLASSES, rngs=rngs)

    def __call__(self, x):
        return self.output(nnx.relu(self.norm(self.hidden(x))))


@nnx.jit
def step(network, optimizer, x, labels):
    def loss(network):
        losses = optax.softmax_cross_entropy_with_integer_labels(network(x), labels)
        return losses.mean()

    value, gradients = nnx.value_and_grad(loss)(network)
    optimizer.update(network, gradients)
    return value


mesh = jax.make_mesh((jax.device_count(),), ("batch",), axis_types=(AxisType.Auto,))
rows = NamedSharding(mesh, P("batch"))
x = jax.device_put(jax.random.normal(jax.random.key(0), (BATCH, WIDTH)), rows)
labels = jax.device_put(jnp.argmax(x[:, :CLASSES], axis=1), rows)

network = Network(nnx.Rngs(0))
optimizer = nnx.Optimizer(network, optax.adamw(1e-2), wrt=nnx.Param)
losses = [float(step(network, optimizer, x, labels)) for _ in range(STEPS)]
print(f"{jax.device_count()} devices, loss {losses[0]:.2f} -> {losses[-1]:.2f}")
