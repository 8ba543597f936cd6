# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shapes of the models of examples/gpt2, vit and lstm, in the order in which
benchmark/models.cpp fills their weights: weight k is uniform by seed 100 + k,
vectors are ones (scales) or zeros."""
import numpy as np

from common import uniform


def sized(config, layers):
    return config | (dict(layers=layers) if layers else {})


def gpt2(size, layers=0):
    small = dict(vocabulary=50257, positions=1024, width=768, heads=12, layers=12, length=256, batch=4)
    tiny = dict(vocabulary=256, positions=64, width=32, heads=4, layers=2, length=32, batch=4)
    c = sized(small if size == "small" else tiny, layers)
    d = c["width"]
    shapes = {"wte.weight": (c["vocabulary"], d), "wpe.weight": (c["positions"], d)}
    for i in range(c["layers"]):
        h = f"h.{i}."
        shapes |= {h + "ln_1.weight": (d,), h + "ln_1.bias": (d,),
                   h + "attn.c_attn.weight": (d, 3 * d), h + "attn.c_attn.bias": (3, d),
                   h + "attn.c_proj.weight": (d, d), h + "attn.c_proj.bias": (d,),
                   h + "ln_2.weight": (d,), h + "ln_2.bias": (d,),
                   h + "mlp.c_fc.weight": (d, 4 * d), h + "mlp.c_fc.bias": (4 * d,),
                   h + "mlp.c_proj.weight": (4 * d, d), h + "mlp.c_proj.bias": (d,)}
    shapes |= {"ln_f.weight": (d,), "ln_f.bias": (d,)}
    return c, shapes


def vit(size, layers=0):
    small = dict(image=224, patch=16, channels=3, width=384, heads=6, layers=12, classes=1000, batch=16)
    tiny = dict(image=28, patch=7, channels=1, width=32, heads=4, layers=2, classes=10, batch=16)
    c = sized(small if size == "small" else tiny, layers)
    d, tokens = c["width"], (c["image"] // c["patch"]) ** 2 + 1
    shapes = {"cls_token": (1, 1, d), "pos_embed": (1, tokens, d),
              "patch_embed.proj.weight": (d, c["channels"], c["patch"], c["patch"]),
              "patch_embed.proj.bias": (d,)}
    for i in range(c["layers"]):
        b = f"blocks.{i}."
        shapes |= {b + "norm1.weight": (d,), b + "norm1.bias": (d,),
                   b + "attn.qkv.weight": (3 * d, d), b + "attn.qkv.bias": (3, d),
                   b + "attn.proj.weight": (d, d), b + "attn.proj.bias": (d,),
                   b + "norm2.weight": (d,), b + "norm2.bias": (d,),
                   b + "mlp.fc1.weight": (4 * d, d), b + "mlp.fc1.bias": (4 * d,),
                   b + "mlp.fc2.weight": (d, 4 * d), b + "mlp.fc2.bias": (d,)}
    shapes |= {"norm.weight": (d,), "norm.bias": (d,),
               "head.weight": (c["classes"], d), "head.bias": (c["classes"],)}
    return c, shapes


def lstm(size, layers=0):
    small = dict(vocabulary=10000, width=650, layers=2, length=35, batch=20)
    tiny = dict(vocabulary=100, width=32, layers=2, length=35, batch=20)
    c = sized(small if size == "small" else tiny, layers)
    d = c["width"]
    shapes = {"encoder.weight": (c["vocabulary"], d)}
    for i in range(c["layers"]):
        shapes |= {f"rnn.weight_ih_l{i}": (4 * d, d), f"rnn.weight_hh_l{i}": (4 * d, d),
                   f"rnn.bias_ih_l{i}": (4 * d,), f"rnn.bias_hh_l{i}": (4 * d,)}
    shapes |= {"decoder.weight": (c["vocabulary"], d), "decoder.bias": (c["vocabulary"],)}
    return c, shapes


def weights(shapes):
    """By name. The attention's biases [3, width] are filled like matrices."""
    made = {}
    for k, (name, shape) in enumerate(shapes.items()):
        if len(shape) >= 2:
            made[name] = uniform(shape, 100 + k, -0.04, 0.04)
        else:
            scale = name.endswith("weight")
            made[name] = np.full(shape, 1.0 if scale else 0.0, np.float32)
    return made
