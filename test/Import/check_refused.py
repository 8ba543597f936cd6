# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What docs/StableHLO.md says is refused is refused, by a message that names it.

    check_refused.py SOURCE path/to/mesh-run

Every row of the page's table has programs here, found by how the row begins,
and what the message must have. No message prints an op, which may be the whole
program.
"""

import pathlib
import re
import subprocess
import sys
import tempfile


def function(body: str, arguments: str = "%x: tensor<4xf32>", result: str = "tensor<4xf32>", before: str = "") -> str:
    return f"{before}func.func @main({arguments}) -> {result} {{\n{body}\n}}\n"


def returned(kind: str, before: str = "") -> str:
    return function(f"  return %x : {kind}", f"%x: {kind}", kind, before)


def lapack(target: str, operands: str, types: str, config: str = "") -> str:
    """A call that gives a [4, 4] matrix first."""
    config = f" {{mhlo.backend_config = {{{config}}}}}" if config else ""
    return function(
        f"  %0 = stablehlo.custom_call @{target}({operands}){config} : ({types}) -> tensor<4x4xf32>\n"
        "  return %0 : tensor<4x4xf32>",
        "%x: tensor<4x4xf32>, %p: tensor<4xi32>", "tensor<4x4xf32>")


MESH = 'sdy.mesh @mesh = <["x"=2, "y"=4]>\n'
UNEVEN = "dense<[[0, 1, 2], [3, -1, -1]]> : tensor<2x3xi64>"


def manual(body: str, rest: str = "") -> str:
    return function(
        '  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] '
        f'manual_axes={{"x"}} (%b: tensor<2xf32>) {{\n{body}  }} : (tensor<4xf32>) -> tensor<4xf32>\n'
        "  return %0 : tensor<4xf32>", before=MESH) + rest


ADD = """({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  })"""


def aliases(count: int, value: str) -> str:
    lines = ["#a0 = [1]"] + [f"#a{i + 1} = " + value.format(f"#a{i}") for i in range(count)]
    return "\n".join(lines + [f"module attributes {{a.b = #a{count}}} {{}}"])


def nested_calls(depth: int) -> str:
    calls = [function("  %0 = func.call @f0(%x) : (tensor<4xf32>) -> tensor<4xf32>\n  return %0 : tensor<4xf32>")]
    for i in range(depth):
        calls.append(
            f"func.func private @f{i}(%x: tensor<4xf32>) -> tensor<4xf32> {{\n"
            f"  %0 = func.call @f{i + 1}(%x) : (tensor<4xf32>) -> tensor<4xf32>\n"
            "  return %0 : tensor<4xf32>\n}\n")
    return "".join(calls) + f"func.func private @f{depth}(%x: tensor<4xf32>) -> tensor<4xf32> {{\n  return %x : tensor<4xf32>\n}}\n"


def token_op(line: str) -> str:
    return function(f"  %t = stablehlo.create_token : !stablehlo.token\n{line}\n  return %x : tensor<4xf32>")


HANDLE = "channel_handle = #stablehlo.channel_handle<handle = 1, type = {}>"

# By how a row begins.
def doubling(depth: int) -> str:
    """Each function calls the next one twice, every other time as a composite."""
    text = returned("tensor<4xf32>").replace("return %x", f"%0 = call @f0(%x) : (tensor<4xf32>) -> tensor<4xf32>\n  return %0")
    for i in range(depth):
        call = (f"call @f{i + 1}(%OPERAND)" if i % 2 else
                f'stablehlo.composite "a.f" %OPERAND {{decomposition = @f{i + 1}}}') + " : (tensor<4xf32>) -> tensor<4xf32>"
        text += (f"func.func private @f{i}(%x: tensor<4xf32>) -> tensor<4xf32> {{\n  %0 = {call.replace('OPERAND', 'x')}\n"
                 f"  %1 = {call.replace('OPERAND', '0')}\n  return %1 : tensor<4xf32>\n}}\n")
    return text + f"func.func private @f{depth}(%x: tensor<4xf32>) -> tensor<4xf32> {{ return %x : tensor<4xf32> }}\n"


def nested_loops(depth: int) -> str:
    """Loops in one another in a manual computation, each of which begins with the same on all devices."""
    body, value = "  %v = stablehlo.add %z, %b : tensor<2xf32>\n", "%v"
    for i in range(depth):
        body = (f"  %w{i}:2 = stablehlo.while(%c{i} = %z, %k{i} = %i) : tensor<2xf32>, tensor<i32> cond {{\n"
                f"  %p{i} = stablehlo.compare LT, %k{i}, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
                f"  stablehlo.return %p{i} : tensor<i1>\n  }} do {{\n{body}"
                f"  stablehlo.return {value}, %k{i} : tensor<2xf32>, tensor<i32>\n  }}\n")
        value = f"%w{i}#0"
    return manual("  %z = stablehlo.constant dense<0.0> : tensor<2xf32>\n  %i = stablehlo.constant dense<0> : tensor<i32>\n"
                  + body + f"  sdy.return {value} : tensor<2xf32>\n")


def wide_tuple(depth: int) -> str:
    """A tuple of 2^depth tensors."""
    types = "!t0 = tuple<tensor<4xf32>, tensor<4xf32>>\n"
    types += "".join(f"!t{i} = tuple<!t{i - 1}, !t{i - 1}>\n" for i in range(1, depth))
    return function(f"  %0 = stablehlo.optimization_barrier %x : !t{depth - 1}\n  return %0 : !t{depth - 1}",
                    f"%x: !t{depth - 1}", f"!t{depth - 1}", types)


PROGRAMS = {
    "`quant.any`": [
        (returned("tensor<4x!quant.any<i8:f32>>"), r"quant\.any"),
        (returned("tensor<4x!quant.calibrated<f32<-1.0:1.0>>>"), r"quant\.calibrated")],
    "ops other than those that the specification names": [
        (function("  %0 = stablehlo.reverse %x, dims = [0] : tensor<4x1x!quant.uniform<i8:f32:1, {0.5}>>\n"
                  "  return %0 : tensor<4x1x!quant.uniform<i8:f32:1, {0.5}>>",
                  "%x: tensor<4x1x!quant.uniform<i8:f32:1, {0.5}>>", "tensor<4x1x!quant.uniform<i8:f32:1, {0.5}>>"),
         r"stablehlo\.reverse.*quant|quant.*stablehlo\.reverse")],
    "`dynamic_conv`": [
        (function('  %0 = "chlo._asin_acos_kernel"(%x) : (tensor<4xf32>) -> tensor<4xf32>\n  return %0 : tensor<4xf32>'),
         r"_asin_acos_kernel")],
    "element types": [(returned(f"tensor<4x{kind}>"), kind)
                      for kind in ("f4E2M1FN", "f6E2M3FN", "f6E3M2FN", "f8E3M4", "f8E8M0FNU")],
    "dynamic shapes": [
        (returned("tensor<?xf32>"), r"tensor<\?xf32>"),
        (function('  %0 = stablehlo.dynamic_iota %n, dim = 0 : (tensor<1xi32>) -> tensor<?xf32>\n'
                  '  %1 = stablehlo.dynamic_reshape %0, %n : (tensor<?xf32>, tensor<1xi32>) -> tensor<4xf32>\n'
                  '  return %1 : tensor<4xf32>', "%n: tensor<1xi32>"), r"dynamic_iota|argument")],
    "`infeed`": [
        (token_op('  %0:2 = "stablehlo.infeed"(%t) : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)'), "infeed"),
        (token_op('  %0 = "stablehlo.outfeed"(%x, %t) : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token'), "outfeed"),
        (token_op(f'  %0 = "stablehlo.send"(%x, %t) <{{{HANDLE.format(2)}, is_host_transfer = true}}> : '
                  "(tensor<4xf32>, !stablehlo.token) -> !stablehlo.token"), "send"),
        (token_op(f'  %0:2 = "stablehlo.recv"(%t) <{{{HANDLE.format(3)}, is_host_transfer = true}}> : '
                  "(!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)"), "recv")],
    "groups of different sizes": [
        (manual(f'    %g = "stablehlo.all_gather"(%b) <{{all_gather_dim = 0 : i64, {HANDLE.format(1)}, '
                f"replica_groups = {UNEVEN}, use_global_device_ids}}> : (tensor<2xf32>) -> tensor<6xf32>\n"
                "    sdy.return %b : tensor<2xf32>\n"), "C4"),
        (manual(f'    %g = "stablehlo.all_to_all"(%b) <{{concat_dimension = 0 : i64, split_dimension = 0 : i64, '
                f"split_count = 2 : i64, {HANDLE.format(1)}, replica_groups = {UNEVEN}}}> : "
                "(tensor<2xf32>) -> tensor<2xf32>\n    sdy.return %b : tensor<2xf32>\n"), "C7|C5|C8"),
        (manual(f'    %g = "stablehlo.reduce_scatter"(%b) <{{scatter_dimension = 0 : i64, {HANDLE.format(1)}, '
                f"replica_groups = {UNEVEN}, use_global_device_ids}}> {ADD.replace('%b', '%c')} : "
                "(tensor<2xf32>) -> tensor<1xf32>\n    sdy.return %b : tensor<2xf32>\n"), "C5")],
    "`gehrd` of a part": [
        (lapack("lapack_strsyl_ffi", "%x, %x, %x", "tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>"), "trsyl"),
        (lapack("cusolver_getrf_ffi", "%x", "tensor<4x4xf32>"), "cusolver_getrf_ffi"),
        (lapack("ducc_fft", "%x", "tensor<4x4xf32>"), "ducc_fft")],
    "unranked tensors": [(returned("tensor<*xf32>"), r"tensor<\*xf32>")],
    "regions that use values": [
        (function("  %c = stablehlo.constant dense<0.0> : tensor<f32>\n"
                  '  %0 = "stablehlo.reduce"(%m, %c) <{dimensions = array<i64: 0>}> ({\n'
                  "  ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n    %s = stablehlo.add %a, %y : tensor<f32>\n"
                  "    stablehlo.return %s : tensor<f32>\n  }) : (tensor<3x4xf32>, tensor<f32>) -> tensor<4xf32>\n"
                  "  return %0 : tensor<4xf32>", "%m: tensor<3x4xf32>, %y: tensor<f32>"), "uses a value from outside.*%s = stablehlo.add")],
    "non-scalar init": [
        (function('  %0 = "stablehlo.reduce"(%m, %y) <{dimensions = array<i64: 0>}> ({\n'
                  "  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):\n    %s = stablehlo.add %a, %b : tensor<4xf32>\n"
                  "    stablehlo.return %s : tensor<4xf32>\n  }) : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<4xf32>\n"
                  "  return %0 : tensor<4xf32>", "%m: tensor<3x4xf32>, %y: tensor<4xf32>"), r"constraint [CI]\d+|must be 0D")],
    "several replicas": [
        ("module attributes {mhlo.num_replicas = 2 : i32} {\n" + returned("tensor<4xf32>") + "}\n", "replica")],
    "an axis that does not exist": [
        (returned("tensor<4xf32>", MESH).replace("tensor<4xf32>)", 'tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z"}]>})'), "'z'|\"z\""),
        (returned("tensor<4x4xf32>", MESH).replace(
            "tensor<4x4xf32>)", 'tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"x"}]>})'), "\"x\"|'x'"),
        (returned("tensor<4xf32>", 'sdy.mesh @a = <["x"=2, "y"=3]>\nsdy.mesh @b = <["u"=3, "v"=2]>\n').replace(
            "tensor<4xf32>)", 'tensor<4xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}]>}, '
            '%y: tensor<4xf32> {sdy.sharding = #sdy.sharding<@b, [{"v"}]>})'), "@a.*@b|@b.*@a")],
    "functions that call themselves": [
        (function("  %0 = func.call @main(%x) : (tensor<4xf32>) -> tensor<4xf32>\n  return %0 : tensor<4xf32>"), "'main'"),
        (nested_calls(201), "more than 200 deep")],
    "brackets nested": [
        ("func.func @main() " + "{" * 300, r"mlir:1: error: brackets nest more than 256 deep"),
        (aliases(5000, "[{0}]"), r"mlir:4098: error: aliases nest more than 4096 deep"),
        (aliases(40, "[{0}, {0}]"), r"mlir:25: error: alias '#a24' stands for more than 16777216 brackets")],
    "tensors of more than 2^53": [(returned("tensor<4611686018427387904xf32>"), "tensor<4611686018427387904xf32>")],
    "custom calls that nobody": [
        (function("  %0 = stablehlo.custom_call @my_own(%x) : (tensor<4xf32>) -> tensor<4xf32>\n  return %0 : tensor<4xf32>"),
         "my_own")],
    "programs of more than 2^20 ops": [
        (doubling(40), "function 'f2[0-9]' has more than 1048576 ops.*this call of 'f2[0-9]' is")],
    "tuples of more than 2^16 tensors": [
        (wide_tuple(20), "a tuple has more than 65536 tensors in it")],
    "some 16 and more loops": [
        (nested_loops(20), "is in loops in one another .* the most is 64 times the program")],
    "damaged portable artifacts": [
        ("ML\xefR\x0dStableHLO_v1.9.0", "cannot read the artifact: expected a text that ends with a zero byte"),
        ("ML\xefR\x0dMLIR19.1.7\0", "this is bytecode of MLIR, but no portable artifact of StableHLO"),
        ("ML\xefR\x2fStableHLO_v9.9.9\0", "it is MLIR bytecode of version 23, written by StableHLO_v9.9.9")],
    "`vhlo` and `mhlo` as text": [
        (function('  %0 = "mhlo.add"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>\n  return %0 : tensor<4xf32>'),
         "mhlo is XLA's own dialect"),
        ("vhlo.func_v1 @main() -> () {\n}\n", "vhlo is StableHLO's portable form")],
}


def main() -> int:
    source, mesh_run = pathlib.Path(sys.argv[1]), sys.argv[2]
    page = (source / "docs/StableHLO.md").read_text()
    table = page[page.index("| refused | reason |"):].split("\n\n")[0]
    rows = [line[2:] for line in table.splitlines()[2:]]
    wrong = []
    for row in rows:
        if not any(row.startswith(begin) for begin in PROGRAMS):
            wrong.append(f"no program here is for the row '{row[:60]}'")
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "refused.mlir"
        for begin, programs in PROGRAMS.items():
            if not any(row.startswith(begin) for row in rows):
                wrong.append(f"docs/StableHLO.md has no row that begins with '{begin}'")
            for program, pattern in programs:
                count += 1
                path.write_bytes(program.encode("latin-1"))
                run = subprocess.run([mesh_run, str(path)], capture_output=True, text=True, timeout=120)
                if (run.returncode != 1 or not re.search(pattern, run.stderr, re.DOTALL)
                        or "see current operation" in run.stderr):
                    wrong.append(f"'{begin}': expected an error that matches '{pattern}', got {run.returncode}\n"
                                 f"{program[:1500]}{run.stderr[:1500]}")
    print("\n".join(wrong))
    print(f"{len(rows)} rows, {count} programs, {len(wrong)} of them wrong")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
