#!/usr/bin/env python3
"""What compilers say about common mistakes with the public headers.

Each snippet is compiled without making anything. It either compiles, or its errors contain the text given, and there are
no more of them than given. The compiler reads the headers once, and each snippet what it made of them; but not where
something comes before the headers, or in another standard.

usage: check_diagnostics.py COMPILER INCLUDE_FOLDER
"""

import pathlib
import subprocess
import sys
import tempfile

HEADER = '#include "meshloom/Meshloom.h"\n'
USING = HEADER + "using namespace meshloom;\n"
BESIDE_STD = (
    "#include <algorithm>\n#include <complex>\n#include <functional>\n#include <numeric>\n#include <stack>\n#include <valarray>\n"
    "using namespace std;\n" + USING
)

# Name, standard, source, text of the error (None: it compiles), most errors.
SNIPPETS = [
    ("C++17 gives one error", "c++17", HEADER, "Meshloom needs C++20", 1),
    (
        "a layout says None where a dim is on no axis",
        "c++20",
        USING + 'Layout f(Mesh mesh) { return Layout({"x", nullptr}, mesh); }',
        "write UNSHARDED",
        1,
    ),
    (
        "&& of tensors",
        "c++20",
        USING + "bool f(Tensor x) { return bool(x > 0 && x < 3); }",
        "write x & y (logical_and)",
        1,
    ),
    ("|| of a variable", "c++20", USING + "bool f(DVariable x) { return x || true; }", "write x | y (logical_or)", 1),
    (
        "a function's body takes another number of arguments",
        "c++20",
        USING + "void f(Tensor x) { function([](const Tensor &a) { return a; })(x, x); }",
        "a function is called with as many arguments",
        1,
    ),
    (
        "the condition of a loop takes nothing",
        "c++20",
        USING + "void f(Tensor x) { while_loop([] { return tensor(true); }, [](const Tensor &y) { return y; }, x); }",
        "condition and body of while_loop take one argument",
        2,
    ),
    (
        "the body of fori_loop lacks the counter",
        "c++20",
        USING + "void f(Tensor x) { fori_loop(0, 3, [](const Tensor &y) { return y; }, x); }",
        "the body of fori_loop takes two arguments",
        2,
    ),
    (
        "a branch takes an argument",
        "c++20",
        USING + "void f(Tensor x) { cond(x, [](Tensor y) { return y; }, [&] { return x; }); }",
        "the branches of cond take no arguments",
        1,
    ),
    (
        "what call_with_layout calls takes an argument",
        "c++20",
        USING + "void f(Layout l) { call_with_layout([](Tensor y) { return y; }, l); }",
        "what call_with_layout calls takes no arguments",
        1,
    ),
    # By C++'s rules a name that is a type in std and a function here has to be chosen.
    (
        "beside using namespace std",
        "c++20",
        BESIDE_STD
        + "vector<float> f(Tensor x) {\n"
        "  using meshloom::function, meshloom::complex, meshloom::less, meshloom::slice, meshloom::stack;\n"
        "  auto g = function([](const Tensor &a) { return exp(a) + sqrt(abs(a)) + pow(a, 2) + real(complex(a, a)); });\n"
        "  Tensor y = where(less(g(x), 1), sort(x), reverse(x, 0)) + max(reduce_max(x), reduce_min(x));\n"
        "  return slice(stack({y, y}), {0, 0}, {1, 1}).to_vector<float>();\n"
        "}\n",
        None,
        0,
    ),
]


def precompile(folder, options):
    """The header to include that stands for HEADER. Both compilers take x.h.gch for x.h."""
    header = folder / "Precompiled.h"
    header.write_text(HEADER)
    subprocess.run([*options, "-xc++-header", header, "-o", f"{header}.gch"], check=True)
    return header


def check(compiler, include, folder):
    options = [compiler, "-Wall", f"-I{include}"]
    header = precompile(folder, [*options, "-std=c++20"])
    failed = False
    for name, standard, source, text, most in SNIPPETS:
        first = ["-include", header] if source.startswith(HEADER) and standard == "c++20" else []
        run = subprocess.run(
            [*options, f"-std={standard}", *first, "-fsyntax-only", "-xc++", "-"],
            input=source,
            capture_output=True,
            text=True,
        )
        errors = [line for line in run.stderr.splitlines() if " error: " in line]
        good = run.returncode == 0 if text is None else text in run.stderr and 1 <= len(errors) <= most
        if not good:
            failed = True
            print(f"{name}: expected {text or 'no error'}, at most {most} errors, got\n{run.stderr}")
    return failed


def main():
    compiler, include = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(check(compiler, include, pathlib.Path(folder)))


main()
