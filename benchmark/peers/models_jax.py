# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The models of examples/ in JAX on one CPU device, or on several by batch.

  python models_jax.py gpt2   --size small [--batch 4] [--steps 10]
  python models_jax.py vit | lstm | decode

One JSON line; losses are those of benchmark/models.cpp.
"""
import argparse
import os
import time

parser = argparse.ArgumentParser()
parser.add_argument("case", choices=["gpt2", "vit", "lstm", "decode"])
parser.add_argument("--size", default="tiny")
parser.add_argument("--batch", type=int, default=0)
parser.add_argument("--layers", type=int, default=0)
parser.add_argument("--steps", type=int, default=10)
parser.add_argument("--dump-stablehlo", help="write the step's StableHLO here")
args = parser.parse_args()

import jax
import jax.numpy as jnp
import numpy as np

import models
from common import hash_u32, labels, report, uniform

config, shapes = getattr(models, "gpt2" if args.case == "decode" else args.case)(args.size, args.layers)
params = {name: jnp.asarray(value) for name, value in models.weights(shapes).items()}
batch = args.batch or (1 if args.case == "decode" else config["batch"])


def norm(x, p, name, eps):
    mean = x.mean(-1, keepdims=True)
    var = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(var + eps) * p[name + ".weight"] + p[name + ".bias"]


def attention(q, k, v, mask=None):
    """[b, t, heads, d], [b, s, heads, d] twice."""
    s = jnp.einsum("btnd,bsnd->bnts", q * np.float32(q.shape[-1] ** -0.5), k)
    if mask is not None:
        s = jnp.where(mask, s, -jnp.inf)
    return jnp.einsum("bnts,bsnd->btnd", jax.nn.softmax(s, axis=-1), v)


def cross_entropy(logits, y):
    logp = jax.nn.log_softmax(logits)
    return -jnp.mean(jnp.take_along_axis(logp, y[..., None], axis=-1))


def gpt2_block(p, h, x, mask, cache=None, position=None):
    n = norm(x, p, h + "ln_1", 1e-5)
    qkv = n @ p[h + "attn.c_attn.weight"] + p[h + "attn.c_attn.bias"].reshape(-1)
    q, k, v = [a.reshape(*x.shape[:2], config["heads"], -1) for a in jnp.split(qkv, 3, -1)]
    if cache is not None:
        k = jax.lax.dynamic_update_slice(cache[0], k, (0, position, 0, 0))
        v = jax.lax.dynamic_update_slice(cache[1], v, (0, position, 0, 0))
        cache = (k, v)
    a = attention(q, k, v, mask).reshape(x.shape)
    x = x + a @ p[h + "attn.c_proj.weight"] + p[h + "attn.c_proj.bias"]
    n = norm(x, p, h + "ln_2", 1e-5)
    up = jax.nn.gelu(n @ p[h + "mlp.c_fc.weight"] + p[h + "mlp.c_fc.bias"])
    return x + up @ p[h + "mlp.c_proj.weight"] + p[h + "mlp.c_proj.bias"], cache


def gpt2_loss(p, tokens):
    x, y = tokens[:, :-1], tokens[:, 1:]
    t = x.shape[1]
    h = p["wte.weight"][x] + p["wpe.weight"][:t]
    mask = jnp.tril(jnp.ones((t, t), bool))
    for i in range(config["layers"]):
        h, _ = gpt2_block(p, f"h.{i}.", h, mask)
    return cross_entropy(norm(h, p, "ln_f", 1e-5) @ p["wte.weight"].T, y)


def vit_loss(p, images, y):
    d, side, patch = config["width"], config["image"] // config["patch"], config["patch"]
    b = images.shape[0]
    x = images.reshape(b, side, patch, side, patch, config["channels"])
    x = jnp.einsum("bypxqc,dcpq->byxd", x, p["patch_embed.proj.weight"]).reshape(b, side * side, d)
    x = jnp.concatenate([jnp.broadcast_to(p["cls_token"], (b, 1, d)), x + p["patch_embed.proj.bias"]], 1)
    x = x + p["pos_embed"]
    for i in range(config["layers"]):
        h = f"blocks.{i}."
        n = norm(x, p, h + "norm1", 1e-6)
        qkv = n @ p[h + "attn.qkv.weight"].T + p[h + "attn.qkv.bias"].reshape(-1)
        q, k, v = [a.reshape(*x.shape[:2], config["heads"], -1) for a in jnp.split(qkv, 3, -1)]
        a = attention(q, k, v).reshape(x.shape)
        x = x + a @ p[h + "attn.proj.weight"].T + p[h + "attn.proj.bias"]
        n = norm(x, p, h + "norm2", 1e-6)
        up = jax.nn.gelu(n @ p[h + "mlp.fc1.weight"].T + p[h + "mlp.fc1.bias"], approximate=False)
        x = x + up @ p[h + "mlp.fc2.weight"].T + p[h + "mlp.fc2.bias"]
    n = norm(x[:, 0], p, "norm", 1e-6)
    return cross_entropy(n @ p["head.weight"].T + p["head.bias"], y)


def lstm_loss(p, words):
    x = p["encoder.weight"][words[:-1]]
    for i in range(config["layers"]):
        # The example trains the sum of both biases.
        bias = p[f"rnn.bias_ih_l{i}"] + jax.lax.stop_gradient(p[f"rnn.bias_hh_l{i}"])
        given = x @ p[f"rnn.weight_ih_l{i}"].T + bias
        hidden = p[f"rnn.weight_hh_l{i}"]

        def step(carry, now, hidden=hidden):
            h, c = carry
            i, f, g, o = jnp.split(now + h @ hidden.T, 4, 1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        zero = jnp.zeros(x.shape[1:], jnp.float32)
        _, x = jax.lax.scan(step, (zero, zero), given)
    return cross_entropy(x @ p["decoder.weight"].T + p["decoder.bias"], words[1:])


def adam(params, grads, m, v, t, rate=1e-4, b1=0.9, b2=0.999, eps=1e-7):
    m = jax.tree.map(lambda m, g: b1 * m + (1 - b1) * g, m, grads)
    v = jax.tree.map(lambda v, g: b2 * v + (1 - b2) * g * g, v, grads)
    c1, c2 = 1 - b1**t, 1 - b2**t
    params = jax.tree.map(
        lambda p, m, v: p - rate * (m / c1) / (jnp.sqrt(v / c2) + eps), params, m, v)
    return params, m, v, t + 1


def decode(p, caches, token, position):
    x = p["wte.weight"][token][:, None] + jax.lax.dynamic_slice_in_dim(p["wpe.weight"], position, 1)
    mask = jnp.arange(caches[0][0].shape[1]) <= position
    new = []
    for i, cache in enumerate(caches):
        x, cache = gpt2_block(p, f"h.{i}.", x, mask, cache, position)
        new.append(cache)
    logits = (norm(x, p, "ln_f", 1e-5) @ p["wte.weight"].T)[:, 0]
    return new, jnp.argmax(logits, -1).astype(jnp.int32), jnp.sum(jnp.max(logits, -1))


begin = time.perf_counter()
losses, times, processor = [], [], []
if args.case == "decode":
    length = config["length"]
    head = (batch, length, config["heads"], config["width"] // config["heads"])
    caches = [(jnp.zeros(head), jnp.zeros(head)) for _ in range(config["layers"])]
    token = jnp.asarray((hash_u32(batch, 1) % np.uint32(config["vocabulary"])).astype(np.int32))
    step_fn = jax.jit(decode, donate_argnums=1)
    lowered = step_fn.lower(params, caches, token, np.int32(0))
    traced = time.perf_counter()
    compiled = lowered.compile()
    position = length // 2

    def step():
        global caches, token, position
        caches, token, best = compiled(params, caches, token, np.int32(position))
        position = length // 2 if position + 1 == length else position + 1
        return float(best)
else:
    if args.case == "vit":
        data = (jnp.asarray(uniform((batch, config["image"], config["image"], config["channels"]), 1)),
                jnp.asarray(labels(batch, 2)))
    else:
        n = batch * (config["length"] + 1)
        ids = (hash_u32(n, 1) % np.uint32(config["vocabulary"])).astype(np.int32)
        data = (jnp.asarray(ids.reshape((batch, -1) if args.case == "gpt2" else (-1, batch))),)
    loss = dict(gpt2=gpt2_loss, vit=vit_loss, lstm=lstm_loss)[args.case]
    zeros = jax.tree.map(jnp.zeros_like, params)
    state = (params, zeros, jax.tree.map(jnp.zeros_like, params), np.float32(1))

    def train_step(state, *data):
        params, m, v, t = state
        value, grads = jax.value_and_grad(loss)(params, *data)
        return value, adam(params, grads, m, v, t)

    lowered = jax.jit(train_step, donate_argnums=0).lower(state, *data)
    traced = time.perf_counter()
    compiled = lowered.compile()

    def step():
        global state
        value, state = compiled(state, *data)
        jax.block_until_ready(state)
        return float(value)

done = time.perf_counter()
if args.dump_stablehlo:
    with open(args.dump_stablehlo, "w") as out:
        out.write(lowered.as_text())
for _ in range(max(args.steps, 2)):
    start, used = time.perf_counter(), time.process_time()
    losses.append(step())
    times.append((time.perf_counter() - start) * 1e3)
    processor.append((time.process_time() - used) * 1e3)
report(peer="jax", version=jax.__version__, case=args.case, size=args.size, batch=batch,
       step_ms_best=round(min(times[1:]), 3), step_ms_median=round(float(np.median(times[1:])), 3),
       cpu_ms_median=round(float(np.median(processor[1:])), 3),
       trace_ms=round((traced - begin) * 1e3, 1), compile_ms=round((done - traced) * 1e3, 1),
       loss_1=losses[0], loss_10=losses[9] if len(losses) > 9 else None)
