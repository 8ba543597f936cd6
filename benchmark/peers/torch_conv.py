# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch on CPU, one process: training steps of conv nets, eager or compiled.

  python torch_conv.py cnn      --batch 64 [--compile] [--nchw]
  python torch_conv.py resnet50 --batch 32 --steps 10 --warmup 0

One JSON line a run; models, inputs and losses are those of conv_step.cpp.
Memory is channels last unless --nchw is given.
"""
import argparse
import time

import numpy as np
import torch
import torch.nn.functional as F

from common import learnable_batch, report, time_steps
from conv_models import CNN_SHAPES, RESNET_BLOCKS, peer_weights, resnet_shapes

parser = argparse.ArgumentParser()
parser.add_argument("case", choices=["cnn", "resnet50"])
parser.add_argument("--batch", type=int, default=64)
parser.add_argument("--size", type=int, default=224, help="resnet50 only")
parser.add_argument("--steps", type=int, default=50)
parser.add_argument("--warmup", type=int, default=10)
parser.add_argument("--compile", action="store_true")
parser.add_argument("--nchw", action="store_true")
args = parser.parse_args()
form = torch.contiguous_format if args.nchw else torch.channels_last


def norm(x, scale, offset, moving):
    return F.batch_norm(x, *moving, scale, offset, training=True, momentum=0.01, eps=1e-5)


def cnn(p, moving, x, y):
    for _ in range(2):
        x = F.conv2d(x, next(p), next(p), padding=1)
        x = F.max_pool2d(F.relu(norm(x, next(p), next(p), next(moving))), 2)
    x = x.permute(0, 2, 3, 1).reshape(x.shape[0], -1)
    return F.cross_entropy(dense(p, F.relu(dense(p, x))), y)


def dense(p, x):
    w, b = next(p), next(p)
    return torch.addmm(b, x, w)


def resnet50(p, moving, x, y):
    def unit(x, stride=1):
        w = next(p)
        x = F.conv2d(x, w, None, stride, w.shape[-1] // 2)
        return norm(x, next(p), next(p), next(moving))

    x = F.max_pool2d(F.relu(unit(x, 2)), 3, 2, 1)
    for stage, blocks in enumerate(RESNET_BLOCKS):
        for k in range(blocks):
            stride = 2 if k == 0 and stage else 1
            h = F.relu(unit(x))
            h = F.relu(unit(h, stride))
            h = unit(h)
            x = F.relu(h + (unit(x, stride) if k == 0 else x))
    return F.cross_entropy(dense(p, x.mean((2, 3))), y)


if args.case == "cnn":
    shapes, model = CNN_SHAPES, cnn
    size = 32
else:
    shapes, model = resnet_shapes(), resnet50
    size = args.size
x, y = learnable_batch(args.batch, size * size * 3, 1)
x = torch.from_numpy(x.reshape(-1, size, size, 3)).permute(0, 3, 1, 2).contiguous(memory_format=form)
y = torch.from_numpy(y.astype(np.int64))
params, moving = [], []
for k, w in enumerate(peer_weights(shapes)):
    w = torch.from_numpy(w)
    if w.ndim == 4:
        w = w.permute(3, 2, 0, 1).contiguous(memory_format=form)
    if w.ndim == 1 and w.min() == 1:
        moving.append((torch.zeros_like(w), torch.ones_like(w)))
    params.append(w.requires_grad_())
m, v = [[torch.zeros_like(p) for p in params] for _ in range(2)]
clock = [0]


def loss(x, y):
    return model(iter(params), iter(moving), x, y)


def adam(params, grads, m, v, c1, c2):
    torch._foreach_mul_(m, 0.9)
    torch._foreach_add_(m, grads, alpha=0.1)
    torch._foreach_mul_(v, 0.999)
    torch._foreach_addcmul_(v, grads, grads, 0.001)
    for p, a, b in zip(params, m, v):
        p.sub_(1e-3 * (a / c1) / ((b / c2).sqrt() + 1e-7))


def momentum(params, grads, m, v, c1, c2):
    torch._foreach_mul_(m, 0.9)
    torch._foreach_add_(m, grads, alpha=-1e-2)
    torch._foreach_add_(params, m)


update = adam if args.case == "cnn" else momentum
if args.compile:
    loss, update = torch.compile(loss), torch.compile(update)


def step():
    clock[0] += 1
    value = loss(x, y)
    grads = torch.autograd.grad(value, params)
    c1, c2 = torch.tensor(1 - 0.9 ** clock[0]), torch.tensor(1 - 0.999 ** clock[0])
    with torch.no_grad():
        update(params, grads, m, v, c1, c2)
    return float(value.detach())


begin = time.perf_counter()
losses = [step()]
first = (time.perf_counter() - begin) * 1e3
processor = time.process_time()
best, median = time_steps(lambda: losses.append(step()), args.steps, args.warmup)
report(peer="torch", version=torch.__version__, case=args.case, devices=1, batch=args.batch,
       mode=("compile" if args.compile else "eager") + (" nchw" if args.nchw else ""),
       step_ms_best=round(best, 3), step_ms_median=round(median, 3),
       step_cpu_ms=round((time.process_time() - processor) * 1e3 / (args.steps + args.warmup), 3), first_step_ms=round(first, 1),
       loss_1=losses[0], loss_10=losses[9] if len(losses) > 9 else None)
