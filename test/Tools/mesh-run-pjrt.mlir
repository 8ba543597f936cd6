// Plug-ins that are not there, and names that nobody has: what was looked for,
// where, and what to do.
// RUN: not mesh-run %s --platform=pjrt:/nowhere/plugin.so 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not env PJRT_NAMES_AND_LIBRARY_PATHS=cpu:/x/cpu.so TPU_LIBRARY_PATH= mesh-run %s --platform=pjrt:gpu 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not env PJRT_NAMES_AND_LIBRARY_PATHS=cpu mesh-run %s --platform=pjrt:gpu 2>&1 | FileCheck %s --check-prefix=LIST

// MISSING: there is no PJRT plug-in at '/nowhere/plugin.so': No such file or directory
// NAME: there is no PJRT plug-in named 'gpu': PJRT_NAMES_AND_LIBRARY_PATHS names cpu (/x/cpu.so); TPU_LIBRARY_PATH is not set. Give its path, as in pjrt:/path/to/plugin.so
// LIST: PJRT_NAMES_AND_LIBRARY_PATHS must be a list as in 'cpu:/path/cpu.so,gpu:/path/gpu.so'; 'cpu' in it is not name:path

#mesh = #dtensor.mesh<x = 2>
#rows = #dtensor.layout<#mesh, [x]>

func.func @main(%x: tensor<4xf32, #rows>) -> tensor<4xf32, #rows> {
  %0 = dtensor.add %x, %x : tensor<4xf32, #rows>
  return %0 : tensor<4xf32, #rows>
}
