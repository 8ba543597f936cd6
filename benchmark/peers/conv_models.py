# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The conv nets of conv_step.cpp: their weights' shapes in the order in which
they are used, and the numbers in them."""
import numpy as np

from common import glorot

# Convolutions [k, k, in, out] with a bias, scale and offset each; dense layers.
CNN_SHAPES = [(3, 3, 3, 32), (32,), (32,), (32,), (3, 3, 32, 64), (64,), (64,), (64,),
              (4096, 128), (128,), (128, 10), (10,)]
RESNET_BLOCKS = [3, 4, 6, 3]


def resnet_shapes(classes=1000):
    """Each convolution has a batch norm: its scale and offset follow."""
    shapes = []

    def unit(k, i, o):
        shapes.extend([(k, k, i, o), (o,), (o,)])

    unit(7, 3, 64)
    features = 64
    for stage, blocks in enumerate(RESNET_BLOCKS):
        width = 64 << stage
        for k in range(blocks):
            unit(1, features, width)
            unit(3, width, width)
            unit(1, width, 4 * width)
            if k == 0:
                unit(1, features, 4 * width)
            features = 4 * width
    return shapes + [(features, classes), (classes,)]


def peer_weights(shapes):
    """Kernels and matrices by glorot with seed 10 + index. Of vectors, scales are
    1 and all others 0; a scale is the one in front of the last vector after a
    kernel."""
    weights = []
    for k, shape in enumerate(shapes):
        if len(shape) > 1:
            places = int(np.prod(shape[:-2]))
            weights.append(glorot(places * shape[-2], places * shape[-1], shape, 10 + k))
            continue
        following = k + 1 < len(shapes) and len(shapes[k + 1]) == 1
        last = k + 2 >= len(shapes) or len(shapes[k + 2]) > 1
        weights.append(np.full(shape, 1 if following and last else 0, np.float32))
    return weights
