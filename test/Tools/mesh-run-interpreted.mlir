// Programs of few elements are interpreted: nothing is compiled for them, and where nothing is contracted elements have the bits that compiled kernels give.
// RUN: rm -rf %t && mkdir -p %t/floats %t/compiled-floats %t/integers %t/compiled-integers %t/functions %t/compiled-functions
// RUN: env MESHLOOM_CACHE=%t/cache MESHLOOM_TIMING=1 mesh-run %s --function=floats --deterministic --output-dir=%t/floats --verify 2>&1 | FileCheck %s
// RUN: env MESHLOOM_CACHE=%t/cache MESHLOOM_TIMING=1 mesh-run %s --function=integers --output-dir=%t/integers --verify 2>&1 | FileCheck %s
// RUN: env MESHLOOM_CACHE=%t/cache MESHLOOM_TIMING=1 mesh-run %s --function=functions --deterministic --output-dir=%t/functions --verify 2>&1 | FileCheck %s
// RUN: env MESHLOOM_CACHE=%t/cache MESHLOOM_TIMING=1 mesh-run %s --function=large --verify 2>&1 | FileCheck %s
// RUN: env MESHLOOM_CACHE=%t/cache MESHLOOM_TIMING=1 mesh-run %s --function=reductions --verify 2>&1 | FileCheck %s
// RUN: env MESHLOOM_CACHE=%t/cache MESHLOOM_TIMING=1 mesh-run %s --function=ones --verify 2>&1 | FileCheck %s
// CHECK-NOT: machine code
// CHECK: make the program
// CHECK-NOT: machine code
// RUN: env MESHLOOM_INTERPRET_KERNELS=0 MESHLOOM_CACHE=off MESHLOOM_TIMING=1 mesh-run %s --function=floats --deterministic --output-dir=%t/compiled-floats 2>&1 \
// RUN:   | FileCheck %s --check-prefix=COMPILED
// RUN: env MESHLOOM_INTERPRET_KERNELS=0 MESHLOOM_CACHE=off mesh-run %s --function=integers --output-dir=%t/compiled-integers
// RUN: env MESHLOOM_INTERPRET_KERNELS=0 MESHLOOM_CACHE=off mesh-run %s --function=functions --deterministic --output-dir=%t/compiled-functions
// COMPILED: machine code
// RUN: diff -r %t/floats %t/compiled-floats
// RUN: diff -r %t/integers %t/compiled-integers
// RUN: diff -r %t/functions %t/compiled-functions

// Programs in the cache have scripts of kernels, and saved programs machine code.
// RUN: env MESHLOOM_CACHE=%t/cache MESHLOOM_TIMING=1 mesh-run %s --function=floats --deterministic --output-dir=%t/compiled-floats 2>&1 | FileCheck %s --check-prefix=CACHED
// CACHED-NOT: spmd-form-kernels
// RUN: diff -r %t/floats %t/compiled-floats
// RUN: env MESHLOOM_TIMING=1 mesh-run %s --function=floats --emit-program=%t/floats.mlprog 2>&1 | FileCheck %s --check-prefix=SAVED
// SAVED: machine code
module {
  // Rows that are added to all rows, a transposed operand, blocks that end within rows, and results of several blocks that other ops read.
  func.func @floats(%x: tensor<5x61xf32>, %row: tensor<61xf32>, %t: tensor<61x5xf32>, %wide: tensor<290xf64>, %long: tensor<2x280xf32>)
      -> (tensor<5x61xf32>, tensor<5x61xi1>, tensor<61x5xbf16>, tensor<290xf64>, tensor<40xf32>, tensor<70xf32>, tensor<2x280xf32>, tensor<2x280xi1>, tensor<2x280xf32>) {
    %double = stablehlo.add %long, %long : tensor<2x280xf32>
    %isLess = stablehlo.compare LT, %double, %long : (tensor<2x280xf32>, tensor<2x280xf32>) -> tensor<2x280xi1>
    %product = stablehlo.multiply %double, %long : tensor<2x280xf32>
    %rows = stablehlo.broadcast_in_dim %row, dims = [1] : (tensor<61xf32>) -> tensor<5x61xf32>
    %turned = stablehlo.transpose %t, dims = [1, 0] : (tensor<61x5xf32>) -> tensor<5x61xf32>
    %sum = stablehlo.add %x, %rows : tensor<5x61xf32>
    %quotient = stablehlo.divide %sum, %turned : tensor<5x61xf32>
    %largest = stablehlo.maximum %quotient, %x : tensor<5x61xf32>
    %positive = stablehlo.compare GT, %largest, %rows : (tensor<5x61xf32>, tensor<5x61xf32>) -> tensor<5x61xi1>
    %floor = stablehlo.floor %sum : tensor<5x61xf32>
    %chosen = stablehlo.select %positive, %largest, %floor : tensor<5x61xi1>, tensor<5x61xf32>
    %back = stablehlo.transpose %chosen, dims = [1, 0] : (tensor<5x61xf32>) -> tensor<61x5xf32>
    %short = stablehlo.convert %back : (tensor<61x5xf32>) -> tensor<61x5xbf16>
    %size = stablehlo.abs %wide : tensor<290xf64>
    %root = stablehlo.sqrt %size : tensor<290xf64>
    %negative = stablehlo.negate %root : tensor<290xf64>
    %nearest = stablehlo.round_nearest_even %negative : tensor<290xf64>
    %narrow = stablehlo.convert %wide : (tensor<290xf64>) -> tensor<290xf32>
    %few = stablehlo.slice %narrow [0:40] : (tensor<290xf32>) -> tensor<40xf32>
    %exp = stablehlo.exponential %few : tensor<40xf32>
    %log = stablehlo.log_plus_one %exp : tensor<40xf32>
    %tanh = stablehlo.tanh %log : tensor<40xf32>
    %others = stablehlo.slice %narrow [40:70] : (tensor<290xf32>) -> tensor<30xf32>
    %joined = stablehlo.concatenate %others, %few, dim = 0 : (tensor<30xf32>, tensor<40xf32>) -> tensor<70xf32>
    return %chosen, %positive, %short, %nearest, %tanh, %joined, %double, %isLess, %product
      : tensor<5x61xf32>, tensor<5x61xi1>, tensor<61x5xbf16>, tensor<290xf64>, tensor<40xf32>, tensor<70xf32>, tensor<2x280xf32>, tensor<2x280xi1>, tensor<2x280xf32>
  }
  func.func @integers(%a: tensor<100xi32>, %b: tensor<100xui32>, %c: tensor<50xi64>, %d: tensor<100xi8>, %e: tensor<100xui8>)
      -> (tensor<100xi32>, tensor<100xui32>, tensor<50xi64>, tensor<100xi8>, tensor<100xf32>, tensor<100xi1>) {
    %seven = stablehlo.constant dense<7> : tensor<100xi32>
    %count = stablehlo.iota dim = 0 : tensor<100xi32>
    %quotient = stablehlo.divide %a, %seven : tensor<100xi32>
    %remainder = stablehlo.remainder %count, %seven : tensor<100xi32>
    %i = stablehlo.subtract %quotient, %remainder : tensor<100xi32>
    %by = stablehlo.constant dense<13> : tensor<100xui32>
    %left = stablehlo.shift_left %b, %by : tensor<100xui32>
    %right = stablehlo.shift_right_logical %b, %by : tensor<100xui32>
    %turned = stablehlo.xor %left, %right : tensor<100xui32>
    %squares = stablehlo.multiply %c, %c : tensor<50xi64>
    %bits = stablehlo.popcnt %squares : tensor<50xi64>
    %bytes = stablehlo.add %d, %d : tensor<100xi8>
    %least = stablehlo.minimum %bytes, %d : tensor<100xi8>
    %numbers = stablehlo.convert %e : (tensor<100xui8>) -> tensor<100xf32>
    %large = stablehlo.constant dense<200> : tensor<100xui8>
    %isLarge = stablehlo.compare GE, %e, %large : (tensor<100xui8>, tensor<100xui8>) -> tensor<100xi1>
    %isOdd = stablehlo.convert %remainder : (tensor<100xi32>) -> tensor<100xi1>
    %both = stablehlo.and %isLarge, %isOdd : tensor<100xi1>
    return %i, %turned, %bits, %least, %numbers, %both
      : tensor<100xi32>, tensor<100xui32>, tensor<50xi64>, tensor<100xi8>, tensor<100xf32>, tensor<100xi1>
  }
  // Functions of numbers that fill no whole vectors, some of them huge.
  func.func @functions(%x: tensor<37xf32>, %y: tensor<37xf64>, %long: tensor<131xf32>) -> (tensor<37xf32>, tensor<37xf64>, tensor<131xf32>) {
    %exp = stablehlo.exponential %x : tensor<37xf32>
    %large = stablehlo.constant dense<1.0e20> : tensor<37xf32>
    %huge = stablehlo.multiply %x, %large : tensor<37xf32>
    %sin = stablehlo.sine %huge : tensor<37xf32>
    %cos = stablehlo.cosine %exp : tensor<37xf32>
    %tan = stablehlo.tan %x : tensor<37xf32>
    %root = stablehlo.cbrt %cos : tensor<37xf32>
    %angle = stablehlo.atan2 %tan, %sin : tensor<37xf32>
    %power = stablehlo.power %root, %angle : tensor<37xf32>
    %wideLarge = stablehlo.constant dense<1.0e20> : tensor<37xf64>
    %wideHuge = stablehlo.multiply %y, %wideLarge : tensor<37xf64>
    %wideSin = stablehlo.sine %wideHuge : tensor<37xf64>
    %wideLog = stablehlo.log %y : tensor<37xf64>
    %wideCos = stablehlo.cosine %wideLog : tensor<37xf64>
    %wideTan = stablehlo.tan %y : tensor<37xf64>
    %wideTanh = stablehlo.tanh %wideLog : tensor<37xf64>
    %wideRoot = stablehlo.cbrt %wideTanh : tensor<37xf64>
    %wideSquareRoot = stablehlo.sqrt %y : tensor<37xf64>
    %wideGrowth = stablehlo.exponential_minus_one %wideCos : tensor<37xf64>
    %wideAngle = stablehlo.atan2 %wideTan, %wideSin : tensor<37xf64>
    %widePower = stablehlo.power %wideAngle, %wideGrowth : tensor<37xf64>
    %sum = stablehlo.add %widePower, %wideRoot : tensor<37xf64>
    %both = stablehlo.add %sum, %wideSquareRoot : tensor<37xf64>
    %squareRoot = stablehlo.sqrt %long : tensor<131xf32>
    %longLog = stablehlo.log %squareRoot : tensor<131xf32>
    %longGrowth = stablehlo.exponential_minus_one %longLog : tensor<131xf32>
    return %power, %both, %longGrowth : tensor<37xf32>, tensor<37xf64>, tensor<131xf32>
  }
  // One op of many elements takes no longer than its machine code.
  func.func @large(%x: tensor<300x257xf32>, %y: tensor<90011xf32>, %z: tensor<90011xf32>, %c: tensor<70001xf64>) -> (tensor<300x257xf32>, tensor<90011xf32>, tensor<70001xf64>) {
    %tanh = stablehlo.tanh %x : tensor<300x257xf32>
    %product = stablehlo.multiply %y, %z : tensor<90011xf32>
    %growth = stablehlo.exponential_minus_one %c : tensor<70001xf64>
    return %tanh, %product, %growth : tensor<300x257xf32>, tensor<90011xf32>, tensor<70001xf64>
  }
  // Reductions along a dim inside, along all dims, and none of whose terms exist.
  func.func @reductions(%x: tensor<3x40x5xf32>, %n: tensor<6x50xi32>, %none: tensor<0x4xf32>) -> (tensor<3x5xf32>, tensor<bf16>, tensor<6xi32>, tensor<i1>, tensor<4xf32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %one = stablehlo.constant dense<1.0> : tensor<f32>
    %least = stablehlo.constant dense<-2147483648> : tensor<i32>
    %no = stablehlo.constant dense<false> : tensor<i1>
    %short = stablehlo.constant dense<0.0> : tensor<bf16>
    %sums = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<3x40x5xf32>, tensor<f32>) -> tensor<3x5xf32>
    %shorts = stablehlo.convert %x : (tensor<3x40x5xf32>) -> tensor<3x40x5xbf16>
    %sum = stablehlo.reduce(%shorts init: %short) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<3x40x5xbf16>, tensor<bf16>) -> tensor<bf16>
    %largest = stablehlo.reduce(%n init: %least) applies stablehlo.maximum across dimensions = [1] : (tensor<6x50xi32>, tensor<i32>) -> tensor<6xi32>
    %bound = stablehlo.constant dense<90> : tensor<6x50xi32>
    %isLarge = stablehlo.compare GT, %n, %bound : (tensor<6x50xi32>, tensor<6x50xi32>) -> tensor<6x50xi1>
    %any = stablehlo.reduce(%isLarge init: %no) applies stablehlo.or across dimensions = [0, 1] : (tensor<6x50xi1>, tensor<i1>) -> tensor<i1>
    %products = stablehlo.reduce(%none init: %one) applies stablehlo.multiply across dimensions = [0] : (tensor<0x4xf32>, tensor<f32>) -> tensor<4xf32>
    return %sums, %sum, %largest, %any, %products : tensor<3x5xf32>, tensor<bf16>, tensor<6xi32>, tensor<i1>, tensor<4xf32>
  }
  // Dims of one element lie between those that are far apart.
  func.func @ones(%x: tensor<4x1x3xf32>, %y: tensor<3x1x7xf32>, %z: tensor<7x1x3xf32>) -> (tensor<3xf32>, tensor<3x1xf32>, tensor<1x7xf32>, tensor<3x1x7xf32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %columns = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x1x3xf32>, tensor<f32>) -> tensor<3xf32>
    %rows = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<3x1x7xf32>, tensor<f32>) -> tensor<3x1xf32>
    %first = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<3x1x7xf32>, tensor<f32>) -> tensor<1x7xf32>
    %turned = stablehlo.transpose %z, dims = [2, 1, 0] : (tensor<7x1x3xf32>) -> tensor<3x1x7xf32>
    %wide = stablehlo.broadcast_in_dim %columns, dims = [0] : (tensor<3xf32>) -> tensor<3x1x7xf32>
    %sum = stablehlo.add %turned, %wide : tensor<3x1x7xf32>
    return %columns, %rows, %first, %sum : tensor<3xf32>, tensor<3x1xf32>, tensor<1x7xf32>, tensor<3x1x7xf32>
  }
}
