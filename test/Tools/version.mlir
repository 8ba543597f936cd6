// Every tool says which version it is, whatever else it needs on its command line.
// RUN: mesh-coordinator --version | FileCheck %s --check-prefix=COORDINATOR
// RUN: mesh-fuzz --version | FileCheck %s --check-prefix=FUZZ
// RUN: mesh-launch --version | FileCheck %s --check-prefix=LAUNCH
// RUN: mesh-opt --version | FileCheck %s --check-prefix=OPT
// RUN: mesh-run --version | FileCheck %s --check-prefix=PROGRAM
// RUN: mesh-sim --version | FileCheck %s --check-prefix=SIM
// COORDINATOR: mesh-coordinator (Meshloom) {{[0-9]+}}.{{[0-9]+}}.{{[0-9]+}}
// FUZZ: mesh-fuzz (Meshloom) {{[0-9]+}}.{{[0-9]+}}.{{[0-9]+}}
// LAUNCH: mesh-launch (Meshloom) {{[0-9]+}}.{{[0-9]+}}.{{[0-9]+}}
// OPT: mesh-opt (Meshloom) {{[0-9]+}}.{{[0-9]+}}.{{[0-9]+}} with LLVM {{[0-9]+}}.
// PROGRAM: mesh-run (Meshloom) {{[0-9]+}}.{{[0-9]+}}.{{[0-9]+}}
// SIM: mesh-sim (Meshloom) {{[0-9]+}}.{{[0-9]+}}.{{[0-9]+}}

// What follows a program's name in mesh-launch is the program's.
// RUN: mesh-launch mesh-run --version | FileCheck %s --check-prefix=PASSED
// PASSED: mesh-run (Meshloom)
