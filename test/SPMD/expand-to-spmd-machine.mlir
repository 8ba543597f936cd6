// A machine model that does not exist.
// RUN: not mesh-opt %s --dtensor-expand-to-spmd='machine=abacus' 2>&1 | FileCheck %s

// CHECK: {{.*}}abacus
func.func @main() {
  return
}
