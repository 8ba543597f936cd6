#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the training step of TensorFlow's "DTensor with Core APIs" tutorial as
dtensor ops: forward, backward and Adam. The texts are test/Programs/
mnist_mlp_step*.mlir.
"""
import argparse

LAYERS = [("1", 784, 700), ("2", 700, 10), ("3", 10, 10)]
RATE, B1, B2, EPSILON = "1.0e-3", "0.9", "0.999", "1.0e-7"


class Step:
    """Collects ops; values are names, their types are kept beside them."""

    def __init__(self, batch):
        self.batch, self.lines, self.types, self.count = batch, [], {}, 0

    def emit(self, op, shape, operands=(), text="", element="f32", short=False):
        name = f"%{self.count}"
        self.count += 1
        kind = tensor(shape, element)
        self.types[name] = kind
        ins = [self.types[o] for o in operands]
        same = short and all(t == kind for t in ins)
        signature = kind if same else f"({', '.join(ins)}) -> {kind}"
        self.lines.append(f"    {name} = dtensor.{op} {text.format(*operands)} : {signature}")
        return name

    def binary(self, op, a, b, shape):
        return self.emit(op, shape, (a, b), "{0}, {1}", short=True)

    def unary(self, op, a, shape):
        return self.emit(op, shape, (a,), "{0}", short=True)

    def constant(self, value, shape, element="f32"):
        return self.emit("constant", shape, text=f"dense<{value}>", element=element, short=True)

    def scaled(self, a, value, shape):
        return self.binary("multiply", a, self.constant(value, shape), shape)

    def broadcast(self, a, shape, dims, element="f32"):
        return self.emit("broadcast_in_dim", shape, (a,), f"{{0}} dims {list(dims)}", element)

    def reduce(self, kind, a, shape, dims):
        return self.emit("reduce", shape, (a,), f"{kind} {{0}} dims {list(dims)}")

    def dot(self, a, b, shape, contract):
        return self.emit("dot_general", shape, (a, b),
                         f"{{0}}, {{1}} contracting [{contract[0]}] x [{contract[1]}]")

    def compare(self, direction, a, b, shape):
        return self.emit("compare", shape, (a, b), f"{direction}, {{0}}, {{1}}", "i1")

    def select(self, p, a, b, shape):
        return self.emit("select", shape, (p, a, b), "{0}, {1}, {2}")


def tensor(shape, element="f32", layout=None):
    dims = "".join(f"{d}x" for d in shape)
    return f"tensor<{dims}{element}{', ' + layout if layout else ''}>"


def forward_and_backward(s):
    """The loss and the gradients of all weights, in the order of arguments."""
    n = s.batch
    inputs, masks, value = [], [], "%x"
    for i, (layer, rows, cols) in enumerate(LAYERS):
        inputs.append(value)
        value = s.dot(value, f"%w{layer}", (n, cols), (1, 0))
        value = s.binary("add", value, s.broadcast(f"%b{layer}", (n, cols), [1]), (n, cols))
        if i + 1 < len(LAYERS):
            zero = s.constant("0.0", (n, cols))
            masks.append(s.compare("GT", value, zero, (n, cols)))
            value = s.binary("maximum", value, zero, (n, cols))

    classes = LAYERS[-1][2]
    full = (n, classes)
    largest = s.broadcast(s.reduce("max", value, (n,), [1]), full, [0])
    shifted = s.binary("subtract", value, largest, full)
    exp = s.unary("exp", shifted, full)
    total = s.reduce("sum", exp, (n,), [1])
    log_softmax = s.binary("subtract", shifted, s.broadcast(s.unary("log", total, (n,)), full, [0]), full)
    labels = s.broadcast("%y", full, [0], "i32")
    index = s.emit("iota", full, text="dim 1", element="i32", short=True)
    one_hot = s.emit("convert", full, (s.compare("EQ", labels, index, full),), "{0}")
    picked = s.reduce("sum", s.binary("multiply", one_hot, log_softmax, full), (), [0, 1])
    loss = s.scaled(picked, f"{-1 / n!r}", ())

    softmax = s.binary("divide", exp, s.broadcast(total, full, [0]), full)
    gradient = s.scaled(s.binary("subtract", softmax, one_hot, full), f"{1 / n!r}", full)
    gradients = []
    for i in reversed(range(len(LAYERS))):
        layer, rows, cols = LAYERS[i]
        bias = s.reduce("sum", gradient, (cols,), [0])
        weight = s.dot(inputs[i], gradient, (rows, cols), (0, 0))
        gradients = [weight, bias] + gradients
        if i > 0:
            below = s.dot(gradient, f"%w{layer}", (n, rows), (1, 1))
            gradient = s.select(masks[i - 1], below, s.constant("0.0", (n, rows)), (n, rows))
    return loss, gradients


def adam(s, weights, gradients):
    step = s.binary("add", "%step", s.constant("1.0", ()), ())
    one = s.constant("1.0", ())
    corrections = [s.binary("subtract", one, s.binary("power", s.constant(beta, ()), step, ()), ())
                   for beta in (B1, B2)]
    new_weights, new_m, new_v = [], [], []
    for (name, shape), g in zip(weights, gradients):
        m = s.binary("add", s.scaled(f"%m_{name}", B1, shape), s.scaled(g, "0.1", shape), shape)
        v = s.binary("add", s.scaled(f"%v_{name}", B2, shape),
                     s.scaled(s.binary("multiply", g, g, shape), "1.0e-3", shape), shape)
        m_hat = s.binary("divide", m, s.broadcast(corrections[0], shape, []), shape)
        v_hat = s.binary("divide", v, s.broadcast(corrections[1], shape, []), shape)
        below = s.binary("add", s.unary("sqrt", v_hat, shape), s.constant(EPSILON, shape), shape)
        change = s.scaled(s.binary("divide", m_hat, below, shape), RATE, shape)
        new_weights.append(s.binary("subtract", f"%{name}", change, shape))
        new_m.append(m)
        new_v.append(v)
    return new_weights + new_m + new_v + [step]


STYLES = {
    # mesh, layout of x, and of each weight that is not whole
    "data": ({"batch": 8}, {}),
    "tensor": ({"batch": 2, "model": 4}, {"w1": "[*, model]", "b1": "[model]", "w2": "[model, *]"}),
    "sharded": ({"batch": 8}, {"w1": "[batch, *]"}),
}
ABOUT = {
    "data": "Data parallel over 8 devices.",
    "tensor": "On 2 x 4 devices: data parallel over batch, the first two layers cut over model.",
    "sharded": "Data parallel over 8 devices, the first weight and its moments sharded.",
}
CHECKS = {
    "data": """// One collective: the loss and the six gradients, summed together.
// CHECK-NOT: spmd.{{all_|reduce_|permute|slice}}
// CHECK: spmd.all_reduce sum over [batch] {{.*}}bytes = 2226484 : i64
// CHECK-NOT: spmd.{{all_|reduce_|permute|slice}}""",
    "tensor": """// The second product is summed over model on the way forward; the gradients and
// the loss over batch: a quarter of the first weights on each device.
// CHECK-NOT: spmd.{{all_|reduce_|permute}}
// CHECK: spmd.all_reduce sum over [model] {{.*}} {bytes = 2560 : i64
// CHECK-NOT: spmd.{{all_|reduce_|permute}}
// CHECK: spmd.all_reduce sum over [batch] {{.*}}bytes = 556984 : i64
// CHECK-NOT: spmd.{{all_|reduce_|permute}}""",
    "sharded": """// The first weight is gathered for the product, its gradient scattered.
// CHECK: spmd.all_gather over [batch] {{.*}}bytes = 2195200 : i64
// CHECK-DAG: spmd.reduce_scatter sum over [batch] {{.*}}bytes = 274400 : i64
// CHECK-DAG: spmd.all_reduce sum over [batch] {{.*}}bytes = 31284 : i64
// CHECK-NOT: spmd.{{all_|reduce_|permute}}""",
}


def arguments_of(weights, batch, given):
    """(name, shape, element type, layout) of all arguments."""
    state = [(p + name, shape) for p in ("", "m_", "v_") for name, shape in weights] + [("step", ())]
    whole = {0: "[]", 1: "[*]", 2: "[*, *]"}
    yield "x", (batch, LAYERS[0][1]), "f32", "[batch, *]"
    yield "y", (batch,), "i32", "[batch]"
    for name, shape in state:
        weight = name[2:] if name[:2] in ("m_", "v_") else name
        yield name, shape, "f32", given.get(weight, whole[len(shape)])


def range_of(name):
    """In which random inputs of an argument lie, where [-1, 1) would give nan: a second
    moment is the mean of squares, and steps are counted."""
    if name.startswith("v_"):
        return ", dtensor.range = array<f64: 0.0, 1.0>"
    return ", dtensor.range = array<f64: 0.0, 100.0>" if name == "step" else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--style", choices=STYLES, default="data")
    options = parser.parse_args()
    mesh, given = STYLES[options.style]

    weights = [item for layer, rows, cols in LAYERS
               for item in ((f"w{layer}", (rows, cols)), (f"b{layer}", (cols,)))]
    arguments = list(arguments_of(weights, options.batch, given))
    aliases = {"[]": "#scalar"}
    for *_, layout in arguments:
        words = layout.strip("[]").replace("*", "u").replace(", ", "_")
        aliases.setdefault(layout, f"#{words}")
    s = Step(options.batch)
    for name, shape, element, layout in arguments:
        s.types[f"%{name}"] = tensor(shape, element, aliases[layout])
    loss, gradients = forward_and_backward(s)
    results = [("loss", tensor((), "f32", "#scalar"), loss)]
    for (name, shape, _, layout), value in zip(arguments[2:], adam(s, weights, gradients)):
        results.append((name, tensor(shape, "f32", aliases[layout]), value))
    returned = []
    for _, kind, value in results:
        returned.append(f"%{s.count}")
        s.count += 1
        s.lines.append(f"    {returned[-1]} = dtensor.constraint {value} : ({s.types[value]}) -> {kind}")

    sizes = ", ".join(f"{axis} = {size}" for axis, size in mesh.items())
    print(f"""// The training step of TensorFlow's "DTensor with Core APIs" tutorial: 784-700
// relu, 700-10 relu, 10-10, sparse softmax cross entropy, Adam, batch {options.batch}. Returns
// the loss and the updated state.
// {ABOUT[options.style]}
// Written by scripts/make_mlp_step.py --style={options.style}.
// RUN: mesh-opt %s --dtensor-partition='machine=ring refine=false' | FileCheck %s
// RUN: %verify

{CHECKS[options.style]}

#mesh = #dtensor.mesh<{sizes}>""")
    for layout, alias in aliases.items():
        print(f"{alias} = #dtensor.layout<#mesh, {layout}>")
    lines = []
    for i, (name, shape, element, layout) in enumerate(arguments):
        alias = f", dtensor.alias = {i - 1} : i64" if i >= 2 else ""
        lines.append(f"%{name}: {tensor(shape, element, aliases[layout])} {{dtensor.name = \"{name}\"{alias}{range_of(name)}}}")
    print("\nfunc.func @main(\n    " + ",\n    ".join(lines) + ")\n    -> (" + ",\n        ".join(
        f"{kind} {{dtensor.name = \"{name}\"}}" for name, kind, _ in results) + ") {")
    print("\n".join(line[2:] for line in s.lines))
    print("  return " + ", ".join(returned) + "\n      : " + ", ".join(kind for _, kind, _ in results))
    print("}")


if __name__ == "__main__":
    main()
