# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""JAX on one CPU device: training steps of conv nets, channels last.

  python jax_conv.py cnn      --batch 64
  python jax_conv.py resnet50 --batch 32 --steps 10 --warmup 0

One JSON line a run; models, inputs and losses are those of conv_step.cpp, and
torch_conv.py's.
"""
import argparse
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from common import learnable_batch, report, time_steps
from conv_models import CNN_SHAPES, RESNET_BLOCKS, peer_weights, resnet_shapes

parser = argparse.ArgumentParser()
parser.add_argument("case", choices=["cnn", "resnet50"])
parser.add_argument("--batch", type=int, default=64)
parser.add_argument("--size", type=int, default=224, help="resnet50 only")
parser.add_argument("--steps", type=int, default=50)
parser.add_argument("--warmup", type=int, default=10)
args = parser.parse_args()


def conv(x, w, stride=1, pad="SAME"):
    return lax.conv_general_dilated(x, w, (stride, stride), pad,
                                    dimension_numbers=("NHWC", "HWIO", "NHWC"))


def batch_norm(x, scale, offset, moving):
    mean = x.mean((0, 1, 2))
    var = jnp.square(x - mean).mean((0, 1, 2))
    moving.append((mean, var))
    return (x - mean) * (lax.rsqrt(var + 1e-5) * scale) + offset


def max_pool(x, size, stride, pad):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, size, size, 1), (1, stride, stride, 1), pad)


def cross_entropy(logits, y):
    logp = jax.nn.log_softmax(logits)
    return -jnp.mean(jnp.take_along_axis(logp, y[:, None], axis=1))


def cnn(p, x, y):
    moving = []
    for _ in range(2):
        w, b, scale, offset = (next(p) for _ in range(4))
        x = jax.nn.relu(batch_norm(conv(x, w) + b, scale, offset, moving))
        x = max_pool(x, 2, 2, "VALID")
    x = x.reshape(x.shape[0], -1)
    x = jax.nn.relu(x @ next(p) + next(p))
    return cross_entropy(x @ next(p) + next(p), y), moving


def resnet50(p, x, y):
    moving = []

    def unit(x, stride=1):
        w = next(p)
        k = w.shape[0] // 2
        x = conv(x, w, stride, [(k, k), (k, k)])
        return batch_norm(x, next(p), next(p), moving)

    x = max_pool(jax.nn.relu(unit(x, 2)), 3, 2, [(0, 0), (1, 1), (1, 1), (0, 0)])
    for stage, blocks in enumerate(RESNET_BLOCKS):
        for k in range(blocks):
            stride = 2 if k == 0 and stage else 1
            h = jax.nn.relu(unit(x))
            h = jax.nn.relu(unit(h, stride))
            h = unit(h)
            x = jax.nn.relu(h + (unit(x, stride) if k == 0 else x))
    x = x.mean((1, 2))
    return cross_entropy(x @ next(p) + next(p), y), moving


if args.case == "cnn":
    shapes, model = CNN_SHAPES, cnn
    x, y = learnable_batch(args.batch, 32 * 32 * 3, 1)
    x = x.reshape(-1, 32, 32, 3)
else:
    shapes, model = resnet_shapes(), resnet50
    x, y = learnable_batch(args.batch, args.size * args.size * 3, 1)
    x = x.reshape(-1, args.size, args.size, 3)
params = [jnp.asarray(w) for w in peer_weights(shapes)]


def adam(params, grads, state):
    m, v, t = state
    m = [0.9 * m + 0.1 * g for m, g in zip(m, grads)]
    v = [0.999 * v + 0.001 * g * g for v, g in zip(v, grads)]
    c1, c2 = 1 - 0.9**t, 1 - 0.999**t
    params = [p - 1e-3 * (m / c1) / (jnp.sqrt(v / c2) + 1e-7) for p, m, v in zip(params, m, v)]
    return params, (m, v, t + 1)


def momentum(params, grads, v):
    v = [0.9 * v - 1e-2 * g for v, g in zip(v, grads)]
    return [p + v for p, v in zip(params, v)], v


zeros = [jnp.zeros_like(p) for p in params]
if args.case == "cnn":
    update, slots = adam, (zeros, [jnp.zeros_like(p) for p in params], jnp.float32(1))
else:
    update, slots = momentum, zeros


def train_step(state, x, y):
    params, slots, averages = state
    (value, moving), grads = jax.value_and_grad(
        lambda params: model(iter(params), x, y), has_aux=True)(params)
    averages = [(a + 0.01 * (m - a), b + 0.01 * (v - b))
                for (a, b), (m, v) in zip(averages, moving)]
    params, slots = update(params, grads, slots)
    return value, (params, slots, averages)


_, moving = jax.eval_shape(lambda p: model(iter(p), x, y), params)
averages = [(jnp.zeros(m.shape), jnp.ones(v.shape)) for m, v in moving]
state = (params, slots, averages)
begin = time.perf_counter()
lowered = jax.jit(train_step, donate_argnums=0).lower(state, x, y)
traced = time.perf_counter()
compiled = lowered.compile()
done = time.perf_counter()
x, y = jnp.asarray(x), jnp.asarray(y)
losses = []


def step():
    global state
    value, state = compiled(state, x, y)
    jax.block_until_ready((value, state))
    losses.append(value)


processor = time.process_time()
best, median = time_steps(step, args.steps, args.warmup)
report(peer="jax", version=jax.__version__, case=args.case, devices=1, batch=args.batch,
       step_ms_best=round(best, 3), step_ms_median=round(median, 3),
       step_cpu_ms=round((time.process_time() - processor) * 1e3 / (args.steps + args.warmup), 3),
       trace_ms=round((traced - begin) * 1e3, 1), compile_ms=round((done - traced) * 1e3, 1),
       loss_1=float(losses[0]), loss_10=float(losses[9]) if len(losses) > 9 else None)
