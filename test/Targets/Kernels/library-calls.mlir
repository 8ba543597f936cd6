// Ops that no fused kernel does become library calls: a loop for each factor of
// their rule.
// RUN: mesh-opt %s --spmd-form-kernels --split-input-file | FileCheck %s

#mesh = #dtensor.mesh<x = 4>
#rows = #dtensor.layout<#mesh, [x, *]>
#full = #dtensor.layout<#mesh, [*, *]>
#partial = #dtensor.layout<#mesh, [*, *] partial<x: sum>>
#table = #spmd.shard<[32, 6], #rows>
#all = #spmd.shard<[16, 6], #partial>
#ids = #spmd.shard<[16, 1], #full>

// The vocabulary is reduced: a device gives what its part of the table has. The
// index vector is whole. What it costs is what it gives, not the table.
// CHECK-LABEL: func.func @lookup
// CHECK: spmd.library_call "gather" loops [held 1, 16, reduce 32 over [x], 6] ins (%arg0 at #[[VD:map[0-9]*]], %arg1 at #[[BI:map[0-9]*]]) outs (#[[BD:map[0-9]*]]) {flops = 192 : i64,
func.func @lookup(%t: tensor<8x6xf32, #table>, %i: tensor<16x1xi32, #ids>) -> tensor<16x6xf32, #all> {
  %0 = dtensor.gather %t, %i {collapsed_slice_dims = array<i64: 0>,
      index_vector_dim = 1 : i64, offset_dims = array<i64: 1>,
      slice_sizes = array<i64: 1, 6>, start_index_map = array<i64: 0>}
      : (tensor<8x6xf32, #table>, tensor<16x1xi32, #ids>) -> tensor<16x6xf32, #all>
  return %0 : tensor<16x6xf32, #all>
}

// -----

#mesh = #dtensor.mesh<x = 4>
#rows = #dtensor.layout<#mesh, [x, *]>
#full = #dtensor.layout<#mesh, [*, *]>
#partial = #dtensor.layout<#mesh, [*, *] partial<x: max>>
#table = #spmd.shard<[32, 6], #full>
#sums = #spmd.shard<[32, 6], #partial>
#ids = #spmd.shard<[16, 1], #rows>
#updates = #spmd.shard<[16, 6], #rows>

// Updates of which each device has a part: they are reduced by their kind, and
// the result, which is partial, is no update of the input's memory.
// CHECK-LABEL: func.func @scatter_parts
// CHECK: spmd.library_call "scatter" loops [held 1, reduce 16 over [x], 32, 6]
// CHECK-NOT: in_place
// CHECK: return
func.func @scatter_parts(%t: tensor<32x6xf32, #table> {dtensor.alias = 0 : i64}, %i: tensor<4x1xi32, #ids>, %u: tensor<4x6xf32, #updates>) -> tensor<32x6xf32, #sums> {
  %0 = dtensor.scatter %t at %i with %u {index_vector_dim = 1 : i64,
      inserted_window_dims = array<i64: 0>, kind = #dtensor.kind<max>,
      scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>}
      : (tensor<32x6xf32, #table>, tensor<4x1xi32, #ids>, tensor<4x6xf32, #updates>) -> tensor<32x6xf32, #sums>
  return %0 : tensor<32x6xf32, #sums>
}

// -----

#mesh = #dtensor.mesh<x = 4>
#rows = #dtensor.layout<#mesh, [x, *]>
#full = #dtensor.layout<#mesh, [*, *]>
#scalar = #dtensor.layout<#mesh, []>
#cache = #spmd.shard<[32, 6], #rows>
#row = #spmd.shard<[1, 6], #full>
#index = #spmd.shard<[], #scalar>

// A variable's memory is updated in place; an argument that the caller keeps is
// not, nor is a value that is read again.
// CHECK-LABEL: func.func @update
// CHECK: spmd.library_call "dynamic_update_slice" loops [32 over [x], 6, held 1] ins (%arg0 {{.*}} in_place [0]
// CHECK: %[[KEPT:.*]] = spmd.library_call "dynamic_update_slice" {{.*}} ins (%arg1
// CHECK-NOT: in_place
// CHECK: %[[LAST:.*]] = spmd.library_call "dynamic_update_slice" {{.*}} ins (%[[KEPT]]
// CHECK-NOT: in_place
// CHECK: return
func.func @update(%t: tensor<8x6xf32, #cache> {dtensor.alias = 0 : i64}, %k: tensor<8x6xf32, #cache>,
                  %u: tensor<1x6xf32, #row>, %i: tensor<i32, #index>)
    -> (tensor<8x6xf32, #cache>, tensor<8x6xf32, #cache>, tensor<8x6xf32, #cache>) {
  %0 = dtensor.dynamic_update_slice %t with %u at %i, %i
      : (tensor<8x6xf32, #cache>, tensor<1x6xf32, #row>, tensor<i32, #index>, tensor<i32, #index>) -> tensor<8x6xf32, #cache>
  %1 = dtensor.dynamic_update_slice %k with %u at %i, %i
      : (tensor<8x6xf32, #cache>, tensor<1x6xf32, #row>, tensor<i32, #index>, tensor<i32, #index>) -> tensor<8x6xf32, #cache>
  %2 = dtensor.dynamic_update_slice %1 with %u at %i, %i
      : (tensor<8x6xf32, #cache>, tensor<1x6xf32, #row>, tensor<i32, #index>, tensor<i32, #index>) -> tensor<8x6xf32, #cache>
  return %0, %1, %2 : tensor<8x6xf32, #cache>, tensor<8x6xf32, #cache>, tensor<8x6xf32, #cache>
}

// -----

#mesh = #dtensor.mesh<x = 4>
#lines = #spmd.shard<[32, 6], #dtensor.layout<#mesh, [x, *]>>

// A comparator that compares what it makes of each element: the function makes
// it, once an element. Where it compares elements, there is no function.
// CHECK-LABEL: func.func @sort
// CHECK: spmd.library_call "sort" loops [32 over [x], held 6] {{.*}} options = {dimension = 1 : i64, direction = "GT", key_input = 0 : i64, key_type = "f32"}, overwritable = array<i32: 0>}
// CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<f32,
// CHECK-NEXT: spmd.kernel loops [] ins (%[[A]]
// CHECK: math.absf
// CHECK: spmd.library_call "sort" {{.*}} options = {dimension = 1 : i64, direction = "LT", key_input = 0 : i64, key_type = "f32"}, overwritable = array<i32: 0>}
// CHECK-NOT: ^bb0
// CHECK: return
func.func @sort(%t: tensor<8x6xf32, #lines>) -> (tensor<8x6xf32, #lines>, tensor<8x6xf32, #lines>) {
  %0 = dtensor.sort %t dim 1 : (tensor<8x6xf32, #lines>) -> tensor<8x6xf32, #lines> {
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %a = dtensor.abs %l : tensor<f32>
    %b = dtensor.abs %r : tensor<f32>
    %less = dtensor.compare LT, %b, %a : (tensor<f32>, tensor<f32>) -> tensor<i1>
    dtensor.yield %less : tensor<i1>
  }
  %1 = dtensor.sort %t dim 1 : (tensor<8x6xf32, #lines>) -> tensor<8x6xf32, #lines> {
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %less = dtensor.compare LT, %l, %r : (tensor<f32>, tensor<f32>) -> tensor<i1>
    dtensor.yield %less : tensor<i1>
  }
  return %0, %1 : tensor<8x6xf32, #lines>, tensor<8x6xf32, #lines>
}

// Several integer keys: the function makes all of an element, and is called
// once an element.
// CHECK-LABEL: func.func @keys
// CHECK: spmd.library_call "sort" {{.*}} options = {descend = array<i64: 0, 1>, dimension = 1 : i64, key_types = "i32 i16 "}
// CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<i32, {{.*}}, %[[B:.*]]: tensor<i16, {{[^)]*}}):
// CHECK-NEXT: spmd.kernel loops [] ins (%[[A]]
func.func @keys(%s: tensor<8x6xi32, #lines>, %t: tensor<8x6xi16, #lines>) -> (tensor<8x6xi32, #lines>, tensor<8x6xi16, #lines>) {
  %0:2 = dtensor.sort %s, %t dim 1 : (tensor<8x6xi32, #lines>, tensor<8x6xi16, #lines>) -> (tensor<8x6xi32, #lines>, tensor<8x6xi16, #lines>) {
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i16>, %d: tensor<i16>):
    %more = dtensor.compare GT, %c, %d : (tensor<i16>, tensor<i16>) -> tensor<i1>
    %less = dtensor.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %same = dtensor.compare EQ, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %tie = dtensor.and %same, %more : tensor<i1>
    %first = dtensor.or %less, %tie : tensor<i1>
    dtensor.yield %first : tensor<i1>
  }
  return %0#0, %0#1 : tensor<8x6xi32, #lines>, tensor<8x6xi16, #lines>
}

// -----

#mesh = #dtensor.mesh<x = 2>
#rows = #dtensor.layout<#mesh, [x, *]>
#row = #dtensor.layout<#mesh, [x]>
#partial = #dtensor.layout<#mesh, [*] partial<x: max>>
#x = #spmd.shard<[512, 256], #rows>
#short = #spmd.shard<[1024, 128], #rows>
#long = #spmd.shard<[512], #row>
#few = #spmd.shard<[256], #partial>
#matrix = #dtensor.layout<#mesh, [*, *]>
#vector = #dtensor.layout<#mesh, [*]>
#lines = #spmd.shard<[4, 20000], #matrix>
#square = #spmd.shard<[100, 100], #matrix>
#number = #dtensor.layout<#mesh, []>
#found = #spmd.shard<[4], #vector>
#places = #spmd.shard<[100], #vector>
#wide = #dtensor.layout<#mesh, [*, *, *]>

// A reduction of many numbers needs no code; one that a kernel computes from
// something else is a kernel.
// CHECK-LABEL: func.func @reductions
// CHECK: spmd.library_call "reduce" loops [{{.*}}reduce 256{{.*}}options = {kind = "sum"}
// CHECK: spmd.library_call "reduce" loops [{{.*}}reduce 512 over [x]{{.*}}options = {kind = "max"}
// CHECK: spmd.library_call "reduce" loops [{{.*}}reduce 1024 over [x]
// CHECK: math.exp
func.func @reductions(%x: tensor<256x256xf32, #x>, %y: tensor<256x256xf32, #x>, %s: tensor<512x128xf32, #short>) -> (tensor<256xf32, #long>, tensor<256xf32, #few>, tensor<128xf32, #spmd.shard<[128], #partial>>, tensor<256xf32, #long>) {
  %0 = dtensor.reduce sum %y dims [1] : (tensor<256x256xf32, #x>) -> tensor<256xf32, #long>
  %1 = dtensor.reduce max %y dims [0] : (tensor<256x256xf32, #x>) -> tensor<256xf32, #few>
  %2 = dtensor.reduce max %s dims [0] : (tensor<512x128xf32, #short>) -> tensor<128xf32, #spmd.shard<[128], #partial>>
  %3 = dtensor.exp %x : tensor<256x256xf32, #x>
  %4 = dtensor.reduce sum %3 dims [1] : (tensor<256x256xf32, #x>) -> tensor<256xf32, #long>
  return %0, %1, %2, %4 : tensor<256xf32, #long>, tensor<256xf32, #few>, tensor<128xf32, #spmd.shard<[128], #partial>>, tensor<256xf32, #long>
}

// Neither do those whose states stay in registers: of rows of up to 3 numbers,
// and of columns side by side. Rows in between are kernels.
// CHECK-LABEL: func.func @reductions_in_registers
// CHECK: spmd.library_call "reduce" loops [12000, reduce 3]
// CHECK: spmd.kernel loops [12000, reduce 4]
// CHECK: spmd.library_call "reduce" loops [30, reduce 50, 64]
// CHECK: spmd.kernel loops [30, reduce 50, 63]
// CHECK: spmd.kernel loops [12000, reduce 3]
func.func @reductions_in_registers(%a: tensor<12000x3xf32, #spmd.shard<[12000, 3], #matrix>>, %b: tensor<12000x4xf32, #spmd.shard<[12000, 4], #matrix>>, %c: tensor<30x50x64xf32, #spmd.shard<[30, 50, 64], #wide>>, %d: tensor<30x50x63xf32, #spmd.shard<[30, 50, 63], #wide>>, %e: tensor<12000x3xbf16, #spmd.shard<[12000, 3], #matrix>>) -> (tensor<12000xf32, #spmd.shard<[12000], #vector>>, tensor<12000xf32, #spmd.shard<[12000], #vector>>, tensor<30x64xf32, #spmd.shard<[30, 64], #matrix>>, tensor<30x63xf32, #spmd.shard<[30, 63], #matrix>>, tensor<12000xbf16, #spmd.shard<[12000], #vector>>) {
  %0 = dtensor.reduce max %a dims [1] : (tensor<12000x3xf32, #spmd.shard<[12000, 3], #matrix>>) -> tensor<12000xf32, #spmd.shard<[12000], #vector>>
  %1 = dtensor.reduce max %b dims [1] : (tensor<12000x4xf32, #spmd.shard<[12000, 4], #matrix>>) -> tensor<12000xf32, #spmd.shard<[12000], #vector>>
  %2 = dtensor.reduce sum %c dims [1] : (tensor<30x50x64xf32, #spmd.shard<[30, 50, 64], #wide>>) -> tensor<30x64xf32, #spmd.shard<[30, 64], #matrix>>
  %3 = dtensor.reduce sum %d dims [1] : (tensor<30x50x63xf32, #spmd.shard<[30, 50, 63], #wide>>) -> tensor<30x63xf32, #spmd.shard<[30, 63], #matrix>>
  %4 = dtensor.reduce max %e dims [1] : (tensor<12000x3xbf16, #spmd.shard<[12000, 3], #matrix>>) -> tensor<12000xbf16, #spmd.shard<[12000], #vector>>
  return %0, %1, %2, %3, %4 : tensor<12000xf32, #spmd.shard<[12000], #vector>>, tensor<12000xf32, #spmd.shard<[12000], #vector>>, tensor<30x64xf32, #spmd.shard<[30, 64], #matrix>>, tensor<30x63xf32, #spmd.shard<[30, 63], #matrix>>, tensor<12000xbf16, #spmd.shard<[12000], #vector>>
}

// So does the search for the extreme of long lines, and not of short ones.
// CHECK-LABEL: func.func @searches
// CHECK: spmd.library_call "find_extreme" loops [4, reduce 20000]{{.*}}options = {kind = "max"}
// CHECK: spmd.library_call "find_extreme" loops [4, reduce 20000]{{.*}}options = {kind = "min"}
// CHECK: spmd.kernel loops [100, reduce 100]
func.func @searches(%x: tensor<4x20000xf32, #lines>, %y: tensor<4x20000xi32, #lines>, %z: tensor<100x100xf32, #square>) -> (tensor<4xi32, #found>, tensor<4xi64, #found>, tensor<100xi32, #places>) {
  %0 = dtensor.argmax %x dim 1 : (tensor<4x20000xf32, #lines>) -> tensor<4xi32, #found>
  %1 = dtensor.argmin %y dim 1 : (tensor<4x20000xi32, #lines>) -> tensor<4xi64, #found>
  %2 = dtensor.argmax %z dim 1 : (tensor<100x100xf32, #square>) -> tensor<100xi32, #places>
  return %0, %1, %2 : tensor<4xi32, #found>, tensor<4xi64, #found>, tensor<100xi32, #places>
}

// A copy of many elements needs no code either, wherever they go: a concatenate
// has one for each part.
// CHECK-LABEL: func.func @copies
// CHECK: spmd.library_call "copy" loops [{{.*}}] ins (%arg0 at
// CHECK: spmd.library_call "copy" loops [{{.*}}] ins (%arg1 at {{.*}} in_place [1]
// CHECK: spmd.library_call "copy" loops [{{.*}}] ins (%arg0 at
func.func @copies(%x: tensor<256x256xf32, #x>, %y: tensor<256x256xf32, #x>) -> (tensor<256x512xf32, #spmd.shard<[512, 512], #rows>>, tensor<256x256xf32, #spmd.shard<[256, 512], <#mesh, [*, x]>>>) {
  %0 = dtensor.concatenate %x, %y dim 1 : (tensor<256x256xf32, #x>, tensor<256x256xf32, #x>) -> tensor<256x512xf32, #spmd.shard<[512, 512], #rows>>
  %1 = dtensor.transpose %x dims [1, 0] : (tensor<256x256xf32, #x>) -> tensor<256x256xf32, #spmd.shard<[256, 512], <#mesh, [*, x]>>>
  return %0, %1 : tensor<256x512xf32, #spmd.shard<[512, 512], #rows>>, tensor<256x256xf32, #spmd.shard<[256, 512], <#mesh, [*, x]>>>
}

// Numbers that are written to many places need none, and a pad that makes short
// rows a little longer is both; one of long rows is a kernel.
// CHECK-LABEL: func.func @fills
// CHECK: spmd.library_call "fill" loops [1000, 4] ins () {{.*}}options = {bits = 1065353216 : i64}
// CHECK: spmd.library_call "copy" loops [1000, 3] ins (%arg0 at {{.*}} in_place [1]
// CHECK: spmd.kernel {{.*}}ops = "pad"
func.func @fills(%x: tensor<1000x3xf32, #spmd.shard<[1000, 3], #matrix>>, %y: tensor<100x100xf32, #square>) -> (tensor<1000x4xf32, #spmd.shard<[1000, 4], #matrix>>, tensor<100x104xf32, #spmd.shard<[100, 104], #matrix>>) {
  %one = dtensor.constant dense<1.0> : tensor<f32> -> tensor<f32, #spmd.shard<[], #number>>
  %0 = dtensor.pad %x, %one low [0, 0] high [0, 1] interior [0, 0] : (tensor<1000x3xf32, #spmd.shard<[1000, 3], #matrix>>, tensor<f32, #spmd.shard<[], #number>>) -> tensor<1000x4xf32, #spmd.shard<[1000, 4], #matrix>>
  %1 = dtensor.pad %y, %one low [0, 2] high [0, 2] interior [0, 0] : (tensor<100x100xf32, #square>, tensor<f32, #spmd.shard<[], #number>>) -> tensor<100x104xf32, #spmd.shard<[100, 104], #matrix>>
  return %0, %1 : tensor<1000x4xf32, #spmd.shard<[1000, 4], #matrix>>, tensor<100x104xf32, #spmd.shard<[100, 104], #matrix>>
}

// Eigenvectors that nobody reads are not computed.
// CHECK-LABEL: func.func @eigenvalues
// CHECK: spmd.library_call "eig" {{.*}}options = {{.*}}left = true, only_values = true}
// CHECK: spmd.library_call "eig" {{.*}}left = true, only_values = false}
func.func @eigenvalues(%a: tensor<100x100xf32, #square>, %b: tensor<100x100xf32, #square>) -> (tensor<100xcomplex<f32>, #places>, tensor<100x100xcomplex<f32>, #square>) {
  %w, %v = dtensor.eig %a {left} : (tensor<100x100xf32, #square>) -> (tensor<100xcomplex<f32>, #places>, tensor<100x100xcomplex<f32>, #square>)
  %x, %u = dtensor.eig %b {left} : (tensor<100x100xf32, #square>) -> (tensor<100xcomplex<f32>, #places>, tensor<100x100xcomplex<f32>, #square>)
  return %w, %u : tensor<100xcomplex<f32>, #places>, tensor<100x100xcomplex<f32>, #square>
}
