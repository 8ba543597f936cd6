# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A product of sharded matrices on 8 virtual devices.

    JAX_PLATFORMS=meshloom,cpu MESHLOOM_DEVICES=8 python first_program.py
"""
import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((4, 2), ("batch", "model"))
x = jax.device_put(jnp.ones((512, 256)), NamedSharding(mesh, P("batch", None)))
w = jax.device_put(jnp.ones((256, 128)), NamedSharding(mesh, P(None, "model")))
y = jax.jit(lambda x, w: jnp.tanh(x @ w))(x, w)
print(f"{y.shape} on {len(y.sharding.device_set)} devices, a shard is "
      f"{y.addressable_shards[0].data.shape}")
