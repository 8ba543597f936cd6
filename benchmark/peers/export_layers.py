# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes train steps of n layers as StableHLO with Shardy annotations, and says
how long JAX takes to trace and to compile them.

  python export_layers.py block --layers 12 --out block12.mlir
  python export_layers.py block --layers 12 --scan --out scan12.mlir
  python export_layers.py tanh  --layers 200 --out tanh200.mlir

block: the transformer block of jax_bench.py with Adam, layers written out or in
one scan; tanh: n times tanh(x @ w), and the gradients with respect to all w. One
JSON line a run. Nothing is computed: arguments are shapes with shardings.
"""
import argparse
import os
import time

parser = argparse.ArgumentParser()
parser.add_argument("case", choices=["block", "tanh"])
parser.add_argument("--layers", type=int, default=1)
parser.add_argument("--scan", action="store_true", help="block: layers in a scan")
parser.add_argument("--width", type=int, default=768)
parser.add_argument("--heads", type=int, default=12)
parser.add_argument("--tokens", type=int, default=128)
parser.add_argument("--vocabulary", type=int, default=1024)
parser.add_argument("--batch", type=int, default=8)
parser.add_argument("--mesh", default="2,4", help="data,model axis sizes")
parser.add_argument("--compile", action="store_true", help="time JAX's compilation")
parser.add_argument("--out", help="write the StableHLO here")
args = parser.parse_args()
sizes = [int(size) for size in args.mesh.split(",")]
devices = sizes[0] * sizes[1]
os.environ["XLA_FLAGS"] = (
    os.environ.get("XLA_FLAGS", "")
    + f" --xla_force_host_platform_device_count={devices}"
)

import resource

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec as P

from common import report

mesh = jax.make_mesh(
    tuple(sizes), ("batch", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2
)


def argument(shape, *spec, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(mesh, P(*spec)))


def adam(params, grads, m, v, t, rate=1e-3, b1=0.9, b2=0.999, eps=1e-7):
    m = jax.tree.map(lambda m, g: b1 * m + (1 - b1) * g, m, grads)
    v = jax.tree.map(lambda v, g: b2 * v + (1 - b2) * g * g, v, grads)
    c1, c2 = 1 - b1**t, 1 - b2**t
    params = jax.tree.map(
        lambda p, m, v: p - rate * (m / c1) / (jnp.sqrt(v / c2) + eps), params, m, v
    )
    return params, m, v, t + 1


def block():
    d, heads, tokens, vocabulary = args.width, args.heads, args.tokens, args.vocabulary

    def layer(lead, front):
        def a(*shape, spec=()):
            return argument((*lead, *shape), *(front + spec if spec else ()))

        column, row = (None, "model"), ("model", None)
        return dict(
            g1=a(d), b1=a(d), g2=a(d), b2=a(d),
            q=a(d, d, spec=column), k=a(d, d, spec=column), v=a(d, d, spec=column),
            o=a(d, d, spec=row), up=a(d, 4 * d, spec=column), down=a(4 * d, d, spec=row))

    params = dict(
        embed=argument((vocabulary, d)), head=argument((d, vocabulary), None, "model"),
        layers=layer((args.layers,), (None,)) if args.scan
        else [layer((), ()) for _ in range(args.layers)])
    x = argument((args.batch, tokens), "batch", None, dtype=jnp.int32)

    def norm(x, g, b):
        mean = x.mean(-1, keepdims=True)
        var = ((x - mean) ** 2).mean(-1, keepdims=True)
        return (x - mean) * jax.lax.rsqrt(var + 1e-5) * g + b

    def split(x):
        return x.reshape(x.shape[0], tokens, heads, d // heads).transpose(0, 2, 1, 3)

    def loss(params, x, y):
        h = params["embed"][x]
        mask = jnp.tril(jnp.ones((tokens, tokens), bool))

        def apply(h, p):
            n = norm(h, p["g1"], p["b1"])
            q, k, v = split(n @ p["q"]), split(n @ p["k"]), split(n @ p["v"])
            s = q @ k.transpose(0, 1, 3, 2) * np.float32((d // heads) ** -0.5)
            a = jax.nn.softmax(jnp.where(mask, s, np.float32(-1e9)), axis=-1) @ v
            h = h + a.transpose(0, 2, 1, 3).reshape(h.shape) @ p["o"]
            n = norm(h, p["g2"], p["b2"])
            return h + jax.nn.gelu(n @ p["up"]) @ p["down"]

        if args.scan:
            h, _ = jax.lax.scan(lambda h, p: (apply(h, p), None), h, params["layers"])
        else:
            for p in params["layers"]:
                h = apply(h, p)
        logp = jax.nn.log_softmax(h @ params["head"])
        return -jnp.mean(jnp.take_along_axis(logp, y[..., None], axis=-1))

    def train_step(state, x, y):
        params, m, v, t = state
        value, grads = jax.value_and_grad(loss)(params, x, y)
        return value, adam(params, grads, m, v, t)

    state = (params, params, params, argument(()))
    shardings = jax.tree.map(lambda a: a.sharding, state)
    step = jax.jit(train_step, donate_argnums=0,
                   out_shardings=(NamedSharding(mesh, P()), shardings))
    return step, (state, x, x)


def tanh():
    d = args.width
    weights = [argument((d, d), None, "model") for _ in range(args.layers)]

    def loss(weights, x):
        for w in weights:
            x = jnp.tanh(x @ w)
        return jnp.sum(x)

    return jax.jit(jax.grad(loss)), (weights, argument((args.batch, d), "batch", None))


step, arguments = dict(block=block, tanh=tanh)[args.case]()
begin = time.perf_counter()
lowered = step.lower(*arguments)
facts = dict(trace_s=round(time.perf_counter() - begin, 3))
if args.out:
    with open(args.out, "w") as out:
        out.write(lowered.as_text())
if args.compile:
    begin = time.perf_counter()
    lowered.compile()
    facts["compile_s"] = round(time.perf_counter() - begin, 3)
    facts["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
report(peer="jax", version=jax.__version__, case=args.case, layers=args.layers,
       scan=args.scan, mesh=args.mesh, width=args.width, **facts)
