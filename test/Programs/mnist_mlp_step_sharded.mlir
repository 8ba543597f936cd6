// The training step of TensorFlow's "DTensor with Core APIs" tutorial: 784-700
// relu, 700-10 relu, 10-10, sparse softmax cross entropy, Adam, batch 128. Returns
// the loss and the updated state.
// Data parallel over 8 devices, the first weight and its moments sharded.
// Written by scripts/make_mlp_step.py --style=sharded.
// RUN: mesh-opt %s --dtensor-partition='machine=ring refine=false' | FileCheck %s
// RUN: %verify

// The first weight is gathered for the product, its gradient scattered.
// CHECK: spmd.all_gather over [batch] {{.*}}bytes = 2195200 : i64
// CHECK-DAG: spmd.reduce_scatter sum over [batch] {{.*}}bytes = 274400 : i64
// CHECK-DAG: spmd.all_reduce sum over [batch] {{.*}}bytes = 31284 : i64
// CHECK-NOT: spmd.{{all_|reduce_|permute}}

#mesh = #dtensor.mesh<batch = 8>
#scalar = #dtensor.layout<#mesh, []>
#batch_u = #dtensor.layout<#mesh, [batch, *]>
#batch = #dtensor.layout<#mesh, [batch]>
#u = #dtensor.layout<#mesh, [*]>
#u_u = #dtensor.layout<#mesh, [*, *]>

func.func @main(
    %x: tensor<128x784xf32, #batch_u> {dtensor.name = "x"},
    %y: tensor<128xi32, #batch> {dtensor.name = "y"},
    %w1: tensor<784x700xf32, #batch_u> {dtensor.name = "w1", dtensor.alias = 1 : i64},
    %b1: tensor<700xf32, #u> {dtensor.name = "b1", dtensor.alias = 2 : i64},
    %w2: tensor<700x10xf32, #u_u> {dtensor.name = "w2", dtensor.alias = 3 : i64},
    %b2: tensor<10xf32, #u> {dtensor.name = "b2", dtensor.alias = 4 : i64},
    %w3: tensor<10x10xf32, #u_u> {dtensor.name = "w3", dtensor.alias = 5 : i64},
    %b3: tensor<10xf32, #u> {dtensor.name = "b3", dtensor.alias = 6 : i64},
    %m_w1: tensor<784x700xf32, #batch_u> {dtensor.name = "m_w1", dtensor.alias = 7 : i64},
    %m_b1: tensor<700xf32, #u> {dtensor.name = "m_b1", dtensor.alias = 8 : i64},
    %m_w2: tensor<700x10xf32, #u_u> {dtensor.name = "m_w2", dtensor.alias = 9 : i64},
    %m_b2: tensor<10xf32, #u> {dtensor.name = "m_b2", dtensor.alias = 10 : i64},
    %m_w3: tensor<10x10xf32, #u_u> {dtensor.name = "m_w3", dtensor.alias = 11 : i64},
    %m_b3: tensor<10xf32, #u> {dtensor.name = "m_b3", dtensor.alias = 12 : i64},
    %v_w1: tensor<784x700xf32, #batch_u> {dtensor.name = "v_w1", dtensor.alias = 13 : i64, dtensor.range = array<f64: 0.0, 1.0>},
    %v_b1: tensor<700xf32, #u> {dtensor.name = "v_b1", dtensor.alias = 14 : i64, dtensor.range = array<f64: 0.0, 1.0>},
    %v_w2: tensor<700x10xf32, #u_u> {dtensor.name = "v_w2", dtensor.alias = 15 : i64, dtensor.range = array<f64: 0.0, 1.0>},
    %v_b2: tensor<10xf32, #u> {dtensor.name = "v_b2", dtensor.alias = 16 : i64, dtensor.range = array<f64: 0.0, 1.0>},
    %v_w3: tensor<10x10xf32, #u_u> {dtensor.name = "v_w3", dtensor.alias = 17 : i64, dtensor.range = array<f64: 0.0, 1.0>},
    %v_b3: tensor<10xf32, #u> {dtensor.name = "v_b3", dtensor.alias = 18 : i64, dtensor.range = array<f64: 0.0, 1.0>},
    %step: tensor<f32, #scalar> {dtensor.name = "step", dtensor.alias = 19 : i64, dtensor.range = array<f64: 0.0, 100.0>})
    -> (tensor<f32, #scalar> {dtensor.name = "loss"},
        tensor<784x700xf32, #batch_u> {dtensor.name = "w1"},
        tensor<700xf32, #u> {dtensor.name = "b1"},
        tensor<700x10xf32, #u_u> {dtensor.name = "w2"},
        tensor<10xf32, #u> {dtensor.name = "b2"},
        tensor<10x10xf32, #u_u> {dtensor.name = "w3"},
        tensor<10xf32, #u> {dtensor.name = "b3"},
        tensor<784x700xf32, #batch_u> {dtensor.name = "m_w1"},
        tensor<700xf32, #u> {dtensor.name = "m_b1"},
        tensor<700x10xf32, #u_u> {dtensor.name = "m_w2"},
        tensor<10xf32, #u> {dtensor.name = "m_b2"},
        tensor<10x10xf32, #u_u> {dtensor.name = "m_w3"},
        tensor<10xf32, #u> {dtensor.name = "m_b3"},
        tensor<784x700xf32, #batch_u> {dtensor.name = "v_w1"},
        tensor<700xf32, #u> {dtensor.name = "v_b1"},
        tensor<700x10xf32, #u_u> {dtensor.name = "v_w2"},
        tensor<10xf32, #u> {dtensor.name = "v_b2"},
        tensor<10x10xf32, #u_u> {dtensor.name = "v_w3"},
        tensor<10xf32, #u> {dtensor.name = "v_b3"},
        tensor<f32, #scalar> {dtensor.name = "step"}) {
  %0 = dtensor.dot_general %x, %w1 contracting [1] x [0] : (tensor<128x784xf32, #batch_u>, tensor<784x700xf32, #batch_u>) -> tensor<128x700xf32>
  %1 = dtensor.broadcast_in_dim %b1 dims [1] : (tensor<700xf32, #u>) -> tensor<128x700xf32>
  %2 = dtensor.add %0, %1 : tensor<128x700xf32>
  %3 = dtensor.constant dense<0.0> : tensor<128x700xf32>
  %4 = dtensor.compare GT, %2, %3 : (tensor<128x700xf32>, tensor<128x700xf32>) -> tensor<128x700xi1>
  %5 = dtensor.maximum %2, %3 : tensor<128x700xf32>
  %6 = dtensor.dot_general %5, %w2 contracting [1] x [0] : (tensor<128x700xf32>, tensor<700x10xf32, #u_u>) -> tensor<128x10xf32>
  %7 = dtensor.broadcast_in_dim %b2 dims [1] : (tensor<10xf32, #u>) -> tensor<128x10xf32>
  %8 = dtensor.add %6, %7 : tensor<128x10xf32>
  %9 = dtensor.constant dense<0.0> : tensor<128x10xf32>
  %10 = dtensor.compare GT, %8, %9 : (tensor<128x10xf32>, tensor<128x10xf32>) -> tensor<128x10xi1>
  %11 = dtensor.maximum %8, %9 : tensor<128x10xf32>
  %12 = dtensor.dot_general %11, %w3 contracting [1] x [0] : (tensor<128x10xf32>, tensor<10x10xf32, #u_u>) -> tensor<128x10xf32>
  %13 = dtensor.broadcast_in_dim %b3 dims [1] : (tensor<10xf32, #u>) -> tensor<128x10xf32>
  %14 = dtensor.add %12, %13 : tensor<128x10xf32>
  %15 = dtensor.reduce max %14 dims [1] : (tensor<128x10xf32>) -> tensor<128xf32>
  %16 = dtensor.broadcast_in_dim %15 dims [0] : (tensor<128xf32>) -> tensor<128x10xf32>
  %17 = dtensor.subtract %14, %16 : tensor<128x10xf32>
  %18 = dtensor.exp %17 : tensor<128x10xf32>
  %19 = dtensor.reduce sum %18 dims [1] : (tensor<128x10xf32>) -> tensor<128xf32>
  %20 = dtensor.log %19 : tensor<128xf32>
  %21 = dtensor.broadcast_in_dim %20 dims [0] : (tensor<128xf32>) -> tensor<128x10xf32>
  %22 = dtensor.subtract %17, %21 : tensor<128x10xf32>
  %23 = dtensor.broadcast_in_dim %y dims [0] : (tensor<128xi32, #batch>) -> tensor<128x10xi32>
  %24 = dtensor.iota dim 1 : tensor<128x10xi32>
  %25 = dtensor.compare EQ, %23, %24 : (tensor<128x10xi32>, tensor<128x10xi32>) -> tensor<128x10xi1>
  %26 = dtensor.convert %25 : (tensor<128x10xi1>) -> tensor<128x10xf32>
  %27 = dtensor.multiply %26, %22 : tensor<128x10xf32>
  %28 = dtensor.reduce sum %27 dims [0, 1] : (tensor<128x10xf32>) -> tensor<f32>
  %29 = dtensor.constant dense<-0.0078125> : tensor<f32>
  %30 = dtensor.multiply %28, %29 : tensor<f32>
  %31 = dtensor.broadcast_in_dim %19 dims [0] : (tensor<128xf32>) -> tensor<128x10xf32>
  %32 = dtensor.divide %18, %31 : tensor<128x10xf32>
  %33 = dtensor.subtract %32, %26 : tensor<128x10xf32>
  %34 = dtensor.constant dense<0.0078125> : tensor<128x10xf32>
  %35 = dtensor.multiply %33, %34 : tensor<128x10xf32>
  %36 = dtensor.reduce sum %35 dims [0] : (tensor<128x10xf32>) -> tensor<10xf32>
  %37 = dtensor.dot_general %11, %35 contracting [0] x [0] : (tensor<128x10xf32>, tensor<128x10xf32>) -> tensor<10x10xf32>
  %38 = dtensor.dot_general %35, %w3 contracting [1] x [1] : (tensor<128x10xf32>, tensor<10x10xf32, #u_u>) -> tensor<128x10xf32>
  %39 = dtensor.constant dense<0.0> : tensor<128x10xf32>
  %40 = dtensor.select %10, %38, %39 : (tensor<128x10xi1>, tensor<128x10xf32>, tensor<128x10xf32>) -> tensor<128x10xf32>
  %41 = dtensor.reduce sum %40 dims [0] : (tensor<128x10xf32>) -> tensor<10xf32>
  %42 = dtensor.dot_general %5, %40 contracting [0] x [0] : (tensor<128x700xf32>, tensor<128x10xf32>) -> tensor<700x10xf32>
  %43 = dtensor.dot_general %40, %w2 contracting [1] x [1] : (tensor<128x10xf32>, tensor<700x10xf32, #u_u>) -> tensor<128x700xf32>
  %44 = dtensor.constant dense<0.0> : tensor<128x700xf32>
  %45 = dtensor.select %4, %43, %44 : (tensor<128x700xi1>, tensor<128x700xf32>, tensor<128x700xf32>) -> tensor<128x700xf32>
  %46 = dtensor.reduce sum %45 dims [0] : (tensor<128x700xf32>) -> tensor<700xf32>
  %47 = dtensor.dot_general %x, %45 contracting [0] x [0] : (tensor<128x784xf32, #batch_u>, tensor<128x700xf32>) -> tensor<784x700xf32>
  %48 = dtensor.constant dense<1.0> : tensor<f32>
  %49 = dtensor.add %step, %48 : (tensor<f32, #scalar>, tensor<f32>) -> tensor<f32>
  %50 = dtensor.constant dense<1.0> : tensor<f32>
  %51 = dtensor.constant dense<0.9> : tensor<f32>
  %52 = dtensor.power %51, %49 : tensor<f32>
  %53 = dtensor.subtract %50, %52 : tensor<f32>
  %54 = dtensor.constant dense<0.999> : tensor<f32>
  %55 = dtensor.power %54, %49 : tensor<f32>
  %56 = dtensor.subtract %50, %55 : tensor<f32>
  %57 = dtensor.constant dense<0.9> : tensor<784x700xf32>
  %58 = dtensor.multiply %m_w1, %57 : (tensor<784x700xf32, #batch_u>, tensor<784x700xf32>) -> tensor<784x700xf32>
  %59 = dtensor.constant dense<0.1> : tensor<784x700xf32>
  %60 = dtensor.multiply %47, %59 : tensor<784x700xf32>
  %61 = dtensor.add %58, %60 : tensor<784x700xf32>
  %62 = dtensor.constant dense<0.999> : tensor<784x700xf32>
  %63 = dtensor.multiply %v_w1, %62 : (tensor<784x700xf32, #batch_u>, tensor<784x700xf32>) -> tensor<784x700xf32>
  %64 = dtensor.multiply %47, %47 : tensor<784x700xf32>
  %65 = dtensor.constant dense<1.0e-3> : tensor<784x700xf32>
  %66 = dtensor.multiply %64, %65 : tensor<784x700xf32>
  %67 = dtensor.add %63, %66 : tensor<784x700xf32>
  %68 = dtensor.broadcast_in_dim %53 dims [] : (tensor<f32>) -> tensor<784x700xf32>
  %69 = dtensor.divide %61, %68 : tensor<784x700xf32>
  %70 = dtensor.broadcast_in_dim %56 dims [] : (tensor<f32>) -> tensor<784x700xf32>
  %71 = dtensor.divide %67, %70 : tensor<784x700xf32>
  %72 = dtensor.sqrt %71 : tensor<784x700xf32>
  %73 = dtensor.constant dense<1.0e-7> : tensor<784x700xf32>
  %74 = dtensor.add %72, %73 : tensor<784x700xf32>
  %75 = dtensor.divide %69, %74 : tensor<784x700xf32>
  %76 = dtensor.constant dense<1.0e-3> : tensor<784x700xf32>
  %77 = dtensor.multiply %75, %76 : tensor<784x700xf32>
  %78 = dtensor.subtract %w1, %77 : (tensor<784x700xf32, #batch_u>, tensor<784x700xf32>) -> tensor<784x700xf32>
  %79 = dtensor.constant dense<0.9> : tensor<700xf32>
  %80 = dtensor.multiply %m_b1, %79 : (tensor<700xf32, #u>, tensor<700xf32>) -> tensor<700xf32>
  %81 = dtensor.constant dense<0.1> : tensor<700xf32>
  %82 = dtensor.multiply %46, %81 : tensor<700xf32>
  %83 = dtensor.add %80, %82 : tensor<700xf32>
  %84 = dtensor.constant dense<0.999> : tensor<700xf32>
  %85 = dtensor.multiply %v_b1, %84 : (tensor<700xf32, #u>, tensor<700xf32>) -> tensor<700xf32>
  %86 = dtensor.multiply %46, %46 : tensor<700xf32>
  %87 = dtensor.constant dense<1.0e-3> : tensor<700xf32>
  %88 = dtensor.multiply %86, %87 : tensor<700xf32>
  %89 = dtensor.add %85, %88 : tensor<700xf32>
  %90 = dtensor.broadcast_in_dim %53 dims [] : (tensor<f32>) -> tensor<700xf32>
  %91 = dtensor.divide %83, %90 : tensor<700xf32>
  %92 = dtensor.broadcast_in_dim %56 dims [] : (tensor<f32>) -> tensor<700xf32>
  %93 = dtensor.divide %89, %92 : tensor<700xf32>
  %94 = dtensor.sqrt %93 : tensor<700xf32>
  %95 = dtensor.constant dense<1.0e-7> : tensor<700xf32>
  %96 = dtensor.add %94, %95 : tensor<700xf32>
  %97 = dtensor.divide %91, %96 : tensor<700xf32>
  %98 = dtensor.constant dense<1.0e-3> : tensor<700xf32>
  %99 = dtensor.multiply %97, %98 : tensor<700xf32>
  %100 = dtensor.subtract %b1, %99 : (tensor<700xf32, #u>, tensor<700xf32>) -> tensor<700xf32>
  %101 = dtensor.constant dense<0.9> : tensor<700x10xf32>
  %102 = dtensor.multiply %m_w2, %101 : (tensor<700x10xf32, #u_u>, tensor<700x10xf32>) -> tensor<700x10xf32>
  %103 = dtensor.constant dense<0.1> : tensor<700x10xf32>
  %104 = dtensor.multiply %42, %103 : tensor<700x10xf32>
  %105 = dtensor.add %102, %104 : tensor<700x10xf32>
  %106 = dtensor.constant dense<0.999> : tensor<700x10xf32>
  %107 = dtensor.multiply %v_w2, %106 : (tensor<700x10xf32, #u_u>, tensor<700x10xf32>) -> tensor<700x10xf32>
  %108 = dtensor.multiply %42, %42 : tensor<700x10xf32>
  %109 = dtensor.constant dense<1.0e-3> : tensor<700x10xf32>
  %110 = dtensor.multiply %108, %109 : tensor<700x10xf32>
  %111 = dtensor.add %107, %110 : tensor<700x10xf32>
  %112 = dtensor.broadcast_in_dim %53 dims [] : (tensor<f32>) -> tensor<700x10xf32>
  %113 = dtensor.divide %105, %112 : tensor<700x10xf32>
  %114 = dtensor.broadcast_in_dim %56 dims [] : (tensor<f32>) -> tensor<700x10xf32>
  %115 = dtensor.divide %111, %114 : tensor<700x10xf32>
  %116 = dtensor.sqrt %115 : tensor<700x10xf32>
  %117 = dtensor.constant dense<1.0e-7> : tensor<700x10xf32>
  %118 = dtensor.add %116, %117 : tensor<700x10xf32>
  %119 = dtensor.divide %113, %118 : tensor<700x10xf32>
  %120 = dtensor.constant dense<1.0e-3> : tensor<700x10xf32>
  %121 = dtensor.multiply %119, %120 : tensor<700x10xf32>
  %122 = dtensor.subtract %w2, %121 : (tensor<700x10xf32, #u_u>, tensor<700x10xf32>) -> tensor<700x10xf32>
  %123 = dtensor.constant dense<0.9> : tensor<10xf32>
  %124 = dtensor.multiply %m_b2, %123 : (tensor<10xf32, #u>, tensor<10xf32>) -> tensor<10xf32>
  %125 = dtensor.constant dense<0.1> : tensor<10xf32>
  %126 = dtensor.multiply %41, %125 : tensor<10xf32>
  %127 = dtensor.add %124, %126 : tensor<10xf32>
  %128 = dtensor.constant dense<0.999> : tensor<10xf32>
  %129 = dtensor.multiply %v_b2, %128 : (tensor<10xf32, #u>, tensor<10xf32>) -> tensor<10xf32>
  %130 = dtensor.multiply %41, %41 : tensor<10xf32>
  %131 = dtensor.constant dense<1.0e-3> : tensor<10xf32>
  %132 = dtensor.multiply %130, %131 : tensor<10xf32>
  %133 = dtensor.add %129, %132 : tensor<10xf32>
  %134 = dtensor.broadcast_in_dim %53 dims [] : (tensor<f32>) -> tensor<10xf32>
  %135 = dtensor.divide %127, %134 : tensor<10xf32>
  %136 = dtensor.broadcast_in_dim %56 dims [] : (tensor<f32>) -> tensor<10xf32>
  %137 = dtensor.divide %133, %136 : tensor<10xf32>
  %138 = dtensor.sqrt %137 : tensor<10xf32>
  %139 = dtensor.constant dense<1.0e-7> : tensor<10xf32>
  %140 = dtensor.add %138, %139 : tensor<10xf32>
  %141 = dtensor.divide %135, %140 : tensor<10xf32>
  %142 = dtensor.constant dense<1.0e-3> : tensor<10xf32>
  %143 = dtensor.multiply %141, %142 : tensor<10xf32>
  %144 = dtensor.subtract %b2, %143 : (tensor<10xf32, #u>, tensor<10xf32>) -> tensor<10xf32>
  %145 = dtensor.constant dense<0.9> : tensor<10x10xf32>
  %146 = dtensor.multiply %m_w3, %145 : (tensor<10x10xf32, #u_u>, tensor<10x10xf32>) -> tensor<10x10xf32>
  %147 = dtensor.constant dense<0.1> : tensor<10x10xf32>
  %148 = dtensor.multiply %37, %147 : tensor<10x10xf32>
  %149 = dtensor.add %146, %148 : tensor<10x10xf32>
  %150 = dtensor.constant dense<0.999> : tensor<10x10xf32>
  %151 = dtensor.multiply %v_w3, %150 : (tensor<10x10xf32, #u_u>, tensor<10x10xf32>) -> tensor<10x10xf32>
  %152 = dtensor.multiply %37, %37 : tensor<10x10xf32>
  %153 = dtensor.constant dense<1.0e-3> : tensor<10x10xf32>
  %154 = dtensor.multiply %152, %153 : tensor<10x10xf32>
  %155 = dtensor.add %151, %154 : tensor<10x10xf32>
  %156 = dtensor.broadcast_in_dim %53 dims [] : (tensor<f32>) -> tensor<10x10xf32>
  %157 = dtensor.divide %149, %156 : tensor<10x10xf32>
  %158 = dtensor.broadcast_in_dim %56 dims [] : (tensor<f32>) -> tensor<10x10xf32>
  %159 = dtensor.divide %155, %158 : tensor<10x10xf32>
  %160 = dtensor.sqrt %159 : tensor<10x10xf32>
  %161 = dtensor.constant dense<1.0e-7> : tensor<10x10xf32>
  %162 = dtensor.add %160, %161 : tensor<10x10xf32>
  %163 = dtensor.divide %157, %162 : tensor<10x10xf32>
  %164 = dtensor.constant dense<1.0e-3> : tensor<10x10xf32>
  %165 = dtensor.multiply %163, %164 : tensor<10x10xf32>
  %166 = dtensor.subtract %w3, %165 : (tensor<10x10xf32, #u_u>, tensor<10x10xf32>) -> tensor<10x10xf32>
  %167 = dtensor.constant dense<0.9> : tensor<10xf32>
  %168 = dtensor.multiply %m_b3, %167 : (tensor<10xf32, #u>, tensor<10xf32>) -> tensor<10xf32>
  %169 = dtensor.constant dense<0.1> : tensor<10xf32>
  %170 = dtensor.multiply %36, %169 : tensor<10xf32>
  %171 = dtensor.add %168, %170 : tensor<10xf32>
  %172 = dtensor.constant dense<0.999> : tensor<10xf32>
  %173 = dtensor.multiply %v_b3, %172 : (tensor<10xf32, #u>, tensor<10xf32>) -> tensor<10xf32>
  %174 = dtensor.multiply %36, %36 : tensor<10xf32>
  %175 = dtensor.constant dense<1.0e-3> : tensor<10xf32>
  %176 = dtensor.multiply %174, %175 : tensor<10xf32>
  %177 = dtensor.add %173, %176 : tensor<10xf32>
  %178 = dtensor.broadcast_in_dim %53 dims [] : (tensor<f32>) -> tensor<10xf32>
  %179 = dtensor.divide %171, %178 : tensor<10xf32>
  %180 = dtensor.broadcast_in_dim %56 dims [] : (tensor<f32>) -> tensor<10xf32>
  %181 = dtensor.divide %177, %180 : tensor<10xf32>
  %182 = dtensor.sqrt %181 : tensor<10xf32>
  %183 = dtensor.constant dense<1.0e-7> : tensor<10xf32>
  %184 = dtensor.add %182, %183 : tensor<10xf32>
  %185 = dtensor.divide %179, %184 : tensor<10xf32>
  %186 = dtensor.constant dense<1.0e-3> : tensor<10xf32>
  %187 = dtensor.multiply %185, %186 : tensor<10xf32>
  %188 = dtensor.subtract %b3, %187 : (tensor<10xf32, #u>, tensor<10xf32>) -> tensor<10xf32>
  %189 = dtensor.constraint %30 : (tensor<f32>) -> tensor<f32, #scalar>
  %190 = dtensor.constraint %78 : (tensor<784x700xf32>) -> tensor<784x700xf32, #batch_u>
  %191 = dtensor.constraint %100 : (tensor<700xf32>) -> tensor<700xf32, #u>
  %192 = dtensor.constraint %122 : (tensor<700x10xf32>) -> tensor<700x10xf32, #u_u>
  %193 = dtensor.constraint %144 : (tensor<10xf32>) -> tensor<10xf32, #u>
  %194 = dtensor.constraint %166 : (tensor<10x10xf32>) -> tensor<10x10xf32, #u_u>
  %195 = dtensor.constraint %188 : (tensor<10xf32>) -> tensor<10xf32, #u>
  %196 = dtensor.constraint %61 : (tensor<784x700xf32>) -> tensor<784x700xf32, #batch_u>
  %197 = dtensor.constraint %83 : (tensor<700xf32>) -> tensor<700xf32, #u>
  %198 = dtensor.constraint %105 : (tensor<700x10xf32>) -> tensor<700x10xf32, #u_u>
  %199 = dtensor.constraint %127 : (tensor<10xf32>) -> tensor<10xf32, #u>
  %200 = dtensor.constraint %149 : (tensor<10x10xf32>) -> tensor<10x10xf32, #u_u>
  %201 = dtensor.constraint %171 : (tensor<10xf32>) -> tensor<10xf32, #u>
  %202 = dtensor.constraint %67 : (tensor<784x700xf32>) -> tensor<784x700xf32, #batch_u>
  %203 = dtensor.constraint %89 : (tensor<700xf32>) -> tensor<700xf32, #u>
  %204 = dtensor.constraint %111 : (tensor<700x10xf32>) -> tensor<700x10xf32, #u_u>
  %205 = dtensor.constraint %133 : (tensor<10xf32>) -> tensor<10xf32, #u>
  %206 = dtensor.constraint %155 : (tensor<10x10xf32>) -> tensor<10x10xf32, #u_u>
  %207 = dtensor.constraint %177 : (tensor<10xf32>) -> tensor<10xf32, #u>
  %208 = dtensor.constraint %49 : (tensor<f32>) -> tensor<f32, #scalar>
  return %189, %190, %191, %192, %193, %194, %195, %196, %197, %198, %199, %200, %201, %202, %203, %204, %205, %206, %207, %208
      : tensor<f32, #scalar>, tensor<784x700xf32, #batch_u>, tensor<700xf32, #u>, tensor<700x10xf32, #u_u>, tensor<10xf32, #u>, tensor<10x10xf32, #u_u>, tensor<10xf32, #u>, tensor<784x700xf32, #batch_u>, tensor<700xf32, #u>, tensor<700x10xf32, #u_u>, tensor<10xf32, #u>, tensor<10x10xf32, #u_u>, tensor<10xf32, #u>, tensor<784x700xf32, #batch_u>, tensor<700xf32, #u>, tensor<700x10xf32, #u_u>, tensor<10xf32, #u>, tensor<10x10xf32, #u_u>, tensor<10xf32, #u>, tensor<f32, #scalar>
}
