# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random JAX programs over a mesh of 8 devices, each a function of its seed.

A program is a list of steps on arrays; every step says in words what it does,
so that a printed program can be written again by hand. Values stay near one in
size, and nothing jumps where its operands are rounded otherwise.
"""
import random
import re

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import manual_programs

MESHES = [{"x": 8}, {"x": 2, "y": 4}, {"x": 4, "y": 2}, {"x": 2, "y": 2, "z": 2}]
EXTENTS = [8, 8, 16, 16, 24, 32, 32, 48, 64]
MOST_ELEMENTS = 1 << 15


class Input:
    """An argument: floats, or whole numbers below `classes`; unannotated where
    `spec` is None."""

    def __init__(self, shape, spec, classes=0):
        self.shape, self.spec, self.classes = tuple(shape), spec, classes

    def describe(self, seed):
        return dict(shape=self.shape, seed=seed, low=-1.0, high=1.0, classes=self.classes or 10,
                    dtype="int32" if self.classes else "float32",
                    kind="labels" if self.classes else "uniform")


class Step:
    def __init__(self, text, function, operands):
        self.text, self.function, self.operands = text, function, operands


def spec_text(spec):
    return "None" if spec is None else re.sub(r"^PartitionSpec", "P", str(PartitionSpec(*spec)))


class Program:
    """Values 0, 1, ... are the inputs and then the steps' results."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.mesh = self.rng.choice(MESHES)
        sizes = tuple(self.mesh.values())
        self.devices = Mesh(np.array(jax.devices()[:8]).reshape(sizes), tuple(self.mesh))
        self.cut = True  # off: nothing is cut but for shard_map's bodies
        self.inputs, self.steps, self.shapes = [], [], {}
        self.results, self.out_specs, self.gradients = [], [], []
        # Each program has a few kinds of steps, so that these meet more often.
        makers = [name for name in dir(self) if name.startswith("make_")]
        self.makers = self.rng.sample(makers, self.rng.choice([2, 3, 5, 8, len(makers)]))
        if self.rng.random() < 0.4:
            self.makers.append("make_constraint")
        manual_at = self.rng.choice([None, None, None, "before", "after"])
        for _ in range(self.rng.randint(1, 3)):
            rank = self.rng.choice([1, 2, 2, 2, 3, 3, 4])
            self.add_input(self.shape_of(rank))
        if manual_at == "before":
            manual_programs.add(self)
        for _ in range(self.rng.choice([1, 2, 3, 4, 5, 6, 8])):
            self.add_step()
        if manual_at == "after":
            manual_programs.add(self)
        self.finish()

    # ---- Shapes and layouts

    def shape_of(self, rank):
        while True:
            shape = tuple(self.rng.choice(EXTENTS) for _ in range(rank))
            if np.prod(shape) <= MOST_ELEMENTS:
                return shape

    def random_spec(self, shape, uneven=False, axes=None):
        """Each axis on a dim that it cuts, or on none."""
        dims = [[] for _ in shape]
        axes = list(axes or self.mesh)
        self.rng.shuffle(axes)
        for axis in axes:
            if self.rng.random() < 0.25 or not shape:
                continue
            dim = self.rng.randrange(len(shape))
            cut = int(np.prod([self.mesh[a] for a in dims[dim] + [axis]]))
            if shape[dim] % cut == 0 or (uneven and shape[dim] > cut):
                dims[dim].append(axis)
        return tuple(None if not d else d[0] if len(d) == 1 else tuple(d) for d in dims)

    def sharding(self, spec):
        return None if spec is None else NamedSharding(self.devices, PartitionSpec(*spec))

    def add_input(self, shape, classes=0):
        spec = self.random_spec(shape) if self.rng.random() < 0.8 else None
        self.inputs.append(Input(shape, spec, classes))
        return self.note(("input", len(self.inputs) - 1), shape)

    def note(self, key, shape):
        self.shapes[key] = tuple(shape)
        return key

    def values(self, least_rank=0, most=MOST_ELEMENTS):
        """Floats, those made last more often."""
        return [k for k, shape in self.shapes.items()
                if len(shape) >= least_rank and np.prod(shape) <= most
                and not (k[0] == "input" and self.inputs[k[1]].classes)]

    def pick(self, least_rank=0, most=MOST_ELEMENTS):
        keys = self.values(least_rank, most)
        if not keys:
            return None
        return keys[-1] if self.rng.random() < 0.6 else self.rng.choice(keys)

    def partner(self, shape):
        """A value of this shape: a known one, or a new argument."""
        same = [k for k in self.values() if self.shapes[k] == tuple(shape)]
        if same and self.rng.random() < 0.7:
            return self.rng.choice(same)
        return self.add_input(shape)

    def do(self, text, function, *operands):
        structs = [jax.ShapeDtypeStruct(self.shapes[k], jnp.int32 if k[0] == "input" and
                                        self.inputs[k[1]].classes else jnp.float32) for k in operands]
        shape = jax.eval_shape(function, *structs).shape
        if np.prod(shape) > 4 * MOST_ELEMENTS or 0 in shape:
            return None
        self.steps.append(Step(text, function, operands))
        return self.note(("step", len(self.steps) - 1), shape)

    # ---- Steps

    def add_step(self):
        for _ in range(20):
            if getattr(self, self.rng.choice(self.makers))() is not None:
                return

    def make_elementwise(self):
        name, function = self.rng.choice([
            ("tanh", jnp.tanh), ("sin", jnp.sin), ("2 * v + 1", lambda v: 2 * v + 1),
            ("v * v", lambda v: v * v), ("exp(tanh(v))", lambda v: jnp.exp(jnp.tanh(v))),
            ("logistic", jax.nn.sigmoid), ("abs", jnp.abs)])
        return self.do(name, function, self.pick())

    def make_binary(self):
        value = self.pick()
        name, function = self.rng.choice([("add", jnp.add), ("subtract", jnp.subtract),
                                          ("multiply", jnp.multiply), ("maximum", jnp.maximum)])
        return self.do(name, function, value, self.partner(self.shapes[value]))

    def make_bias(self):
        value = self.pick(1)
        if value is None:
            return None
        shape = self.shapes[value]
        dim = self.rng.randrange(len(shape))
        form = [1] * len(shape)
        form[dim] = shape[dim]
        return self.do(f"add along dim {dim}", lambda v, b: v + b.reshape(form), value,
                       self.partner((shape[dim],)))

    def make_product_with_weight(self):
        value = self.pick(2)
        if value is None:
            return None
        shape = self.shapes[value]
        dim = self.rng.randrange(len(shape))
        weight = self.partner((shape[dim], self.rng.choice(EXTENTS)))
        scale = shape[dim] ** -0.5
        return self.do(f"tensordot(v, w, ({dim}, 0)) * {shape[dim]}**-0.5",
                       lambda v, w: jnp.tensordot(v, w, (dim, 0)) * scale, value, weight)

    def make_product_of_values(self):
        """A product along one common extent, batched where dim 0 fits too."""
        lhs, rhs = self.pick(2), self.pick(2)
        if lhs is None or rhs is None:
            return None
        a, b = self.shapes[lhs], self.shapes[rhs]
        pairs = [(i, j) for i in range(len(a)) for j in range(len(b)) if a[i] == b[j]]
        if not pairs:
            return None
        i, j = self.rng.choice(pairs)
        batch = i > 0 and j > 0 and a[0] == b[0] and self.rng.random() < 0.6
        dims = (((i,), (j,)), ((0,), (0,)) if batch else ((), ()))
        scale = a[i] ** -0.5
        return self.do(f"dot_general(v, w, {dims}) * {a[i]}**-0.5",
                       lambda v, w: lax.dot_general(v, w, dims) * scale, lhs, rhs)

    def make_reduction(self):
        value = self.pick(1)
        if value is None:
            return None
        rank = len(self.shapes[value])
        dims = tuple(sorted(self.rng.sample(range(rank), self.rng.randint(1, min(rank, 2)))))
        keep = self.rng.random() < 0.3
        name = self.rng.choice(["mean", "max", "min", "logsumexp", "std"])
        function = jax.nn.logsumexp if name == "logsumexp" else getattr(jnp, name)
        if name == "std":
            def function(v, axis, keepdims):
                return jnp.sqrt(jnp.var(v, axis=axis, keepdims=keepdims) + 0.1)
        return self.do(f"{name}(axis={dims}, keepdims={keep})",
                       lambda v: function(v, axis=dims, keepdims=keep), value)

    def make_normalized(self):
        value = self.pick(1)
        if value is None:
            return None
        dim = self.rng.randrange(len(self.shapes[value]))
        name = self.rng.choice(["softmax", "layer_norm", "log_softmax"])

        def layer_norm(v, axis):
            centred = v - v.mean(axis, keepdims=True)
            return centred * lax.rsqrt((centred * centred).mean(axis, keepdims=True) + 0.1)
        function = layer_norm if name == "layer_norm" else getattr(jax.nn, name)
        return self.do(f"{name}(axis={dim})", lambda v: function(v, axis=dim), value)

    def make_merge(self):
        value = self.pick(2)
        if value is None:
            return None
        shape = list(self.shapes[value])
        dim = self.rng.randrange(len(shape) - 1)
        merged = shape[:dim] + [shape[dim] * shape[dim + 1]] + shape[dim + 2:]
        return self.do(f"reshape{tuple(merged)}", lambda v: v.reshape(merged), value)

    def make_split(self):
        value = self.pick(1)
        if value is None:
            return None
        shape = list(self.shapes[value])
        dim = self.rng.randrange(len(shape))
        parts = [n for n in (2, 3, 4, 8, 16) if shape[dim] % n == 0 and shape[dim] > n]
        if not parts or len(shape) > 4:
            return None
        n = self.rng.choice(parts)
        cut = shape[:dim] + [n, shape[dim] // n] + shape[dim + 1:]
        return self.do(f"reshape{tuple(cut)}", lambda v: v.reshape(cut), value)

    def make_regroup(self):
        """Split, transposed, merged: heads, patches, space to depth."""
        value = self.pick(2)
        if value is None:
            return None
        a, *rest = self.shapes[value]
        n = self.rng.choice([2, 4, 8])
        if a % n or len(rest) > 2:
            return None
        order = list(range(2 + len(rest)))
        self.rng.shuffle(order)
        cut = [n, a // n, *rest]
        turned = [cut[i] for i in order]
        dim = self.rng.randrange(len(order) - 1)
        merged = turned[:dim] + [turned[dim] * turned[dim + 1]] + turned[dim + 2:]
        return self.do(f"reshape{tuple(cut)}.transpose{tuple(order)}.reshape{tuple(merged)}",
                       lambda v: v.reshape(cut).transpose(order).reshape(merged), value)

    def make_transpose(self):
        value = self.pick(2)
        if value is None:
            return None
        order = list(range(len(self.shapes[value])))
        self.rng.shuffle(order)
        return self.do(f"transpose{tuple(order)}", lambda v: v.transpose(order), value)

    def make_concatenate(self):
        value = self.pick(1)
        if value is None:
            return None
        shape = self.shapes[value]
        dim = self.rng.randrange(len(shape))
        same = [k for k in self.values() if len(self.shapes[k]) == len(shape) and all(
            self.shapes[k][d] == shape[d] for d in range(len(shape)) if d != dim)]
        other = self.rng.choice(same)
        if self.rng.random() < 0.3:
            return self.do(f"stack(axis={dim})", lambda v, w: jnp.stack([v, w], dim), value,
                           self.partner(shape))
        return self.do(f"concatenate(axis={dim})", lambda v, w: jnp.concatenate([v, w], dim), value, other)

    def make_slice(self):
        value = self.pick(1)
        if value is None:
            return None
        shape = self.shapes[value]
        dim = self.rng.randrange(len(shape))
        begin = self.rng.choice([0, 1, shape[dim] // 4, shape[dim] // 2])
        end = self.rng.choice([shape[dim], shape[dim] - 1, shape[dim] - shape[dim] // 4])
        step = self.rng.choice([1, 1, 2])
        if end <= begin:
            return None
        return self.do(f"[{begin}:{end}:{step}] of dim {dim}",
                       lambda v: lax.slice_in_dim(v, begin, end, step, dim), value)

    def make_shifted(self):
        value = self.pick(1)
        if value is None:
            return None
        shape = self.shapes[value]
        dim = self.rng.randrange(len(shape))
        by = self.rng.choice([1, -1, 3, shape[dim] // 2, shape[dim] // 4, -shape[dim] // 8])
        if self.rng.random() < 0.5:
            return self.do(f"roll({by}, axis={dim})", lambda v: jnp.roll(v, by, dim), value)
        return self.do(f"flip(axis={dim})", lambda v: jnp.flip(v, dim), value)

    def make_pad(self):
        value = self.pick(1)
        if value is None:
            return None
        rank = len(self.shapes[value])
        dim = self.rng.randrange(rank)
        low, high = self.rng.choice([(1, 1), (0, 2), (8, 8), (3, 0)])
        widths = [(low, high) if d == dim else (0, 0) for d in range(rank)]
        return self.do(f"pad({widths})", lambda v: jnp.pad(v, widths), value)

    def make_take(self):
        value = self.pick(1)
        if value is None:
            return None
        shape = self.shapes[value]
        dim = self.rng.randrange(len(shape))
        indices = self.add_input((self.rng.choice(EXTENTS),), classes=shape[dim])
        return self.do(f"take(axis={dim})", lambda v, i: jnp.take(v, i, axis=dim), value, indices)

    def make_scatter(self):
        value = self.pick(2, 1 << 12)
        if value is None:
            return None
        rows = self.rng.choice(EXTENTS)
        indices = self.add_input((self.shapes[value][0],), classes=rows)
        shape = (rows, *self.shapes[value][1:])
        return self.do(f"zeros{shape}.at[i].add(v)", lambda v, i: jnp.zeros(shape).at[i].add(v), value,
                       indices)

    def make_conv(self):
        value = self.pick(3, 1 << 14)
        if value is None:
            return None
        shape = self.shapes[value]
        spatial = len(shape) - 2
        if spatial > 2 or min(shape[1:-1]) < 3:
            return None
        features = self.rng.choice([8, 16])
        weight = self.add_input((3,) * spatial + (shape[-1], features))
        letters = "HW"[:spatial]
        numbers = (f"N{letters}C", f"{letters}IO", f"N{letters}C")
        stride = self.rng.choice([1, 1, 2])
        padding = self.rng.choice(["SAME", "VALID"])
        scale = (3 ** spatial * shape[-1]) ** -0.5
        return self.do(f"conv {numbers}, strides {stride}, {padding}",
                       lambda v, w: lax.conv_general_dilated(v, w, (stride,) * spatial, padding,
                                                             dimension_numbers=numbers) * scale, value, weight)

    def make_pool(self):
        value = self.pick(3, 1 << 14)
        if value is None or min(self.shapes[value][1:-1]) < 2:
            return None
        window = (1,) + (2,) * (len(self.shapes[value]) - 2) + (1,)
        return self.do(f"max pool {window}",
                       lambda v: lax.reduce_window(v, -np.inf, lax.max, window, window, "VALID"), value)

    def make_cumulative(self):
        value = self.pick(1)
        if value is None:
            return None
        shape = self.shapes[value]
        dim = self.rng.randrange(len(shape))
        name, function = self.rng.choice([
            ("cumsum", lambda v: jnp.cumsum(v, dim) / shape[dim]), ("sort", lambda v: jnp.sort(v, dim)),
            ("cummax", lambda v: lax.cummax(v, dim))])
        return self.do(f"{name}(axis={dim})", function, value)

    def make_scan(self):
        value = self.pick(2, 1 << 12)
        if value is None:
            return None
        *rows, width = self.shapes[value]
        layers = self.rng.choice([2, 3, 4])
        weights = self.add_input((layers, width, width))
        scale = width ** -0.5
        return self.do(f"scan of {layers} x tanh(v @ w)",
                       lambda v, w: lax.scan(lambda c, m: (jnp.tanh(c @ m * scale), None), v, w)[0],
                       value, weights)

    def make_scan_over_rows(self):
        value = self.pick(2, 1 << 12)
        if value is None or self.shapes[value][0] > 16:
            return None

        def recurrence(v):
            return lax.scan(lambda c, row: ((c + row) * 0.5,) * 2, jnp.zeros_like(v[0]), v)[1]
        return self.do("scan of (c + row) / 2 over dim 0", recurrence, value)

    def make_attention(self):
        value = self.pick(3, 1 << 12)
        if value is None or len(self.shapes[value]) != 3:
            return None
        batch, length, width = self.shapes[value]
        heads = self.rng.choice([h for h in (1, 2, 4, 8) if width % h == 0])
        weight = self.add_input((width, 3 * width))
        scale = width ** -0.5

        def attention(v, w):
            q, k, u = [part.reshape(batch, length, heads, width // heads)
                       for part in jnp.split(v @ w * scale, 3, -1)]
            scores = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k), -1)
            return jnp.einsum("bhqk,bkhd->bqhd", scores, u).reshape(v.shape)
        return self.do(f"attention of {heads} heads", attention, value, weight)

    def make_constraint(self):
        value = self.pick(1)
        if value is None:
            return None
        spec = self.random_spec(self.shapes[value], uneven=self.rng.random() < 0.2)
        return self.do(f"with_sharding_constraint {spec_text(spec)}",
                       lambda v: lax.with_sharding_constraint(v, self.sharding(spec if self.cut else ())), value)

    # ---- What comes out

    def finish(self):
        used = {k for step in self.steps for k in step.operands}
        ends = [k for k in self.shapes if k[0] == "step" and k not in used]
        others = [k for k in self.shapes if k[0] == "step" and k in used]
        self.results = ends[-3:] + self.rng.sample(others, min(len(others), self.rng.choice([0, 0, 1])))
        floats = [i for i, item in enumerate(self.inputs) if not item.classes]
        if self.steps and self.rng.random() < 0.4:
            self.gradients = sorted(self.rng.sample(floats, self.rng.randint(1, len(floats))))
        shapes = [self.shapes[k] for k in self.results] + [self.inputs[i].shape for i in self.gradients]
        self.out_specs = [self.random_spec(s) if self.rng.random() < 0.5 else None for s in shapes]

    def function(self):
        """What jax.jit takes: of the inputs, a tuple of results."""

        def forward(*arguments):
            values = {("input", i): value for i, value in enumerate(arguments)}
            for i, step in enumerate(self.steps):
                values["step", i] = step.function(*(values[k] for k in step.operands))
            return tuple(values[k] for k in self.results)

        if not self.gradients:
            return forward

        def loss(*arguments):
            results = forward(*arguments)
            return sum((r * r).mean() for r in results), results

        def both(*arguments):
            (_, results), gradients = jax.value_and_grad(loss, tuple(self.gradients), has_aux=True)(*arguments)
            return results + gradients
        return both

    def text(self):
        def name(key):
            return f"{'a' if key[0] == 'input' else 'v'}{key[1]}"
        lines = [f"mesh {self.mesh}"]
        for i, item in enumerate(self.inputs):
            lines.append(f"  a{i}: {item.shape} {spec_text(item.spec)}" + (" indices" if item.classes else ""))
        for i, step in enumerate(self.steps):
            lines.append(f"  v{i} = {step.text}  of {', '.join(map(name, step.operands))}"
                         f"  -> {self.shapes['step', i]}")
        outs = [name(k) for k in self.results] + [f"d/da{i}" for i in self.gradients]
        lines.append("  return " + ", ".join(f"{o} {spec_text(s)}" for o, s in zip(outs, self.out_specs)))
        return "\n".join(lines)
