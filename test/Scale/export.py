# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the training steps of three large models as StableHLO, by JAX.

    python test/Scale/export.py [NAME ...]

JAX traces shapes only: no weight is ever allocated. The files lie beside this script, so
that tests and docs/Decide.md need no JAX. Layers are a scan whose body is computed again
in the backward pass; weights and Adam's moments are f32, and products are bf16.
"""
import functools
import os
import pathlib
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=64"

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec

# name: axes of the mesh, layers, width, heads, hidden width, vocabulary, sequence, batch,
# experts. A model whose name ends in _sequence cuts what lives between its layers along the
# sequence too.
MODELS = {
    "gpt2": ({"data": 64}, 12, 768, 12, 3072, 50304, 1024, 512, 0),
    "decoder_70b": ({"data": 8, "model": 8}, 80, 8192, 64, 28672, 32000, 4096, 64, 0),
    "decoder_70b_sequence": ({"data": 8, "model": 8}, 80, 8192, 64, 28672, 32000, 4096, 64, 0),
    "moe_64": ({"data": 8, "expert": 8}, 32, 4096, 32, 8192, 32000, 2048, 512, 64),
}


def shapes_of(layers, width, hidden, vocabulary, experts):
    """Name of each weight: its shape and the mesh axis of each dim."""
    tensor = "expert" if experts else "model"
    attention = {
        "query": ((layers, width, width), (None, "data", tensor)),
        "key": ((layers, width, width), (None, "data", tensor)),
        "value": ((layers, width, width), (None, "data", tensor)),
        "out": ((layers, width, width), (None, tensor, "data")),
        "norm1": ((layers, width), (None, None)),
        "norm2": ((layers, width), (None, None)),
        "embedding": ((vocabulary, width), (tensor, "data")),
    }
    if not experts:
        return attention | {
            "up": ((layers, width, hidden), (None, "data", tensor)),
            "down": ((layers, hidden, width), (None, tensor, "data")),
        }
    return attention | {
        "router": ((layers, width, experts), (None, None, None)),
        "up": ((layers, experts, width, hidden), (None, "expert", "data", None)),
        "down": ((layers, experts, hidden, width), (None, "expert", None, "data")),
    }


def norm(x, scale):
    mean_square = jnp.mean(jnp.square(x.astype(jnp.float32)), -1, keepdims=True)
    return (x * jax.lax.rsqrt(mean_square + 1e-6)).astype(x.dtype) * scale.astype(x.dtype)


def experts_of(x, w):
    """Each token goes to the expert with the largest score, up to a capacity."""
    batch, length, _ = x.shape
    experts = w["router"].shape[-1]
    capacity = 2 * length // experts
    scores = jax.nn.softmax(jnp.einsum("bsd,de->bse", x, w["router"]).astype(jnp.float32))
    chosen = jax.nn.one_hot(jnp.argmax(scores, -1), experts, dtype=jnp.float32)
    place = jnp.cumsum(chosen, 1) * chosen - 1
    sent = jax.nn.one_hot(place.astype(jnp.int32), capacity, dtype=x.dtype)
    weighted = sent * (scores * chosen)[..., None].astype(x.dtype)
    inputs = jnp.einsum("bsec,bsd->ebcd", sent, x)
    hidden = jax.nn.gelu(jnp.einsum("ebcd,edf->ebcf", inputs, w["up"]))
    outputs = jnp.einsum("ebcf,efd->ebcd", hidden, w["down"])
    return jnp.einsum("bsec,ebcd->bsd", weighted, outputs)


def block(heads, experts, x, w, laid_out):
    batch, length, width = x.shape
    w = jax.tree.map(lambda value: value.astype(jnp.bfloat16), w)
    split = lambda value: laid_out(
        value.reshape(batch, length, heads, width // heads), "data", None, "tensor", None)
    h = norm(x, w["norm1"])
    query, key, value = (split(h @ w[name]) for name in ("query", "key", "value"))
    scores = jnp.einsum("bshd,bthd->bhst", query, key).astype(jnp.float32)
    mask = jnp.tril(jnp.ones((length, length), bool))
    scores = jnp.where(mask, scores / (width // heads) ** 0.5, -1e9)
    weights = jax.nn.softmax(scores).astype(x.dtype)
    mixed = jnp.einsum("bhst,bthd->bshd", weights, value).reshape(batch, length, width)
    x = laid_out(x + mixed @ w["out"], "data", "sequence", None)
    h = norm(x, w["norm2"])
    if experts:
        return x + experts_of(h, w)
    hidden = laid_out(jax.nn.gelu(h @ w["up"]), "data", None, "tensor")
    return laid_out(x + hidden @ w["down"], "data", "sequence", None)


def loss_of(heads, experts, laid_out, weights, tokens, targets):
    table = weights["embedding"].astype(jnp.bfloat16)
    layers = {name: value for name, value in weights.items() if name != "embedding"}
    body = jax.checkpoint(functools.partial(block, heads, experts, laid_out=laid_out))
    x, _ = jax.lax.scan(lambda x, w: (body(x, w), None), laid_out(table[tokens], "data", "sequence", None),
                        layers)
    logits = laid_out(jnp.einsum("bsd,vd->bsv", x, table), "data", None, "tensor")
    logits = logits.astype(jnp.float32)
    chosen = jnp.take_along_axis(logits, targets[..., None], -1)[..., 0]
    return jnp.mean(jax.nn.logsumexp(logits, -1) - chosen)


def step(heads, experts, laid_out, weights, first, second, tokens, targets):
    loss, gradients = jax.value_and_grad(
        functools.partial(loss_of, heads, experts, laid_out))(weights, tokens, targets)
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradients)
    second = jax.tree.map(lambda v, g: 0.95 * v + 0.05 * g * g, second, gradients)
    update = lambda w, m, v: w - 3e-4 * m / (jnp.sqrt(v) + 1e-8)
    return jax.tree.map(update, weights, first, second), first, second, loss


def export(name):
    axes, layers, width, heads, hidden, vocabulary, length, batch, experts = MODELS[name]
    count = 1
    for size in axes.values():
        count *= size
    automatic = (jax.sharding.AxisType.Auto,) * len(axes)
    mesh = jax.make_mesh(tuple(axes.values()), tuple(axes), axis_types=automatic,
                         devices=jax.devices()[:count])

    def laid_out(x, *names):
        """Activations: "tensor" is the axis of heads and hidden units."""
        tensor = "expert" if experts else "model"
        sequence = tensor if name.endswith("_sequence") else None
        spec = [{"tensor": tensor, "sequence": sequence}.get(n, n) for n in names]
        spec = PartitionSpec(*(axis if axis in axes else None for axis in spec))
        return jax.lax.with_sharding_constraint(x, NamedSharding(mesh, spec))

    def value(shape, names, dtype=jnp.float32):
        spec = PartitionSpec(*(axis if axis in axes else None for axis in names))
        return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(mesh, spec))

    weights = {
        key: value(shape, names)
        for key, (shape, names) in shapes_of(layers, width, hidden, vocabulary,
                                             experts).items()
    }
    tokens = value((batch, length), ("data", None), jnp.int32)
    layouts = jax.tree.map(lambda x: x.sharding, (weights, weights, weights))
    jitted = jax.jit(functools.partial(step, heads, experts, laid_out), donate_argnums=(0, 1, 2),
                     out_shardings=(*layouts, None))
    text = jitted.lower(weights, weights, weights, tokens, tokens).as_text()
    path = pathlib.Path(__file__).parent / f"{name}.mlir"
    path.write_text("// Written by test/Scale/export.py.\n" + text)
    print(path, len(text))


for chosen in sys.argv[1:] or MODELS:
    export(chosen)
