// A signed program loads with the key that signed it; a changed one, one of
// another key or without a signature does not.
// RUN: rm -rf %t && mkdir -p %t
// RUN: head -c 32 /dev/zero > %t/key && echo 'another key, long enough' > %t/other
// RUN: mesh-run %s --emit-program=%t/f.mlprog --sign-key=%t/key
// RUN: mesh-run %t/f.mlprog --verify-key=%t/key | FileCheck %s --check-prefix=RUNS
// RUNS: result 0 f32[2]
// RUN: mesh-run %t/f.mlprog
// RUN: openssl dgst -sha256 -mac HMAC -macopt hexkey:0000000000000000000000000000000000000000000000000000000000000000 -r %t/f.mlprog | cut -c 1-64 | diff - %t/f.mlprog.sig

// RUN: not mesh-run %t/f.mlprog --verify-key=%t/other 2>&1 | FileCheck %s --check-prefix=KEY
// KEY: mesh-run: error: '{{.*}}f.mlprog' does not match its signature by the key in '{{.*}}other': it was changed, or signed with a different key

// RUN: cp %t/f.mlprog %t/changed.mlprog && cp %t/f.mlprog.sig %t/changed.mlprog.sig && echo >> %t/changed.mlprog
// RUN: not mesh-run %t/changed.mlprog --verify-key=%t/key 2>&1 | FileCheck %s --check-prefix=CHANGED
// CHANGED: mesh-run: error: '{{.*}}changed.mlprog' does not match its signature by the key in '{{.*}}key'

// RUN: cp %t/f.mlprog %t/plain.mlprog
// RUN: not mesh-run %t/plain.mlprog --verify-key=%t/key 2>&1 | FileCheck %s --check-prefix=PLAIN
// PLAIN: mesh-run: error: '{{.*}}plain.mlprog' is not signed: cannot read '{{.*}}plain.mlprog.sig'

// RUN: echo short > %t/short
// RUN: not mesh-run %t/f.mlprog --verify-key=%t/short 2>&1 | FileCheck %s --check-prefix=SHORT
// SHORT: mesh-run: error: the key in '{{.*}}short' has 6 bytes, expected at least 16

// RUN: not mesh-run %s --verify-key=%t/key 2>&1 | FileCheck %s --check-prefix=TEXT
// TEXT: mesh-run: error: --verify-key is for saved programs (.mlprog)
// RUN: not mesh-run %s --sign-key=%t/key 2>&1 | FileCheck %s --check-prefix=SIGN
// SIGN: mesh-run: error: --sign-key signs the program that --emit-program saves: give both

func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = dtensor.exp %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}
