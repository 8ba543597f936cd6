// Whatever a program is, the tools end with a message: too large, too deep, no
// text at all.
// RUN: rm -rf %t && mkdir -p %t
// RUN: not mesh-run %s --function=argument 2>&1 | FileCheck %s --check-prefix=MEMORY
// MEMORY: mesh-run: error: out of memory: program 'argument' needs 4503599.6 GB, 4503599.6 GB of them for 'argument 0', and {{.*}} GB may be used

// RUN: not mesh-run %s --function=overflow 2>&1 | FileCheck %s --check-prefix=OVERFLOW
// OVERFLOW: error: argument #0 has type 'tensor<9223372036854775807x2xi8>', which is more than 2^53 bytes

// RUN: not mesh-opt --split-input-file %S/Inputs/too-large.mlir 2>&1 | FileCheck %s --check-prefix=OP
// OP: error: 'dtensor.iota' op violates S5: a tensor of more than 2^53 bytes, 'tensor<9223372036854775807x2xi32>'

// RUN: python3 -c "print('func.func @main() {' + '(' * 100000)" > %t/deep.mlir
// RUN: not mesh-run %t/deep.mlir 2>&1 | FileCheck %s --check-prefix=DEEP
// RUN: not mesh-opt %t/deep.mlir 2>&1 | FileCheck %s --check-prefix=DEEP
// DEEP: deep.mlir:1: error: brackets nest more than 256 deep
// RUN: python3 -c "n = 120; print('func.func @main(%%p: tensor<i1>) -> tensor<i1> {\n' + '%%r = \"stablehlo.if\"(%%p) ({\n' * n + 'stablehlo.return %%p : tensor<i1>\n' + '}, { stablehlo.return %%p : tensor<i1> }) : (tensor<i1>) -> tensor<i1>\nstablehlo.return %%r : tensor<i1>\n' * (n - 1) + '}, { stablehlo.return %%p : tensor<i1> }) : (tensor<i1>) -> tensor<i1>\nreturn %%r : tensor<i1> }')" > %t/nested.mlir
// RUN: mesh-run %t/nested.mlir | FileCheck %s --check-prefix=NESTED
// NESTED: result 0 i1[]

// Aliases of aliases nest as brackets do.
// RUN: python3 -c "print('#a0 = [1]\n' + ''.join(f'#a{i + 1} = [#a{i}]\n' for i in range(5000)) + 'module attributes {a.b = #a5000} {}')" > %t/aliases.mlir
// RUN: not mesh-run %t/aliases.mlir 2>&1 | FileCheck %s --check-prefix=ALIASES
// RUN: not mesh-opt %t/aliases.mlir 2>&1 | FileCheck %s --check-prefix=ALIASES
// ALIASES: aliases.mlir:4098: error: aliases nest more than 4096 deep
// RUN: python3 -c "print('!t0 = tuple<f32>\n' + ''.join(f'!t{i + 1} = tuple<!t{i}, !t{i}>\n' for i in range(40)) + 'func.func @main(%%a: !t40) { return }')" > %t/twice.mlir
// RUN: not mesh-run %t/twice.mlir 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not mesh-opt %t/twice.mlir 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: twice.mlir:25: error: alias '!t24' stands for more than 16777216 brackets
// RUN: python3 -c "print('#loc0 = loc(\"f.py\":1:1)\n' + ''.join(f'#loc{i + 1} = loc(callsite(\"f{i}\" at #loc{i}))\n' for i in range(1000)) + 'func.func @main(%%p: tensor<2xf32>) -> tensor<2xf32> {\n%%r = stablehlo.tanh %%p : tensor<2xf32> loc(#loc1000)\nreturn %%r : tensor<2xf32> }')" > %t/frames.mlir
// RUN: mesh-run %t/frames.mlir --explain | FileCheck %s --check-prefix=FRAMES
// FRAMES: result 0 f32[2]

// RUN: python3 -c "t = 'tensor<' + '1x' * 200 + 'f32>'; print('func.func @main(%%p: ' + t + ') -> ' + t + ' {\n%%r = dtensor.exp %%p : ' + t + '\nreturn %%r : ' + t + ' }')" > %t/rank.mlir
// RUN: mesh-run %t/rank.mlir --verify | FileCheck %s --check-prefix=RANK
// RANK: verify result 0 f32[1, 1, {{.*}}: ok

// RUN: python3 -c "print('func.func @main(%%p: tensor<i1>) -> tensor<i1> {\nreturn %%p#2147483648 : tensor<i1> }')" > %t/result.mlir
// RUN: not mesh-run %t/result.mlir 2>&1 | FileCheck %s --check-prefix=RESULT
// RUN: not mesh-opt %t/result.mlir 2>&1 | FileCheck %s --check-prefix=RESULT
// RESULT: result.mlir:2: error: no op has a result of such a number

// Files of Windows: UTF-8 with a byte order mark is read, UTF-16 is named.
// RUN: python3 -c "t = 'func.func @main(%%p: tensor<i1>) -> tensor<i1> {\n return %%p : tensor<i1> }'; open('%t/mark.mlir', 'w', encoding='utf-8-sig', newline='\r\n').write(t); open('%t/wide.mlir', 'w', encoding='utf-16').write(t); open('%t/binary.mlir', 'wb').write(b'NUMPY\0')"
// RUN: mesh-run %t/mark.mlir | FileCheck %s --check-prefix=NESTED
// RUN: mesh-opt %t/mark.mlir | FileCheck %s --check-prefix=MARK
// MARK: func.func @main
// RUN: not mesh-run %t/wide.mlir 2>&1 | FileCheck %s --check-prefix=WIDE
// RUN: not mesh-opt %t/wide.mlir 2>&1 | FileCheck %s --check-prefix=WIDE
// WIDE: wide.mlir:1: error: the file is UTF-16, as PowerShell's '>' writes it; expected UTF-8
// RUN: not mesh-run %t/binary.mlir 2>&1 | FileCheck %s --check-prefix=BINARY
// RUN: not mesh-opt %t/binary.mlir 2>&1 | FileCheck %s --check-prefix=BINARY
// BINARY: binary.mlir:1: error: the file is binary; expected the text of a program, or a portable artifact of StableHLO

// RUN: not mesh-run %t 2>&1 | FileCheck %s --check-prefix=FOLDER
// FOLDER: mesh-run: error: cannot read '{{.*}}': it is a directory
// RUN: touch %t/empty.mlir
// RUN: not mesh-run %t/empty.mlir 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: error
// RUN: not mesh-opt %t 2>&1 | FileCheck %s --check-prefix=OPT
// OPT: {{.}}

func.func @argument(%x: tensor<1125899906842624xf32>) -> tensor<f32> {
  %0 = dtensor.reduce sum %x dims [0] : (tensor<1125899906842624xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func @overflow(%x: tensor<9223372036854775807x2xi8>) -> tensor<f32> {
  %0 = dtensor.constant dense<0.0> : tensor<f32>
  return %0 : tensor<f32>
}
