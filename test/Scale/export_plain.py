# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the training step of a decoder without any layout as StableHLO, by JAX.

    python test/Scale/export_plain.py LAYERS WIDTH BATCH LENGTH VOCABULARY > step.mlir

Its layers are written out, its optimizer is SGD with momentum, and its arguments have names
("weights.layers.0.up"). Tests of automatic layouts read `plain_2.mlir`, which
`export_plain.py 2 256 16 64 512` wrote.
"""
import re
import sys

import jax
import jax.numpy as jnp

LAYERS, WIDTH, BATCH, LENGTH, VOCABULARY = map(int, sys.argv[1:])
HEAD = 64


def norm(x, scale, shift):
    x = x - x.mean(-1, keepdims=True)
    return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5) * scale + shift


def attention(w, x):
    query, key, value = (
        (x @ w[name]).reshape(BATCH, LENGTH, WIDTH // HEAD, HEAD)
        for name in ("query", "key", "value")
    )
    scores = jnp.einsum("bqhd,bkhd->bhqk", query, key) / HEAD**0.5
    scores = jnp.where(jnp.tril(jnp.ones((LENGTH, LENGTH), bool)), scores, -1e9)
    mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, -1), value)
    return mixed.reshape(BATCH, LENGTH, WIDTH) @ w["out"]


def block(w, x):
    x = x + attention(w, norm(x, w["scale1"], w["shift1"]))
    return x + jax.nn.gelu(norm(x, w["scale2"], w["shift2"]) @ w["up"]) @ w["down"]


def loss(weights, tokens, targets):
    x = weights["embedding"][tokens] + weights["positions"]
    for w in weights["layers"]:
        x = block(w, x)
    scores = jax.nn.log_softmax(x @ weights["head"])
    return -jnp.take_along_axis(scores, targets[..., None], -1).mean()


def step(weights, momentum, tokens, targets):
    value, gradients = jax.value_and_grad(loss)(weights, tokens, targets)
    momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, gradients)
    return jax.tree.map(lambda w, m: w - 0.1 * m, weights, momentum), momentum, value


def shape(*dims, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(dims, dtype)


def layer():
    vectors = {name: shape(WIDTH) for name in ("scale1", "shift1", "scale2", "shift2")}
    squares = {name: shape(WIDTH, WIDTH) for name in ("query", "key", "value", "out")}
    return vectors | squares | {"up": shape(WIDTH, 4 * WIDTH), "down": shape(4 * WIDTH, WIDTH)}


weights = {
    "embedding": shape(VOCABULARY, WIDTH),
    "positions": shape(LENGTH, WIDTH),
    "head": shape(WIDTH, VOCABULARY),
    "layers": [layer() for _ in range(LAYERS)],
}
tokens = shape(BATCH, LENGTH, dtype=jnp.int32)
inputs = {"weights": weights, "momentum": weights, "tokens": tokens, "targets": tokens}
names = [
    ".".join(str(getattr(key, "key", getattr(key, "idx", ""))) for key in path)
    for tree in inputs
    for path, _ in jax.tree_util.tree_leaves_with_path({tree: inputs[tree]})
]
text = jax.jit(step, donate_argnums=(0, 1)).lower(*inputs.values()).as_text()
header, rest = text.split(" -> ", 1)
for number, name in enumerate(names):
    header = re.sub(
        rf"(%arg{number}: tensor<[^>]*>)(?: \{{([^}}]*)\}})?",
        lambda found: f'{found[1]} {{dtensor.name = "{name}"'
        + (f", {found[2]}" if found[2] else "") + "}",
        header,
    )
print("// Written by test/Scale/export_plain.py.")
print(header + " -> " + rest, end="")
