# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""shard_map bodies for random programs: chains of random collectives, and the
patterns that people write by hand (attention with its sequence cut, tensor- and
expert-parallel layers, pipelines).
"""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec as P


def body(program, function, in_specs, out_specs, axes=None):
    """Manual over `axes`: all, if None."""
    return jax.shard_map(function, mesh=program.devices, in_specs=in_specs, out_specs=out_specs,
                         axis_names=frozenset(axes or program.mesh), check_vma=False)


def ring(size, by=1):
    return [(i, (i + by) % size) for i in range(size)]


def add(program):
    makers = [random_chain] * 5 + [ulysses, ring_attention, tensor_parallel, tensor_parallel_scattered, experts,
                                   pipeline, halo, gathered_layers, cannon, sum_in_two_steps]
    for _ in range(20):
        if program.rng.choice(makers)(program) is not None:
            return


def an_axis(program):
    axis = program.rng.choice(list(program.mesh))
    return axis, program.mesh[axis]


def argument(program, shape, spec):
    """Laid out as the body wants it, most of the time."""
    key = program.add_input(shape)
    if program.rng.random() < 0.8:
        program.inputs[key[1]].spec = spec
    return key


def random_chain(program):
    """Local ops and collectives on one value, over one or all axes."""
    rng, mesh = program.rng, program.mesh
    if rng.random() < 0.3:
        mesh = {axis: mesh[axis] for axis in rng.sample(list(mesh), rng.randint(1, len(mesh)))}
    value = program.pick(2, 1 << 13) if rng.random() < 0.5 else None
    if value is None:
        value = program.add_input(program.shape_of(rng.choice([2, 3])))
    shape = program.shapes[value]
    spec = program.random_spec(shape, axes=mesh)
    local = list(shape)
    varying = set()
    for dim, axes in enumerate(spec):
        for axis in [axes] if isinstance(axes, str) else axes or []:
            local[dim] //= mesh[axis]
            varying.add(axis)
    steps, words = [], []

    def do(text, function):
        words.append(text)
        steps.append(function)

    for _ in range(rng.randint(2, 6)):
        axis = rng.choice(list(mesh))
        size, dim = mesh[axis], rng.randrange(len(local))
        other = rng.randrange(len(local))
        kind = rng.choice(["tanh", "psum", "pmax", "all_gather", "psum_scatter", "all_to_all", "ppermute",
                           "axis_index", "flip", "product", "transpose"])
        if kind == "tanh":
            do("tanh", jnp.tanh)
        elif kind == "psum":
            do(f"psum({axis}) / {size}", lambda v, a=axis, n=size: lax.psum(v, a) / n)
            varying.discard(axis)
        elif kind == "pmax":
            do(f"pmax({axis})", lambda v, a=axis: lax.pmax(lax.stop_gradient(v), a))
            varying.discard(axis)
        elif kind == "all_gather" and np.prod(local) * size <= 1 << 13:
            do(f"all_gather({axis}, axis={dim}, tiled)",
               lambda v, a=axis, d=dim: lax.all_gather(v, a, axis=d, tiled=True))
            local[dim] *= size
            varying.discard(axis)
        elif kind == "psum_scatter" and local[dim] % size == 0:
            do(f"psum_scatter({axis}, {dim}, tiled) / {size}",
               lambda v, a=axis, d=dim, n=size: lax.psum_scatter(v, a, scatter_dimension=d, tiled=True) / n)
            local[dim] //= size
            varying.add(axis)
        elif kind == "all_to_all" and local[dim] % size == 0:
            do(f"all_to_all({axis}, {dim}, {other}, tiled)",
               lambda v, a=axis, d=dim, o=other: lax.all_to_all(v, a, d, o, tiled=True))
            local[dim] //= size
            local[other] *= size
            varying.add(axis)
        elif kind == "ppermute":
            by = rng.randrange(1, size)
            do(f"ppermute({axis}, +{by})", lambda v, a=axis, p=ring(size, by): lax.ppermute(v, a, p))
            varying.add(axis)
        elif kind == "axis_index":
            do(f"v * (axis_index({axis}) + 1) / {size}",
               lambda v, a=axis, n=size: v * ((lax.axis_index(a) + 1).astype(jnp.float32) / n))
            varying.add(axis)
        elif kind == "flip":
            do(f"flip({dim})", lambda v, d=dim: jnp.flip(v, d))
        elif kind == "product" and len(local) == 2 and local[0] <= 64:
            n = local[0]
            do(f"v @ v.T @ v / {n}", lambda v, n=n: v @ v.T @ v / n)
        elif kind == "transpose":
            do("swapaxes(0, 1)", lambda v: jnp.swapaxes(v, 0, 1))
            local[0], local[1] = local[1], local[0]
    out = [[] for _ in local]
    for axis in mesh:
        if axis in varying:
            out[rng.randrange(len(local))].append(axis)
    if not steps or np.prod(local) * np.prod([mesh[a] for a in varying] or [1]) > 1 << 16:
        return None

    def chain(v):
        for step in steps:
            v = step(v)
        return v
    out_spec = P(*[tuple(d) if d else None for d in out])
    return program.do(f"shard_map over {list(mesh)} {P(*spec)} -> {out_spec}: " + "; ".join(words),
                      body(program, chain, (P(*spec),), out_spec, mesh), value)


def attention(q, k, v):
    scores = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k) * q.shape[-1] ** -0.5, -1)
    return jnp.einsum("bhqk,bkhd->bqhd", scores, v)


def heads_shape(program, axis):
    size = program.mesh[axis]
    heads = size * program.rng.choice([1, 2])
    return (program.rng.choice([2, 4, 8]), size * program.rng.choice([4, 8]), heads, program.rng.choice([4, 8]))


def ulysses(program):
    axis, size = an_axis(program)
    spec = (None, axis)
    shape = heads_shape(program, axis)
    values = [argument(program, shape, spec) for _ in range(3)]

    def function(q, k, v):
        q, k, v = [lax.all_to_all(t, axis, 2, 1, tiled=True) for t in (q, k, v)]
        return lax.all_to_all(attention(q, k, v), axis, 1, 2, tiled=True)
    return program.do(f"shard_map Ulysses attention over {axis}",
                      body(program, function, (P(*spec),) * 3, P(*spec)), *values)


def ring_attention(program):
    axis, size = an_axis(program)
    spec = (None, axis)
    shape = heads_shape(program, axis)
    values = [argument(program, shape, spec) for _ in range(3)]
    looped = program.rng.random() < 0.5

    def function(q, k, v):
        def step(_, carry):
            k, v, total, weight = carry
            scores = jnp.exp(jnp.einsum("bqhd,bkhd->bqhk", q, k) * q.shape[-1] ** -0.5)
            total = total + jnp.einsum("bqhk,bkhd->bqhd", scores, v)
            weight = weight + scores.sum(-1)
            return (lax.ppermute(k, axis, ring(size)), lax.ppermute(v, axis, ring(size)), total, weight)
        carry = (k, v, jnp.zeros_like(q), jnp.zeros(q.shape[:3], q.dtype))
        if looped:
            carry = lax.scan(lambda c, i: (step(i, c), None), carry, jnp.arange(size))[0]
        else:
            for i in range(size):
                carry = step(i, carry)
        return carry[2] / carry[3][..., None]
    return program.do(f"shard_map ring attention over {axis}, {'scan' if looped else 'unrolled'}",
                      body(program, function, (P(*spec),) * 3, P(*spec)), *values)


def layer_sizes(program, size):
    return program.rng.choice([16, 32]), 8 * program.rng.choice([1, 2]), size * program.rng.choice([4, 8])


def tensor_parallel(program):
    axis, size = an_axis(program)
    rows, width, hidden = layer_sizes(program, size)
    x = argument(program, (rows, width), (None, None))
    w1 = argument(program, (width, hidden), (None, axis))
    w2 = argument(program, (hidden, width), (axis, None))

    def function(x, w1, w2):
        return lax.psum(jnp.tanh(x @ w1 / 3) @ w2 / 3, axis)
    return program.do(f"shard_map tensor-parallel MLP with psum over {axis}",
                      body(program, function, (P(), P(None, axis), P(axis, None)), P()), x, w1, w2)


def tensor_parallel_scattered(program):
    axis, size = an_axis(program)
    rows, width, hidden = layer_sizes(program, size)
    x = argument(program, (rows, width), (axis, None))
    w1 = argument(program, (width, hidden), (None, axis))
    w2 = argument(program, (hidden, width), (axis, None))

    def function(x, w1, w2):
        x = lax.all_gather(x, axis, axis=0, tiled=True)
        return lax.psum_scatter(jnp.tanh(x @ w1 / 3) @ w2 / 3, axis, scatter_dimension=0, tiled=True)
    return program.do(f"shard_map tensor-parallel MLP with all_gather and psum_scatter over {axis}",
                      body(program, function, (P(axis), P(None, axis), P(axis, None)), P(axis)), x, w1, w2)


def experts(program):
    axis, size = an_axis(program)
    width, each = 8, program.rng.choice([2, 4])
    tokens = argument(program, (size * size * each, width), (axis, None))
    weights = argument(program, (size, width, width), (axis, None, None))

    def function(t, w):
        t = lax.all_to_all(t.reshape(size, each, width), axis, 0, 0, tiled=True)
        t = jnp.tanh(t.reshape(-1, width) @ w[0]).reshape(size, each, width)
        return lax.all_to_all(t, axis, 0, 0, tiled=True).reshape(-1, width)
    return program.do(f"shard_map experts over {axis} by all_to_all",
                      body(program, function, (P(axis), P(axis)), P(axis)), tokens, weights)


def pipeline(program):
    axis, size = an_axis(program)
    width, micro, rows = 8, program.rng.choice([2, 4]), 4
    x = argument(program, (micro, rows, width), (None, None, None))
    weights = argument(program, (size, width, width), (axis, None, None))

    def function(x, w):
        stage = lax.axis_index(axis)

        def step(carry, t):
            entering = jnp.where(stage == 0, x[jnp.minimum(t, micro - 1)], carry)
            leaving = jnp.tanh(entering @ w[0])
            return lax.ppermute(leaving, axis, ring(size)), leaving
        _, all_steps = lax.scan(step, jnp.zeros((rows, width)), jnp.arange(micro + size - 1))
        return all_steps[size - 1:]
    return program.do(f"shard_map pipeline of {size} stages over {axis}",
                      body(program, function, (P(), P(axis)), P(axis)), x, weights)


def halo(program):
    """A stencil whose borders come from the neighbours."""
    axis, size = an_axis(program)
    rows = size * program.rng.choice([2, 4, 8])
    x = argument(program, (rows, program.rng.choice([4, 8])), (axis, None))

    def function(x):
        above = lax.ppermute(x[-1:], axis, ring(size))
        below = lax.ppermute(x[:1], axis, ring(size, -1))
        wide = jnp.concatenate([above, x, below])
        return (wide[:-2] + wide[1:-1] + wide[2:]) / 3
    return program.do(f"shard_map stencil with halo over {axis}",
                      body(program, function, (P(axis),), P(axis)), x)


def gathered_layers(program):
    """Weights that are whole only while their layer runs."""
    axis, size = an_axis(program)
    layers, width = program.rng.choice([2, 3]), 16
    x = argument(program, (size * program.rng.choice([2, 8]), width), (axis, None))
    weights = argument(program, (layers, width, width), (None, axis, None))

    def function(x, w):
        def layer(h, part):
            return jnp.tanh(h @ lax.all_gather(part, axis, axis=0, tiled=True) / 4), None
        return lax.scan(layer, x, w)[0]
    return program.do(f"shard_map {layers} layers with gathered weights over {axis}",
                      body(program, function, (P(axis), P(None, axis)), P(axis)), x, weights)


def cannon(program):
    """A product whose operands go round."""
    axis, size = an_axis(program)
    rows, columns = program.rng.choice([8, 16]), program.rng.choice([8, 16])
    a = argument(program, (size * rows, size * 4), (axis, None))
    b = argument(program, (size * 4, columns), (axis, None))

    def function(a, b):
        total, me = jnp.zeros((rows, columns)), lax.axis_index(axis)
        for i in range(size):
            part = lax.dynamic_slice_in_dim(a, (me - i) % size * 4, 4, 1)
            total = total + part @ b / size
            b = lax.ppermute(b, axis, ring(size))
        return total
    return program.do(f"shard_map product with its right side going round {axis}",
                      body(program, function, (P(axis), P(axis)), P(axis)), a, b)


def sum_in_two_steps(program):
    if len(program.mesh) < 2:
        return None
    inner, outer = program.rng.sample(list(program.mesh), 2)
    sizes = program.mesh[inner] * program.mesh[outer]
    x = argument(program, (sizes * program.mesh[inner], 8), ((outer, inner), None))

    def function(x):
        x = lax.psum(lax.psum_scatter(x, inner, scatter_dimension=0, tiled=True), outer)
        return lax.all_gather(x, inner, axis=0, tiled=True) / sizes
    return program.do(f"shard_map psum_scatter({inner}), psum({outer}), all_gather({inner})",
                      body(program, function, (P((outer, inner)),), P()), x)
