# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Single ops and small programs, Meshloom beside JAX: `scripts/compare --rows=ops`.

  python ops.py path/to/mesh-run [--match=REGEX] [--quick] [--rounds=3] [--over=1.05]

A row is a function of jax.numpy and the specs of its inputs. JAX exports it as StableHLO; mesh-run and
JAX compile the text and run it in turns with the same inputs. The ratio is mesh-run's best step by
JAX's best call. A step of mesh-run lies between inputs in its memory and results in its memory; a call
of JAX has inputs on the device, ends with block_until_ready, and has the dispatch from Python in it,
which the heading tells. glibc keeps memory for JAX, as mesh-run keeps that of its results.

Prints rows over --over, the worst first, then geometric means by class. The exit status is 1 where a
result is wrong: off by more than a tolerance of its type, relative to the largest element.
"""
import argparse
import contextlib
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time

KEEP = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(1 << 40), "MALLOC_TOP_PAD_": str(1 << 27)}
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax import lax

TYPES = {"f32": np.float32, "f64": np.float64, "bf16": ml_dtypes.bfloat16, "f16": np.float16, "c64": np.complex64,
         "i8": np.int8, "i32": np.int32, "i64": np.int64, "u8": np.uint8, "bool": np.bool_}


def value_of(spec, seed):
    """The input that 'type[dims] options' describes. Options: '<n' (integers below n), 'up' (ascending),
    'once' (a permutation), 'definite' (a positive definite matrix)."""
    kind, dims, options = re.fullmatch(r"(\w+)\[([\d,]*)\](.*)", spec).groups()
    shape = tuple(int(dim) for dim in dims.split(",") if dim)
    random = np.random.default_rng(seed)
    below = re.search(r"<(\d+)", options)
    if "once" in options:
        value = random.permutation(shape[0])
    elif kind == "bool":
        value = random.random(shape) < 0.5
    elif kind[0] in "iu":
        value = random.integers(0, int(below[1]) if below else 100, shape)
    else:
        value = random.standard_normal(shape)
        if kind[0] == "c":
            value = value + 1j * random.standard_normal(shape)
    if "up" in options:
        value = np.sort(value)
    if "definite" in options:
        value = value @ value.swapaxes(-1, -2) / shape[-1] + np.eye(shape[-1])
    return np.asarray(value).astype(TYPES[kind])


def gradient(function, of=0):
    return jax.grad(lambda *inputs: (function(*inputs) ** 2).sum(), of)


def attention(q, k, v):
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(q.shape[-1])
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)


def window(combine, start, sizes, strides, padding="VALID"):
    return lambda x: lax.reduce_window(x, start, combine, sizes, strides, padding)


def convolution(x, w, form=("NHWC", "HWIO", "NHWC")):
    return lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=form)


def recurrent(h, x, w):
    return lax.scan(lambda h, x: (jnp.tanh(h @ w + x),) * 2, h, x)[1]


def gated(h, x, w):
    def turn(state, x):
        h, c = state
        i, f, g, o = jnp.split(x + h @ w, 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        return (jax.nn.sigmoid(o) * jnp.tanh(c), c), c
    return lax.scan(turn, (h, h), x)[1]


def lorenz(x):
    a, b, c = x[..., 0], x[..., 1], x[..., 2]
    return jnp.stack([10 * (b - a), a * (28 - c) - b, a * b - 8 / 3 * c], -1)


def heun(x, turns=100, h=1e-3):
    def turn(_, x):
        first = lorenz(x)
        return x + h / 2 * (first + lorenz(x + h * first))
    return lax.fori_loop(0, turns, turn, x)


def descend(a, b, turns=20):
    """Steepest descent for a x = b."""
    def turn(_, x):
        r = b - a @ x
        return x + r * (r @ r) / (r @ (a @ r))
    return lax.fori_loop(0, turns, turn, b)


ROWS = [
    ("elementwise", "polynomial", lambda x, y: (x * y + 2) * x - y / 3, "f32[1000000]", "f32[1000000]"),
    ("elementwise", "polynomial", lambda x, y: (x * y + 2) * x - y / 3, "f16[1000000]", "f16[1000000]"),
    ("elementwise", "exp", jnp.exp, "f32[1000000]"),
    ("elementwise", "exp", jnp.exp, "c64[1000000]"),
    ("elementwise", "tanh", jnp.tanh, "f64[1000000]"),
    ("elementwise", "sigmoid", jax.nn.sigmoid, "bf16[1000000]"),
    ("reduce", "sum of rows", lambda x: x.sum(1), "f32[1000,1000]"),
    ("reduce", "sum of columns", lambda x: x.sum(0), "f32[1000,1000]"),
    ("reduce", "sum of all but channels, NCHW", lambda x: x.sum((0, 2)), "f32[256,256,128]"),
    ("reduce", "maximum of rows", lambda x: x.max(1), "f32[1000,1000]"),
    ("reduce", "maximum of all", jnp.max, "bf16[1000,1000]"),
    ("reduce", "maximum of short rows", lambda x: x.max(1), "f32[1000000,3]"),
    ("reduce", "running sum", lambda x: jnp.cumsum(x, 1), "f32[1000,1000]"),
    ("sort", "sort", jnp.sort, "f32[1000000]"),
    ("sort", "sort", jnp.sort, "i32[1000000]<1000000000"),
    ("sort", "order", jnp.argsort, "i32[100000]<1000000"),
    ("sort", "largest 10", lambda x: lax.top_k(x, 10), "f32[100,10000]"),
    ("search", "places in a table", jnp.searchsorted, "f32[10000]up", "f32[100000]"),
    ("search", "interpolation", jnp.interp, "f32[100000]", "f32[1000]up", "f32[1000]"),
    ("gather", "numbers", lambda x, i: x[i], "f32[100000]", "i32[1000000]<100000"),
    ("gather", "numbers", lambda x, i: x[i], "f64[100000]", "i64[1000000]<100000"),
    ("gather", "table of 256", lambda x, i: x[i], "f32[256]", "u8[1000000]<250"),
    ("gather", "pairs", lambda x, i, j: x[i, j], "f32[1000,1000]", "i32[1000000]<1000", "i32[1000000]<1000"),
    ("gather", "along rows", lambda x, i: jnp.take_along_axis(x, i, 1), "f32[1000,1000]", "i32[1000,1000]<1000"),
    ("gather", "along columns", lambda x, i: jnp.take_along_axis(x, i, 0), "f32[1000,1000]", "i32[1000,1000]<1000"),
    ("gather", "columns", lambda x, i: x[:, i], "f32[1000,1000]", "i32[1000]<1000"),
    ("gather", "rows", lambda x, i: x[i], "f32[100000,64]", "i32[20000]<100000"),
    ("gather", "rows and scale", lambda x, i: 2 * x[i] + 1, "bf16[100000,64]", "i32[20000]<100000"),
    ("gather", "places of an image", lambda x, c: jax.scipy.ndimage.map_coordinates(x, list(c), 1), "f32[512,512]",
     "f32[2,100000]"),
    ("scatter", "counts", lambda i: jnp.bincount(i, length=1000), "i32[1000000]<1000"),
    ("scatter", "sums of numbers", lambda x, i: jax.ops.segment_sum(x, i, 100000), "f32[1000000]",
     "i32[1000000]<100000"),
    ("scatter", "sums of numbers", lambda x, i: jax.ops.segment_sum(x, i, 100000), "f64[1000000]",
     "i32[1000000]<100000"),
    ("scatter", "sums of rows", lambda x, i: jax.ops.segment_sum(x, i, 1000), "f32[100000,64]", "i32[100000]<1000"),
    ("scatter", "maxima of rows", lambda x, i: jax.ops.segment_max(x, i, 1000), "f32[100000,16]", "i32[100000]<1000"),
    ("scatter", "add rows", lambda x, i, u: x.at[i].add(u), "bf16[10000,64]", "i32[5000]once", "bf16[5000,64]"),
    ("scatter", "set numbers", lambda x, i, u: x.at[i].set(u), "f32[100000]", "i32[100000]once", "f32[100000]"),
    ("scatter", "gradient of rows", gradient(lambda x, i: x[i]), "f32[50000,128]", "i32[1024]<50000"),
    ("scatter", "histogram", lambda x: jnp.histogram(x, 50)[0], "f32[1000000]"),
    ("move", "transpose", lambda x: x.T, "f32[3000,3000]"),
    ("move", "transpose of rows of 8", lambda x: x.transpose(1, 0, 2), "f32[500,600,8]"),
    ("move", "transpose of rows of 3", lambda x: x.T, "f32[1000000,3]"),
    ("move", "repeat", lambda x: jnp.repeat(x, 4, 1), "f32[1000,1000]"),
    ("move", "reflected padding", lambda x: jnp.pad(x, 8, mode="reflect"), "f32[1000,1000]"),
    ("move", "joined columns", lambda x, y: jnp.concatenate([x, y], 1), "f32[1000,1000]", "f32[1000,1000]"),
    ("window", "average of 3 x 3", window(lax.add, 0.0, (1, 3, 3, 1), (1, 1, 1, 1), "SAME"), "f32[8,56,56,64]"),
    ("window", "average of 3 x 3, NCHW", window(lax.add, 0.0, (1, 1, 3, 3), (1, 1, 2, 2)), "f32[8,64,56,56]"),
    ("window", "gradient of average", gradient(window(lax.add, 0.0, (1, 2, 2, 1), (1, 2, 2, 1))),
     "f32[16,112,112,32]"),
    ("window", "maximum of 2 x 2", window(lax.max, -jnp.inf, (1, 2, 2, 1), (1, 2, 2, 1)), "f32[16,112,112,64]"),
    ("window", "running maximum", window(lax.max, -jnp.inf, (1001,), (1,), "SAME"), "f32[200000]"),
    ("convolution", "3 x 3", convolution, "f32[8,56,56,64]", "f32[3,3,64,64]"),
    ("convolution", "31 x 31", convolution, "f32[2,128,128,4]", "f32[31,31,4,4]"),
    ("convolution", "3 x 3", convolution, "f64[2,28,28,32]", "f64[3,3,32,32]"),
    ("product", "square", jnp.matmul, "f32[1024,1024]", "f32[1024,1024]"),
    ("product", "square", jnp.matmul, "f64[512,512]", "f64[512,512]"),
    ("product", "square", jnp.matmul, "bf16[1024,1024]", "bf16[1024,1024]"),
    ("product", "square to i32", lambda a, b: lax.dot(a, b, preferred_element_type=jnp.int32), "i8[768,768]",
     "i8[768,768]"),
    ("product", "many of 4 x 4", jnp.matmul, "f32[10000,4,4]", "f32[10000,4,4]"),
    ("product", "many with vectors", lambda a, b: jnp.einsum("bij,bj->bi", a, b), "f32[10000,16,16]",
     "f32[10000,16]"),
    ("product", "matrix by vector", jnp.matmul, "f32[4096,4096]", "f32[4096]"),
    ("network", "attention", attention, *["f32[4,256,8,64]"] * 3),
    ("network", "gradient of attention", gradient(attention, (0, 1, 2)), *["f32[4,256,8,64]"] * 3),
    ("network", "gradient of attention, small heads", gradient(attention, (0, 1, 2)), *["f32[16,49,4,8]"] * 3),
    ("network", "softmax", jax.nn.softmax, "f32[1000,1000]"),
    ("transform", "fft", jnp.fft.fft, "c64[1000,1000]"),
    ("transform", "fft of a prime length", jnp.fft.fft, "c64[100,1009]"),
    ("transform", "one long fft", jnp.fft.fft, "c64[1048576]"),
    ("algebra", "solve", jnp.linalg.solve, "f32[512,512]definite", "f32[512]"),
    ("algebra", "cholesky", jnp.linalg.cholesky, "f32[512,512]definite"),
    ("loop", "recurrent, small", recurrent, "f32[8,16]", "f32[1000,8,16]", "f32[16,16]"),
    ("loop", "recurrent", recurrent, "f32[64,256]", "f32[100,64,256]", "f32[256,256]"),
    ("loop", "gated", gated, "f32[16,64]", "f32[100,16,256]", "f32[64,256]"),
    ("loop", "gradient of gated", gradient(gated, 2), "f32[16,64]", "f32[50,16,256]", "f32[64,256]"),
    ("loop", "scalars", lambda x: lax.fori_loop(0, 100000, lambda _, x: x * 0.999 + 0.1, x), "f32[]"),
    ("loop", "differential equation", heun, "f32[3]"),
    ("loop", "many differential equations", heun, "f32[1000,3]"),
    ("loop", "steepest descent", descend, "f32[256,256]definite", "f32[256]"),
    ("loop", "many steepest descents", jax.vmap(descend), "f32[200,16,16]definite", "f32[200,16]"),
    ("loop", "elements of a vector", lambda v: lax.fori_loop(1, 4000, lambda i, v: v.at[i].add(0.5 * v[i - 1]), v),
     "f32[4000]"),
]


def error_of(got, want):
    """The largest difference by the largest element; of integers the share that differs."""
    got, want = np.asarray(got), np.asarray(want)
    if got.shape != want.shape:
        return math.inf
    if want.dtype.kind in "biu":
        return float(np.mean(got != want)) if want.size else 0.0
    wide = np.complex128 if want.dtype.kind == "c" else np.float64
    got, want = got.astype(wide), want.astype(wide)
    return float(np.abs(got - want).max() / max(np.abs(want).max(), 1e-30)) if want.size else 0.0


def tolerance_of(dtype):
    size = dtype.itemsize // (2 if dtype.kind == "c" else 1)
    return 0 if dtype.kind in "biu" else {2: 3e-2, 4: 1e-3, 8: 1e-9}[size]


def best_of_jax(compiled, inputs, seconds):
    best, end = math.inf, time.perf_counter() + seconds
    while True:
        begin = time.perf_counter()
        jax.block_until_ready(compiled(*inputs))
        best = min(best, time.perf_counter() - begin)
        if time.perf_counter() > end:
            return best * 1e3


def mesh_run(tool, folder, count, *flags):
    """The stats of mesh-run on the program and the inputs in `folder`."""
    inputs = [f"--input={folder}/{k}.npy" for k in range(count)]
    environment = {key: text for key, text in os.environ.items() if key not in KEEP}
    environment["MESHLOOM_CACHE"] = os.path.join(folder, "cache")
    done = subprocess.run([tool, f"{folder}/program.mlir", f"--stats={folder}/stats.json", *inputs, *flags],
                          capture_output=True, text=True, env=environment, timeout=60)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[0][:150] if done.stderr else "no message")
    with open(f"{folder}/stats.json") as stats:
        return json.load(stats)


def measure(row, options):
    """(ours ms, JAX's ms, compile time by JAX's, error over its tolerance)"""
    _, _, function, *specs = row
    jax.clear_caches()
    wide = any(spec.split("[")[0] in ("f64", "i64") for spec in specs)
    with tempfile.TemporaryDirectory() as folder, jax.enable_x64(True) if wide else contextlib.nullcontext():
        inputs = [value_of(spec, seed) for seed, spec in enumerate(specs)]
        lowered = jax.jit(function, keep_unused=True).lower(*inputs)
        with open(f"{folder}/program.mlir", "w") as file:
            file.write(lowered.as_text())
        for k, value in enumerate(inputs):
            np.save(f"{folder}/{k}.npy", value)
        begin = time.perf_counter()
        compiled = lowered.compile()
        jax_compile = (time.perf_counter() - begin) * 1e3
        inputs = jax.block_until_ready([jnp.asarray(value) for value in inputs])
        wanted = [np.asarray(value) for value in jax.tree.leaves(compiled(*inputs))]
        compile_ms = mesh_run(options.tool, folder, len(inputs), "--compile-only")["compile_ms"]
        ours = mesh_run(options.tool, folder, len(inputs), f"--output-dir={folder}")["best_step_ms"]
        error = 0.0
        for k, want in enumerate(wanted):
            got = np.load(f"{folder}/result_{k}.npy")
            off = error_of(got.view(want.dtype) if got.dtype.kind == "V" else got, want)
            allowed = tolerance_of(want.dtype)
            error = max(error, off / allowed if allowed else math.inf if off else 0.0)
        theirs = math.inf
        for _ in range(options.rounds):
            theirs = min(theirs, best_of_jax(compiled, inputs, 0.15))
            repeat = int(min(max(150 / max(ours, 1e-3), 2), 1000))
            ours = min(ours, mesh_run(options.tool, folder, len(inputs), f"--repeat={repeat}")["best_step_ms"])
    return ours, theirs, compile_ms / jax_compile, error


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool", help="mesh-run")
    parser.add_argument("--match", default="", help="rows whose names this regular expression finds")
    parser.add_argument("--quick", action="store_true", help="every fourth row")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--over", type=float, default=1.05, help="print rows with larger ratios only")
    options = parser.parse_args()
    if not KEEP.keys() <= os.environ.keys():  # The C library reads them when a process starts.
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **KEEP})
    small = jnp.ones(8)
    dispatch = best_of_jax(jax.jit(lambda x: x + 1).lower(small).compile(), [small], 0.1)
    timed, wrong = [], []
    for row in ROWS[::4 if options.quick else 1]:
        name = f"{row[0]}: {row[1]}, {row[3].split(']')[0]}]"
        if not re.search(options.match, name):
            continue
        try:
            ours, theirs, compiling, error = measure(row, options)
        except (RuntimeError, subprocess.TimeoutExpired) as problem:
            wrong.append(f"{name}: {problem}")
            continue
        if error > 1:
            wrong.append(f"{name}: the result is off by {error:.3g} times its tolerance")
        timed.append((ours / theirs, name, row[0], ours, theirs, compiling))
    print(f"Ops beside JAX {jax.__version__}, whose dispatch takes {dispatch * 1e3:.0f} us.\n")
    print("| ratio | ours, ms | JAX, ms | compile time by JAX's | op |\n|---|---|---|---|---|")
    for ratio, name, _, ours, theirs, compiling in sorted(timed, reverse=True):
        if ratio > options.over:
            print(f"| {ratio:.2f} | {ours:.3g} | {theirs:.3g} | {compiling:.2f} | {name} |")
    for kind in dict.fromkeys(entry[2] for entry in timed):
        mean = geometric_mean([entry[0] for entry in timed if entry[2] == kind])
        print(f"\n{kind}: geometric mean {mean:.2f}", end="")
    if timed:
        over = sum(entry[0] > options.over for entry in timed)
        print(f"\n\n{len(timed)} rows, {over} over {options.over}; "
              f"geometric mean {geometric_mean([entry[0] for entry in timed]):.2f}")
    for text in wrong:
        print(text, file=sys.stderr)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
