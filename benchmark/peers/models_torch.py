# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The models of examples/ in PyTorch on one CPU, eager or with torch.compile.

  python models_torch.py gpt2 --size small [--compile]
  python models_torch.py vit | lstm | decode

One JSON line; losses are those of benchmark/models.cpp.
"""
import argparse
import time

import numpy as np
import torch
import torch.nn.functional as F

import models
from common import hash_u32, labels, report, uniform

parser = argparse.ArgumentParser()
parser.add_argument("case", choices=["gpt2", "vit", "lstm", "decode"])
parser.add_argument("--size", default="tiny")
parser.add_argument("--batch", type=int, default=0)
parser.add_argument("--layers", type=int, default=0)
parser.add_argument("--steps", type=int, default=10)
parser.add_argument("--compile", action="store_true")
args = parser.parse_args()

config, shapes = getattr(models, "gpt2" if args.case == "decode" else args.case)(args.size, args.layers)
params = {name: torch.from_numpy(value) for name, value in models.weights(shapes).items()}
params = {name: p.flatten() if name.endswith("bias") else p for name, p in params.items()}
batch = args.batch or (1 if args.case == "decode" else config["batch"])
p = {name: value.requires_grad_(args.case != "decode") for name, value in params.items()}
width = config["width"]


def norm(x, name, eps):
    return F.layer_norm(x, (width,), p[name + ".weight"], p[name + ".bias"], eps)


def conv1d(x, name):
    return torch.addmm(p[name + ".bias"], x.reshape(-1, x.shape[-1]), p[name + ".weight"]).view(*x.shape[:-1], -1)


def linear(x, name):
    return F.linear(x, p[name + ".weight"], p[name + ".bias"])


def split(qkv):
    """[b, t, 3 d] -> three of [b, heads, t, d / heads]."""
    return [a.view(*a.shape[:2], config["heads"], -1).transpose(1, 2) for a in qkv.split(width, -1)]


def gpt2_block(h, x, cache=None, position=None):
    q, k, v = split(conv1d(norm(x, h + "ln_1", 1e-5), h + "attn.c_attn"))
    if cache is None:
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    else:
        cache[0].index_copy_(2, position, k)
        cache[1].index_copy_(2, position, v)
        mask = torch.arange(cache[0].shape[2]) <= position
        a = F.scaled_dot_product_attention(q, cache[0], cache[1], attn_mask=mask[None, None, None])
    x = x + conv1d(a.transpose(1, 2).reshape(x.shape), h + "attn.c_proj")
    up = F.gelu(conv1d(norm(x, h + "ln_2", 1e-5), h + "mlp.c_fc"), approximate="tanh")
    return x + conv1d(up, h + "mlp.c_proj")


def gpt2_loss(tokens):
    x, y = tokens[:, :-1], tokens[:, 1:]
    h = F.embedding(x, p["wte.weight"]) + p["wpe.weight"][: x.shape[1]]
    for i in range(config["layers"]):
        h = gpt2_block(f"h.{i}.", h)
    logits = F.linear(norm(h, "ln_f", 1e-5), p["wte.weight"])
    return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), y.reshape(-1))


def vit_loss(images, y):
    x = F.conv2d(images, p["patch_embed.proj.weight"], p["patch_embed.proj.bias"], stride=config["patch"])
    x = x.flatten(2).transpose(1, 2)
    x = torch.cat([p["cls_token"].expand(x.shape[0], 1, width), x], 1) + p["pos_embed"]
    for i in range(config["layers"]):
        h = f"blocks.{i}."
        q, k, v = split(linear(norm(x, h + "norm1", 1e-6), h + "attn.qkv"))
        a = F.scaled_dot_product_attention(q, k, v)
        x = x + linear(a.transpose(1, 2).reshape(x.shape), h + "attn.proj")
        x = x + linear(F.gelu(linear(norm(x, h + "norm2", 1e-6), h + "mlp.fc1")), h + "mlp.fc2")
    return F.cross_entropy(linear(norm(x[:, 0], "norm", 1e-6), "head"), y)


if args.case == "lstm":
    rnn = torch.nn.LSTM(width, width, config["layers"])
    rnn_names = [n for i in range(config["layers"])
                 for n in (f"weight_ih_l{i}", f"weight_hh_l{i}", f"bias_ih_l{i}", f"bias_hh_l{i}")]
    with torch.no_grad():
        for name in rnn_names:
            # The example trains the sum of both biases.
            getattr(rnn, name).copy_(p["rnn." + name]).requires_grad_("bias_hh" not in name)
            p["rnn." + name] = getattr(rnn, name)


def lstm_loss(words):
    x, _ = rnn(F.embedding(words[:-1], p["encoder.weight"]))
    logits = linear(x, "decoder")
    return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), words[1:].reshape(-1))


def decode(caches, token, position):
    x = F.embedding(token, p["wte.weight"])[:, None] + p["wpe.weight"].index_select(0, position)
    for i, cache in enumerate(caches):
        x = gpt2_block(f"h.{i}.", x, cache, position)
    logits = F.linear(norm(x, "ln_f", 1e-5), p["wte.weight"])[:, 0]
    return logits.argmax(-1), logits.max(-1).values.sum()


def update(ps, gs, ms, vs, c1, c2):
    for q, g, m, v in zip(ps, gs, ms, vs):
        m.mul_(0.9).add_(g, alpha=0.1)
        v.mul_(0.999).addcmul_(g, g, value=0.001)
        q.sub_(1e-4 * (m / c1) / ((v / c2).sqrt() + 1e-7))


if args.case == "decode":
    head = (batch, config["heads"], config["length"], width // config["heads"])
    caches = [(torch.zeros(head), torch.zeros(head)) for _ in range(config["layers"])]
    token = torch.from_numpy((hash_u32(batch, 1) % np.uint32(config["vocabulary"])).astype(np.int64))
    position = config["length"] // 2
    if args.compile:
        decode = torch.compile(decode)

    def step():
        global token, position
        with torch.no_grad():
            token, best = decode(caches, token, torch.tensor([position]))
        position = config["length"] // 2 if position + 1 == config["length"] else position + 1
        return float(best)
else:
    if args.case == "vit":
        images = uniform((batch, config["image"], config["image"], config["channels"]), 1)
        data = (torch.from_numpy(images).permute(0, 3, 1, 2).contiguous(),
                torch.from_numpy(labels(batch, 2).astype(np.int64)))
    else:
        n = batch * (config["length"] + 1)
        ids = (hash_u32(n, 1) % np.uint32(config["vocabulary"])).astype(np.int64)
        data = (torch.from_numpy(ids.reshape((batch, -1) if args.case == "gpt2" else (-1, batch))),)
    loss = dict(gpt2=gpt2_loss, vit=vit_loss, lstm=lstm_loss)[args.case]
    ps = [q for q in p.values() if q.requires_grad]
    ms, vs = [torch.zeros_like(q) for q in ps], [torch.zeros_like(q) for q in ps]
    clock = [0]
    if args.compile:
        loss, update = torch.compile(loss), torch.compile(update)

    def step():
        clock[0] += 1
        value = loss(*data)
        grads = torch.autograd.grad(value, ps)
        c1, c2 = torch.tensor(1 - 0.9 ** clock[0]), torch.tensor(1 - 0.999 ** clock[0])
        with torch.no_grad():
            update(ps, grads, ms, vs, c1, c2)
        return float(value.detach())

losses, times, processor = [], [], []
for _ in range(max(args.steps, 2)):
    start, used = time.perf_counter(), time.process_time()
    losses.append(step())
    times.append((time.perf_counter() - start) * 1e3)
    processor.append((time.process_time() - used) * 1e3)
report(peer="torch", version=torch.__version__, case=args.case, size=args.size, batch=batch,
       mode="compile" if args.compile else "eager",
       step_ms_best=round(min(times[1:]), 3), step_ms_median=round(float(np.median(times[1:])), 3),
       cpu_ms_median=round(float(np.median(processor[1:])), 3),
       first_step_ms=round(times[0], 1), loss_1=losses[0], loss_10=losses[9] if len(losses) > 9 else None)
