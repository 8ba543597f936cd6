// With --deterministic a program gives the same bits on every mesh, in both
// kinds of memory and with any number of workers; here long sums of every kind,
// and the step of a convolutional net that JAX printed.
// RUN: rm -rf %t && mkdir %t
// RUN: sed 's/mesh<x = 2>/mesh<x = 1>/' %S/long_sums.mlir > %t/1.mlir
// RUN: sed 's/mesh<x = 2>/mesh<x = 3>/' %S/long_sums.mlir > %t/3.mlir
// RUN: mesh-run %t/1.mlir --deterministic --workers=1 --output-dir=%t/on1
// RUN: mesh-run %t/3.mlir --deterministic --workers=3 --output-dir=%t/on3
// RUN: mesh-run %S/long_sums.mlir --deterministic --machine=ring --private-memories --output-dir=%t/on2
// RUN: diff -r %t/on1 %t/on3 && diff -r %t/on1 %t/on2
// RUN: sed 's/"batch"=[0-9]*/"batch"=1/' %S/../Cases/conv_net_train_data_parallel/program.mlir > %t/net.mlir
// RUN: mesh-run %t/net.mlir --deterministic --workers=1 --output-dir=%t/net1
// RUN: mesh-run %S/../Cases/conv_net_train_data_parallel/program.mlir --deterministic --workers=3 --output-dir=%t/net8
// RUN: mesh-run %S/../Cases/conv_net_train_data_parallel/program.mlir --deterministic --machine=ring --private-memories --output-dir=%t/ring8
// RUN: diff -r %t/net1 %t/net8 && diff -r %t/net1 %t/ring8
