// Element types that our MLIR does not know are named in the error.
// RUN: not mesh-run %s 2>&1 | FileCheck %s
// CHECK: the program has elements of type f8E8M0FNU, which only portable artifacts can have
func.func @main(%x: tensor<4xf8E8M0FNU>) -> tensor<4xf8E8M0FNU> {
  return %x : tensor<4xf8E8M0FNU>
}
