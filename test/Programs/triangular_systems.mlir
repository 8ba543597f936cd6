// Triangular systems from either side, small and in blocks, of every element
// type; inverses and products of the same types.
// RUN: %verify
#mesh = #dtensor.mesh<x = 2>
#columns = #dtensor.layout<#mesh, [*, x]>

func.func @main(%af32_7: tensor<7x7xf32>,
                %bf32_7_l: tensor<7x5xf32, #columns>,
                %bf32_7_r: tensor<5x7xf32>,
                %af32_70: tensor<70x70xf32>,
                %bf32_70_l: tensor<70x5xf32, #columns>,
                %bf32_70_r: tensor<5x70xf32>,
                %af32_150: tensor<150x150xf32>,
                %bf32_150_l: tensor<150x5xf32, #columns>,
                %bf32_150_r: tensor<5x150xf32>,
                %af64_7: tensor<7x7xf64>,
                %bf64_7_l: tensor<7x5xf64, #columns>,
                %bf64_7_r: tensor<5x7xf64>,
                %af64_70: tensor<70x70xf64>,
                %bf64_70_l: tensor<70x5xf64, #columns>,
                %bf64_70_r: tensor<5x70xf64>,
                %af64_150: tensor<150x150xf64>,
                %bf64_150_l: tensor<150x5xf64, #columns>,
                %bf64_150_r: tensor<5x150xf64>,
                %ac64_7: tensor<7x7xcomplex<f32>>,
                %bc64_7_l: tensor<7x5xcomplex<f32>, #columns>,
                %bc64_7_r: tensor<5x7xcomplex<f32>>,
                %ac64_70: tensor<70x70xcomplex<f32>>,
                %bc64_70_l: tensor<70x5xcomplex<f32>, #columns>,
                %bc64_70_r: tensor<5x70xcomplex<f32>>,
                %ac128_7: tensor<7x7xcomplex<f64>>,
                %bc128_7_l: tensor<7x5xcomplex<f64>, #columns>,
                %bc128_7_r: tensor<5x7xcomplex<f64>>,
                %ac128_70: tensor<70x70xcomplex<f64>>,
                %bc128_70_l: tensor<70x5xcomplex<f64>, #columns>,
                %bc128_70_r: tensor<5x70xcomplex<f64>>)
    -> (tensor<7x5xf32>,
        tensor<7x5xf32>,
        tensor<7x5xf32>,
        tensor<7x5xf32>,
        tensor<7x5xf32>,
        tensor<7x5xf32>,
        tensor<5x7xf32>,
        tensor<5x7xf32>,
        tensor<5x7xf32>,
        tensor<5x7xf32>,
        tensor<5x7xf32>,
        tensor<5x7xf32>,
        tensor<70x5xf32>,
        tensor<70x5xf32>,
        tensor<70x5xf32>,
        tensor<70x5xf32>,
        tensor<70x5xf32>,
        tensor<70x5xf32>,
        tensor<5x70xf32>,
        tensor<5x70xf32>,
        tensor<5x70xf32>,
        tensor<5x70xf32>,
        tensor<5x70xf32>,
        tensor<5x70xf32>,
        tensor<150x5xf32>,
        tensor<150x5xf32>,
        tensor<150x5xf32>,
        tensor<5x150xf32>,
        tensor<5x150xf32>,
        tensor<5x150xf32>,
        tensor<7x5xf64>,
        tensor<7x5xf64>,
        tensor<7x5xf64>,
        tensor<7x5xf64>,
        tensor<7x5xf64>,
        tensor<7x5xf64>,
        tensor<5x7xf64>,
        tensor<5x7xf64>,
        tensor<5x7xf64>,
        tensor<5x7xf64>,
        tensor<5x7xf64>,
        tensor<5x7xf64>,
        tensor<70x5xf64>,
        tensor<70x5xf64>,
        tensor<70x5xf64>,
        tensor<70x5xf64>,
        tensor<70x5xf64>,
        tensor<70x5xf64>,
        tensor<5x70xf64>,
        tensor<5x70xf64>,
        tensor<5x70xf64>,
        tensor<5x70xf64>,
        tensor<5x70xf64>,
        tensor<5x70xf64>,
        tensor<150x5xf64>,
        tensor<150x5xf64>,
        tensor<150x5xf64>,
        tensor<5x150xf64>,
        tensor<5x150xf64>,
        tensor<5x150xf64>,
        tensor<7x5xcomplex<f32>>,
        tensor<7x5xcomplex<f32>>,
        tensor<7x5xcomplex<f32>>,
        tensor<7x5xcomplex<f32>>,
        tensor<7x5xcomplex<f32>>,
        tensor<7x5xcomplex<f32>>,
        tensor<5x7xcomplex<f32>>,
        tensor<5x7xcomplex<f32>>,
        tensor<5x7xcomplex<f32>>,
        tensor<5x7xcomplex<f32>>,
        tensor<5x7xcomplex<f32>>,
        tensor<5x7xcomplex<f32>>,
        tensor<70x5xcomplex<f32>>,
        tensor<70x5xcomplex<f32>>,
        tensor<70x5xcomplex<f32>>,
        tensor<70x5xcomplex<f32>>,
        tensor<70x5xcomplex<f32>>,
        tensor<70x5xcomplex<f32>>,
        tensor<5x70xcomplex<f32>>,
        tensor<5x70xcomplex<f32>>,
        tensor<5x70xcomplex<f32>>,
        tensor<5x70xcomplex<f32>>,
        tensor<5x70xcomplex<f32>>,
        tensor<5x70xcomplex<f32>>,
        tensor<7x5xcomplex<f64>>,
        tensor<7x5xcomplex<f64>>,
        tensor<7x5xcomplex<f64>>,
        tensor<7x5xcomplex<f64>>,
        tensor<7x5xcomplex<f64>>,
        tensor<7x5xcomplex<f64>>,
        tensor<5x7xcomplex<f64>>,
        tensor<5x7xcomplex<f64>>,
        tensor<5x7xcomplex<f64>>,
        tensor<5x7xcomplex<f64>>,
        tensor<5x7xcomplex<f64>>,
        tensor<5x7xcomplex<f64>>,
        tensor<70x5xcomplex<f64>>,
        tensor<70x5xcomplex<f64>>,
        tensor<70x5xcomplex<f64>>,
        tensor<70x5xcomplex<f64>>,
        tensor<70x5xcomplex<f64>>,
        tensor<70x5xcomplex<f64>>,
        tensor<5x70xcomplex<f64>>,
        tensor<5x70xcomplex<f64>>,
        tensor<5x70xcomplex<f64>>,
        tensor<5x70xcomplex<f64>>,
        tensor<5x70xcomplex<f64>>,
        tensor<5x70xcomplex<f64>>) {
  %if32_7 = dtensor.iota dim 0 : tensor<7x7xi32>
  %jf32_7 = dtensor.iota dim 1 : tensor<7x7xi32>
  %ef32_7 = dtensor.compare EQ, %if32_7, %jf32_7 : (tensor<7x7xi32>, tensor<7x7xi32>) -> tensor<7x7xi1>
  %df32_7 = dtensor.convert %ef32_7 : (tensor<7x7xi1>) -> tensor<7x7xf32>
  %cf32_7 = dtensor.constant dense<0.02> : tensor<7x7xf32>
  %mf32_7 = dtensor.multiply %af32_7, %cf32_7 : (tensor<7x7xf32>, tensor<7x7xf32>) -> tensor<7x7xf32>
  %sf32_7 = dtensor.add %mf32_7, %df32_7 : (tensor<7x7xf32>, tensor<7x7xf32>) -> tensor<7x7xf32>
  %r0 = dtensor.triangular_solve %sf32_7, %bf32_7_l {left_side, lower, transpose_a = "NO_TRANSPOSE"} : (tensor<7x7xf32>, tensor<7x5xf32, #columns>) -> tensor<7x5xf32>
  %r1 = dtensor.triangular_solve %sf32_7, %bf32_7_l {left_side, lower, unit_diagonal, transpose_a = "TRANSPOSE"} : (tensor<7x7xf32>, tensor<7x5xf32, #columns>) -> tensor<7x5xf32>
  %r2 = dtensor.triangular_solve %sf32_7, %bf32_7_l {left_side, lower, transpose_a = "ADJOINT"} : (tensor<7x7xf32>, tensor<7x5xf32, #columns>) -> tensor<7x5xf32>
  %r3 = dtensor.triangular_solve %sf32_7, %bf32_7_l {left_side, transpose_a = "NO_TRANSPOSE"} : (tensor<7x7xf32>, tensor<7x5xf32, #columns>) -> tensor<7x5xf32>
  %r4 = dtensor.triangular_solve %sf32_7, %bf32_7_l {left_side, unit_diagonal, transpose_a = "TRANSPOSE"} : (tensor<7x7xf32>, tensor<7x5xf32, #columns>) -> tensor<7x5xf32>
  %r5 = dtensor.triangular_solve %sf32_7, %bf32_7_l {left_side, transpose_a = "ADJOINT"} : (tensor<7x7xf32>, tensor<7x5xf32, #columns>) -> tensor<7x5xf32>
  %r6 = dtensor.triangular_solve %sf32_7, %bf32_7_r {lower, transpose_a = "NO_TRANSPOSE"} : (tensor<7x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  %r7 = dtensor.triangular_solve %sf32_7, %bf32_7_r {lower, unit_diagonal, transpose_a = "TRANSPOSE"} : (tensor<7x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  %r8 = dtensor.triangular_solve %sf32_7, %bf32_7_r {lower, transpose_a = "ADJOINT"} : (tensor<7x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  %r9 = dtensor.triangular_solve %sf32_7, %bf32_7_r {transpose_a = "NO_TRANSPOSE"} : (tensor<7x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  %r10 = dtensor.triangular_solve %sf32_7, %bf32_7_r {unit_diagonal, transpose_a = "TRANSPOSE"} : (tensor<7x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  %r11 = dtensor.triangular_solve %sf32_7, %bf32_7_r {transpose_a = "ADJOINT"} : (tensor<7x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  %if32_70 = dtensor.iota dim 0 : tensor<70x70xi32>
  %jf32_70 = dtensor.iota dim 1 : tensor<70x70xi32>
  %ef32_70 = dtensor.compare EQ, %if32_70, %jf32_70 : (tensor<70x70xi32>, tensor<70x70xi32>) -> tensor<70x70xi1>
  %df32_70 = dtensor.convert %ef32_70 : (tensor<70x70xi1>) -> tensor<70x70xf32>
  %cf32_70 = dtensor.constant dense<0.02> : tensor<70x70xf32>
  %mf32_70 = dtensor.multiply %af32_70, %cf32_70 : (tensor<70x70xf32>, tensor<70x70xf32>) -> tensor<70x70xf32>
  %sf32_70 = dtensor.add %mf32_70, %df32_70 : (tensor<70x70xf32>, tensor<70x70xf32>) -> tensor<70x70xf32>
  %r12 = dtensor.triangular_solve %sf32_70, %bf32_70_l {left_side, lower, transpose_a = "NO_TRANSPOSE"} : (tensor<70x70xf32>, tensor<70x5xf32, #columns>) -> tensor<70x5xf32>
  %r13 = dtensor.triangular_solve %sf32_70, %bf32_70_l {left_side, lower, unit_diagonal, transpose_a = "TRANSPOSE"} : (tensor<70x70xf32>, tensor<70x5xf32, #columns>) -> tensor<70x5xf32>
  %r14 = dtensor.triangular_solve %sf32_70, %bf32_70_l {left_side, lower, transpose_a = "ADJOINT"} : (tensor<70x70xf32>, tensor<70x5xf32, #columns>) -> tensor<70x5xf32>
  %r15 = dtensor.triangular_solve %sf32_70, %bf32_70_l {left_side, transpose_a = "NO_TRANSPOSE"} : (tensor<70x70xf32>, tensor<70x5xf32, #columns>) -> tensor<70x5xf32>
  %r16 = dtensor.triangular_solve %sf32_70, %bf32_70_l {left_side, unit_diagonal, transpose_a = "TRANSPOSE"} : (tensor<70x70xf32>, tensor<70x5xf32, #columns>) -> tensor<70x5xf32>
  %r17 = dtensor.triangular_solve %sf32_70, %bf32_70_l {left_side, transpose_a = "ADJOINT"} : (tensor<70x70xf32>, tensor<70x5xf32, #columns>) -> tensor<70x5xf32>
  %r18 = dtensor.triangular_solve %sf32_70, %bf32_70_r {lower, transpose_a = "NO_TRANSPOSE"} : (tensor<70x70xf32>, tensor<5x70xf32>) -> tensor<5x70xf32>
  %r19 = dtensor.triangular_solve %sf32_70, %bf32_70_r {lower, unit_diagonal, transpose_a = "TRANSPOSE"} : (tensor<70x70xf32>, tensor<5x70xf32>) -> tensor<5x70xf32>
  %r20 = dtensor.triangular_solve %sf32_70, %bf32_70_r {lower, transpose_a = "ADJOINT"} : (tensor<70x70xf32>, tensor<5x70xf32>) -> tensor<5x70xf32>
  %r21 = dtensor.triangular_solve %sf32_70, %bf32_70_r {transpose_a = "NO_TRANSPOSE"} : (tensor<70x70xf32>, tensor<5x70xf32>) -> tensor<5x70xf32>
  %r22 = dtensor.triangular_solve %sf32_70, %bf32_70_r {unit_diagonal, transpose_a = "TRANSPOSE"} : (tensor<70x70xf32>, tensor<5x70xf32>) -> tensor<5x70xf32>
  %r23 = dtensor.triangular_solve %sf32_70, %bf32_70_r {transpose_a = "ADJOINT"} : (tensor<70x70xf32>, tensor<5x70xf32>) -> tensor<5x70xf32>
  %if32_150 = dtensor.iota dim 0 : tensor<150x150xi32>
  %jf32_150 = dtensor.iota dim 1 : tensor<150x150xi32>
  %ef32_150 = dtensor.compare EQ, %if32_150, %jf32_150 : (tensor<150x150xi32>, tensor<150x150xi32>) -> tensor<150x150xi1>
  %df32_150 = dtensor.convert %ef32_150 : (tensor<150x150xi1>) -> tensor<150x150xf32>
  %cf32_150 = dtensor.constant dense<0.02> : tensor<150x150xf32>
  %mf32_150 = dtensor.multiply %af32_150, %cf32_150 : (tensor<150x150xf32>, tensor<150x150xf32>) -> tensor<150x150xf32>
  %sf32_150 = dtensor.add %mf32_150, %df32_150 : (tensor<150x150xf32>, tensor<150x150xf32>) -> tensor<150x150xf32>
  %r24 = dtensor.triangular_solve %sf32_150, %bf32_150_l {left_side, lower, transpose_a = "NO_TRANSPOSE"} : (tensor<150x150xf32>, tensor<150x5xf32, #columns>) -> tensor<150x5xf32>
  %r25 = dtensor.triangular_solve %sf32_150, %bf32_150_l {left_side, lower, transpose_a = "ADJOINT"} : (tensor<150x150xf32>, tensor<150x5xf32, #columns>) -> tensor<150x5xf32>
  %r26 = dtensor.triangular_solve %sf32_150, %bf32_150_l {left_side, unit_diagonal, transpose_a = "TRANSPOSE"} : (tensor<150x150xf32>, tensor<150x5xf32, #columns>) -> tensor<150x5xf32>
  %r27 = dtensor.triangular_solve %sf32_150, %bf32_150_r {lower, transpose_a = "NO_TRANSPOSE"} : (tensor<150x150xf32>, tensor<5x150xf32>) -> tensor<5x150xf32>
  %r28 = dtensor.triangular_solve %sf32_150, %bf32_150_r {lower, transpose_a = "ADJOINT"} : (tensor<150x150xf32>, tensor<5x150xf32>) -> tensor<5x150xf32>
  %r29 = dtensor.triangular_solve %sf32_150, %bf32_150_r {unit_diagonal, transpose_a = "TRANSPOSE"} : (tensor<150x150xf32>, tensor<5x150xf32>) -> tensor<5x150xf32>
  %if64_7 = dtensor.iota dim 0 : tensor<7x7xi32>
  %jf64_7 = dtensor.iota dim 1 : tensor<7x7xi32>
  %ef64_7 = dtensor.compare EQ, %if64_7, %jf64_7 : (tensor<7x7xi32>, tensor<7x7xi32>) -> tensor<7x7xi1>
  %df64_7 = dtensor.convert %ef64_7 : (tensor<7x7xi1>) -> tensor<7x7xf64>
  %cf64_7 = dtensor.constant dense<0.02> : tensor<7x7xf64>
  %mf64_7 = dtensor.multiply %af64_7, %cf64_7 : (tensor<7x7xf64>, tensor<7x7xf64>) -> tensor<7x7xf64>
  %sf64_7 = dtensor.add %mf64_7, %df64_7 : (tensor<7x7xf64>, tensor<7x7xf64>) -> tensor<7x7xf64>
  %r30 = dtensor.triangular_solve %sf64_7, %bf64_7_l {left_side, lower, transpose_a = "NO_TRANSPOSE"} : (tensor<7x7xf64>, tensor<7x5xf64, #columns>) -> tensor<7x5xf64>
  %r31 = dtensor.triangular_solve %sf64_7, %bf64_7_l {left_side, lower, unit_diagonal, transpose_a = "TRANSPOSE"} : (tensor<7x7xf64>, tensor<7x5xf64, #columns>) -> tensor<7x5xf64>
  %r32 = dtensor.triangular_solve %sf64_7, %bf64_7_l {left_side, lower, transpose_a = "ADJOINT"} : (tensor<7x7xf64>, tensor<7x5xf64, #columns>) -> tensor<7x5xf64>
  %r33 = dtensor.triangular_solve %sf64_7, %bf64_7_l {left_side, transpose_a = "NO_TRANSPOSE"} : (tensor<7x7xf64>, tensor<7x5xf64, #columns>) -> tensor<7x5xf64>
  %r34 = dtensor.triangular_solve %sf64_7, %bf64_7_l {left_side, unit_diagonal, transpose_a = "TRANSPOSE"} : (tensor<7x7xf64>, tensor<7x5xf64, #columns>) -> tensor<7x5xf64>
  %r35 = dtensor.triangular_solve %sf64_7, %bf64_7_l {left_side, transpose_a = "ADJOINT"} : (tensor<7x7xf64>, tensor<7x5xf64, #columns>) -> tensor<7x5xf64>
  %r36 = dtensor.triangular_solve %sf64_7, %bf64_7_r {lower, transpose_a = "NO_TRANSPOSE"} : (tensor<7x7xf64>, tensor<5x7xf64>) -> tensor<5x7xf64>
  %r37 = dtensor.triangular_solve %sf64_7, %bf64_7_r {lower, unit_diagonal, transpose_a = "TRANSPOSE"} : (tensor<7x7xf64>, tensor<5x7xf64>) -> tensor<5x7xf64>
  %r38 = dtensor.triangular_solve %sf64_7, %bf64_7_r {lower, transpose_a = "ADJOINT"} : (tensor<7x7xf64>, tensor<5x7xf64>) -> tensor<5x7xf64>
  %r39 = dtensor.triangular_solve %sf64_7, %bf64_7_r {transpose_a = "NO_TRANSPOSE"} : (tensor<7x7xf64>, tensor<5x7xf64>) -> tensor<5x7xf64>
  %r40 = dtensor.triangular_solve %sf64_7, %bf64_7_r {unit_diagonal, transpose_a = "TRANSPOSE"} : (tensor<7x7xf64>, tensor<5x7xf64>) -> tensor<5x7xf64>
  %r41 = dtensor.triangular_solve %sf64_7, %bf64_7_r {transpose_a = "ADJOINT"} : (tensor<7x7xf64>, tensor<5x7xf64>) -> tensor<5x7xf64>
  %if64_70 = dtensor.iota dim 0 : tensor<70x70xi32>
  %jf64_70 = dtensor.iota dim 1 : tensor<70x70xi32>
  %ef64_70 = dtensor.compare EQ, %if64_70, %jf64_70 : (tensor<70x70xi32>, tensor<70x70xi32>) -> tensor<70x70xi1>
  %df64_70 = dtensor.convert %ef64_70 : (tensor<70x70xi1>) -> tensor<70x70xf64>
  %cf64_70 = dtensor.constant dense<0.02> : tensor<70x70xf64>
  %mf64_70 = dtensor.multiply %af64_70, %cf64_70 : (tensor<70x70xf64>, tensor<70x70xf64>) -> tensor<70x70xf64>
  %sf64_70 = dtensor.add %mf64_70, %df64_70 : (tensor<70x70xf64>, tensor<70x70xf64>) -> tensor<70x70xf64>
  %r42 = dtensor.triangular_solve %sf64_70, %bf64_70_l {left_side, lower, transpose_a = "NO_TRANSPOSE"} : (tensor<70x70xf64>, tensor<70x5xf64, #columns>) -> tensor<70x5xf64>
  %r43 = dtensor.triangular_solve %sf64_70, %bf64_70_l {left_side, lower, unit_diagonal, transpose_a = "TRANSPOSE"} : (tensor<70x70xf64>, tensor<70x5xf64, #columns>) -> tensor<70x5xf64>
  %r44 = dtensor.triangular_solve %sf64_70, %bf64_70_l {left_side, lower, transpose_a = "ADJOINT"} : (tensor<70x70xf64>, tensor<70x5xf64, #columns>) -> tensor<70x5xf64>
  %r45 = dtensor.triangular_solve %sf64_70, %bf64_70_l {left_side, transpose_a = "NO_TRANSPOSE"} : (tensor<70x70xf64>, tensor<70x5xf64, #columns>) -> tensor<70x5xf64>
  %r46 = dtensor.triangular_solve %sf64_70, %bf64_70_l {left_side, unit_diagonal, transpose_a = "TRANSPOSE"} : (tensor<70x70xf64>, tensor<70x5xf64, #columns>) -> tensor<70x5xf64>
  %r47 = dtensor.triangular_solve %sf64_70, %bf64_70_l {left_side, transpose_a = "ADJOINT"} : (tensor<70x70xf64>, tensor<70x5xf64, #columns>) -> tensor<70x5xf64>
  %r48 = dtensor.triangular_solve %sf64_70, %bf64_70_r {lower, transpose_a = "NO_TRANSPOSE"} : (tensor<70x70xf64>, tensor<5x70xf64>) -> tensor<5x70xf64>
  %r49 = dtensor.triangular_solve %sf64_70, %bf64_70_r {lower, unit_diagonal, transpose_a = "TRANSPOSE"} : (tensor<70x70xf64>, tensor<5x70xf64>) -> tensor<5x70xf64>
  %r50 = dtensor.triangular_solve %sf64_70, %bf64_70_r {lower, transpose_a = "ADJOINT"} : (tensor<70x70xf64>, tensor<5x70xf64>) -> tensor<5x70xf64>
  %r51 = dtensor.triangular_solve %sf64_70, %bf64_70_r {transpose_a = "NO_TRANSPOSE"} : (tensor<70x70xf64>, tensor<5x70xf64>) -> tensor<5x70xf64>
  %r52 = dtensor.triangular_solve %sf64_70, %bf64_70_r {unit_diagonal, transpose_a = "TRANSPOSE"} : (tensor<70x70xf64>, tensor<5x70xf64>) -> tensor<5x70xf64>
  %r53 = dtensor.triangular_solve %sf64_70, %bf64_70_r {transpose_a = "ADJOINT"} : (tensor<70x70xf64>, tensor<5x70xf64>) -> tensor<5x70xf64>
  %if64_150 = dtensor.iota dim 0 : tensor<150x150xi32>
  %jf64_150 = dtensor.iota dim 1 : tensor<150x150xi32>
  %ef64_150 = dtensor.compare EQ, %if64_150, %jf64_150 : (tensor<150x150xi32>, tensor<150x150xi32>) -> tensor<150x150xi1>
  %df64_150 = dtensor.convert %ef64_150 : (tensor<150x150xi1>) -> tensor<150x150xf64>
  %cf64_150 = dtensor.constant dense<0.02> : tensor<150x150xf64>
  %mf64_150 = dtensor.multiply %af64_150, %cf64_150 : (tensor<150x150xf64>, tensor<150x150xf64>) -> tensor<150x150xf64>
  %sf64_150 = dtensor.add %mf64_150, %df64_150 : (tensor<150x150xf64>, tensor<150x150xf64>) -> tensor<150x150xf64>
  %r54 = dtensor.triangular_solve %sf64_150, %bf64_150_l {left_side, lower, transpose_a = "NO_TRANSPOSE"} : (tensor<150x150xf64>, tensor<150x5xf64, #columns>) -> tensor<150x5xf64>
  %r55 = dtensor.triangular_solve %sf64_150, %bf64_150_l {left_side, lower, transpose_a = "ADJOINT"} : (tensor<150x150xf64>, tensor<150x5xf64, #columns>) -> tensor<150x5xf64>
  %r56 = dtensor.triangular_solve %sf64_150, %bf64_150_l {left_side, unit_diagonal, transpose_a = "TRANSPOSE"} : (tensor<150x150xf64>, tensor<150x5xf64, #columns>) -> tensor<150x5xf64>
  %r57 = dtensor.triangular_solve %sf64_150, %bf64_150_r {lower, transpose_a = "NO_TRANSPOSE"} : (tensor<150x150xf64>, tensor<5x150xf64>) -> tensor<5x150xf64>
  %r58 = dtensor.triangular_solve %sf64_150, %bf64_150_r {lower, transpose_a = "ADJOINT"} : (tensor<150x150xf64>, tensor<5x150xf64>) -> tensor<5x150xf64>
  %r59 = dtensor.triangular_solve %sf64_150, %bf64_150_r {unit_diagonal, transpose_a = "TRANSPOSE"} : (tensor<150x150xf64>, tensor<5x150xf64>) -> tensor<5x150xf64>
  %ic64_7 = dtensor.iota dim 0 : tensor<7x7xi32>
  %jc64_7 = dtensor.iota dim 1 : tensor<7x7xi32>
  %ec64_7 = dtensor.compare EQ, %ic64_7, %jc64_7 : (tensor<7x7xi32>, tensor<7x7xi32>) -> tensor<7x7xi1>
  %dc64_7 = dtensor.convert %ec64_7 : (tensor<7x7xi1>) -> tensor<7x7xcomplex<f32>>
  %cc64_7 = dtensor.constant dense<(0.02, 0.0)> : tensor<7x7xcomplex<f32>>
  %mc64_7 = dtensor.multiply %ac64_7, %cc64_7 : (tensor<7x7xcomplex<f32>>, tensor<7x7xcomplex<f32>>) -> tensor<7x7xcomplex<f32>>
  %sc64_7 = dtensor.add %mc64_7, %dc64_7 : (tensor<7x7xcomplex<f32>>, tensor<7x7xcomplex<f32>>) -> tensor<7x7xcomplex<f32>>
  %r60 = dtensor.triangular_solve %sc64_7, %bc64_7_l {left_side, lower, transpose_a = "NO_TRANSPOSE"} : (tensor<7x7xcomplex<f32>>, tensor<7x5xcomplex<f32>, #columns>) -> tensor<7x5xcomplex<f32>>
  %r61 = dtensor.triangular_solve %sc64_7, %bc64_7_l {left_side, lower, unit_diagonal, transpose_a = "TRANSPOSE"} : (tensor<7x7xcomplex<f32>>, tensor<7x5xcomplex<f32>, #columns>) -> tensor<7x5xcomplex<f32>>
  %r62 = dtensor.triangular_solve %sc64_7, %bc64_7_l {left_side, lower, transpose_a = "ADJOINT"} : (tensor<7x7xcomplex<f32>>, tensor<7x5xcomplex<f32>, #columns>) -> tensor<7x5xcomplex<f32>>
  %r63 = dtensor.triangular_solve %sc64_7, %bc64_7_l {left_side, transpose_a = "NO_TRANSPOSE"} : (tensor<7x7xcomplex<f32>>, tensor<7x5xcomplex<f32>, #columns>) -> tensor<7x5xcomplex<f32>>
  %r64 = dtensor.triangular_solve %sc64_7, %bc64_7_l {left_side, unit_diagonal, transpose_a = "TRANSPOSE"} : (tensor<7x7xcomplex<f32>>, tensor<7x5xcomplex<f32>, #columns>) -> tensor<7x5xcomplex<f32>>
  %r65 = dtensor.triangular_solve %sc64_7, %bc64_7_l {left_side, transpose_a = "ADJOINT"} : (tensor<7x7xcomplex<f32>>, tensor<7x5xcomplex<f32>, #columns>) -> tensor<7x5xcomplex<f32>>
  %r66 = dtensor.triangular_solve %sc64_7, %bc64_7_r {lower, transpose_a = "NO_TRANSPOSE"} : (tensor<7x7xcomplex<f32>>, tensor<5x7xcomplex<f32>>) -> tensor<5x7xcomplex<f32>>
  %r67 = dtensor.triangular_solve %sc64_7, %bc64_7_r {lower, unit_diagonal, transpose_a = "TRANSPOSE"} : (tensor<7x7xcomplex<f32>>, tensor<5x7xcomplex<f32>>) -> tensor<5x7xcomplex<f32>>
  %r68 = dtensor.triangular_solve %sc64_7, %bc64_7_r {lower, transpose_a = "ADJOINT"} : (tensor<7x7xcomplex<f32>>, tensor<5x7xcomplex<f32>>) -> tensor<5x7xcomplex<f32>>
  %r69 = dtensor.triangular_solve %sc64_7, %bc64_7_r {transpose_a = "NO_TRANSPOSE"} : (tensor<7x7xcomplex<f32>>, tensor<5x7xcomplex<f32>>) -> tensor<5x7xcomplex<f32>>
  %r70 = dtensor.triangular_solve %sc64_7, %bc64_7_r {unit_diagonal, transpose_a = "TRANSPOSE"} : (tensor<7x7xcomplex<f32>>, tensor<5x7xcomplex<f32>>) -> tensor<5x7xcomplex<f32>>
  %r71 = dtensor.triangular_solve %sc64_7, %bc64_7_r {transpose_a = "ADJOINT"} : (tensor<7x7xcomplex<f32>>, tensor<5x7xcomplex<f32>>) -> tensor<5x7xcomplex<f32>>
  %ic64_70 = dtensor.iota dim 0 : tensor<70x70xi32>
  %jc64_70 = dtensor.iota dim 1 : tensor<70x70xi32>
  %ec64_70 = dtensor.compare EQ, %ic64_70, %jc64_70 : (tensor<70x70xi32>, tensor<70x70xi32>) -> tensor<70x70xi1>
  %dc64_70 = dtensor.convert %ec64_70 : (tensor<70x70xi1>) -> tensor<70x70xcomplex<f32>>
  %cc64_70 = dtensor.constant dense<(0.02, 0.0)> : tensor<70x70xcomplex<f32>>
  %mc64_70 = dtensor.multiply %ac64_70, %cc64_70 : (tensor<70x70xcomplex<f32>>, tensor<70x70xcomplex<f32>>) -> tensor<70x70xcomplex<f32>>
  %sc64_70 = dtensor.add %mc64_70, %dc64_70 : (tensor<70x70xcomplex<f32>>, tensor<70x70xcomplex<f32>>) -> tensor<70x70xcomplex<f32>>
  %r72 = dtensor.triangular_solve %sc64_70, %bc64_70_l {left_side, lower, transpose_a = "NO_TRANSPOSE"} : (tensor<70x70xcomplex<f32>>, tensor<70x5xcomplex<f32>, #columns>) -> tensor<70x5xcomplex<f32>>
  %r73 = dtensor.triangular_solve %sc64_70, %bc64_70_l {left_side, lower, unit_diagonal, transpose_a = "TRANSPOSE"} : (tensor<70x70xcomplex<f32>>, tensor<70x5xcomplex<f32>, #columns>) -> tensor<70x5xcomplex<f32>>
  %r74 = dtensor.triangular_solve %sc64_70, %bc64_70_l {left_side, lower, transpose_a = "ADJOINT"} : (tensor<70x70xcomplex<f32>>, tensor<70x5xcomplex<f32>, #columns>) -> tensor<70x5xcomplex<f32>>
  %r75 = dtensor.triangular_solve %sc64_70, %bc64_70_l {left_side, transpose_a = "NO_TRANSPOSE"} : (tensor<70x70xcomplex<f32>>, tensor<70x5xcomplex<f32>, #columns>) -> tensor<70x5xcomplex<f32>>
  %r76 = dtensor.triangular_solve %sc64_70, %bc64_70_l {left_side, unit_diagonal, transpose_a = "TRANSPOSE"} : (tensor<70x70xcomplex<f32>>, tensor<70x5xcomplex<f32>, #columns>) -> tensor<70x5xcomplex<f32>>
  %r77 = dtensor.triangular_solve %sc64_70, %bc64_70_l {left_side, transpose_a = "ADJOINT"} : (tensor<70x70xcomplex<f32>>, tensor<70x5xcomplex<f32>, #columns>) -> tensor<70x5xcomplex<f32>>
  %r78 = dtensor.triangular_solve %sc64_70, %bc64_70_r {lower, transpose_a = "NO_TRANSPOSE"} : (tensor<70x70xcomplex<f32>>, tensor<5x70xcomplex<f32>>) -> tensor<5x70xcomplex<f32>>
  %r79 = dtensor.triangular_solve %sc64_70, %bc64_70_r {lower, unit_diagonal, transpose_a = "TRANSPOSE"} : (tensor<70x70xcomplex<f32>>, tensor<5x70xcomplex<f32>>) -> tensor<5x70xcomplex<f32>>
  %r80 = dtensor.triangular_solve %sc64_70, %bc64_70_r {lower, transpose_a = "ADJOINT"} : (tensor<70x70xcomplex<f32>>, tensor<5x70xcomplex<f32>>) -> tensor<5x70xcomplex<f32>>
  %r81 = dtensor.triangular_solve %sc64_70, %bc64_70_r {transpose_a = "NO_TRANSPOSE"} : (tensor<70x70xcomplex<f32>>, tensor<5x70xcomplex<f32>>) -> tensor<5x70xcomplex<f32>>
  %r82 = dtensor.triangular_solve %sc64_70, %bc64_70_r {unit_diagonal, transpose_a = "TRANSPOSE"} : (tensor<70x70xcomplex<f32>>, tensor<5x70xcomplex<f32>>) -> tensor<5x70xcomplex<f32>>
  %r83 = dtensor.triangular_solve %sc64_70, %bc64_70_r {transpose_a = "ADJOINT"} : (tensor<70x70xcomplex<f32>>, tensor<5x70xcomplex<f32>>) -> tensor<5x70xcomplex<f32>>
  %ic128_7 = dtensor.iota dim 0 : tensor<7x7xi32>
  %jc128_7 = dtensor.iota dim 1 : tensor<7x7xi32>
  %ec128_7 = dtensor.compare EQ, %ic128_7, %jc128_7 : (tensor<7x7xi32>, tensor<7x7xi32>) -> tensor<7x7xi1>
  %dc128_7 = dtensor.convert %ec128_7 : (tensor<7x7xi1>) -> tensor<7x7xcomplex<f64>>
  %cc128_7 = dtensor.constant dense<(0.02, 0.0)> : tensor<7x7xcomplex<f64>>
  %mc128_7 = dtensor.multiply %ac128_7, %cc128_7 : (tensor<7x7xcomplex<f64>>, tensor<7x7xcomplex<f64>>) -> tensor<7x7xcomplex<f64>>
  %sc128_7 = dtensor.add %mc128_7, %dc128_7 : (tensor<7x7xcomplex<f64>>, tensor<7x7xcomplex<f64>>) -> tensor<7x7xcomplex<f64>>
  %r84 = dtensor.triangular_solve %sc128_7, %bc128_7_l {left_side, lower, transpose_a = "NO_TRANSPOSE"} : (tensor<7x7xcomplex<f64>>, tensor<7x5xcomplex<f64>, #columns>) -> tensor<7x5xcomplex<f64>>
  %r85 = dtensor.triangular_solve %sc128_7, %bc128_7_l {left_side, lower, unit_diagonal, transpose_a = "TRANSPOSE"} : (tensor<7x7xcomplex<f64>>, tensor<7x5xcomplex<f64>, #columns>) -> tensor<7x5xcomplex<f64>>
  %r86 = dtensor.triangular_solve %sc128_7, %bc128_7_l {left_side, lower, transpose_a = "ADJOINT"} : (tensor<7x7xcomplex<f64>>, tensor<7x5xcomplex<f64>, #columns>) -> tensor<7x5xcomplex<f64>>
  %r87 = dtensor.triangular_solve %sc128_7, %bc128_7_l {left_side, transpose_a = "NO_TRANSPOSE"} : (tensor<7x7xcomplex<f64>>, tensor<7x5xcomplex<f64>, #columns>) -> tensor<7x5xcomplex<f64>>
  %r88 = dtensor.triangular_solve %sc128_7, %bc128_7_l {left_side, unit_diagonal, transpose_a = "TRANSPOSE"} : (tensor<7x7xcomplex<f64>>, tensor<7x5xcomplex<f64>, #columns>) -> tensor<7x5xcomplex<f64>>
  %r89 = dtensor.triangular_solve %sc128_7, %bc128_7_l {left_side, transpose_a = "ADJOINT"} : (tensor<7x7xcomplex<f64>>, tensor<7x5xcomplex<f64>, #columns>) -> tensor<7x5xcomplex<f64>>
  %r90 = dtensor.triangular_solve %sc128_7, %bc128_7_r {lower, transpose_a = "NO_TRANSPOSE"} : (tensor<7x7xcomplex<f64>>, tensor<5x7xcomplex<f64>>) -> tensor<5x7xcomplex<f64>>
  %r91 = dtensor.triangular_solve %sc128_7, %bc128_7_r {lower, unit_diagonal, transpose_a = "TRANSPOSE"} : (tensor<7x7xcomplex<f64>>, tensor<5x7xcomplex<f64>>) -> tensor<5x7xcomplex<f64>>
  %r92 = dtensor.triangular_solve %sc128_7, %bc128_7_r {lower, transpose_a = "ADJOINT"} : (tensor<7x7xcomplex<f64>>, tensor<5x7xcomplex<f64>>) -> tensor<5x7xcomplex<f64>>
  %r93 = dtensor.triangular_solve %sc128_7, %bc128_7_r {transpose_a = "NO_TRANSPOSE"} : (tensor<7x7xcomplex<f64>>, tensor<5x7xcomplex<f64>>) -> tensor<5x7xcomplex<f64>>
  %r94 = dtensor.triangular_solve %sc128_7, %bc128_7_r {unit_diagonal, transpose_a = "TRANSPOSE"} : (tensor<7x7xcomplex<f64>>, tensor<5x7xcomplex<f64>>) -> tensor<5x7xcomplex<f64>>
  %r95 = dtensor.triangular_solve %sc128_7, %bc128_7_r {transpose_a = "ADJOINT"} : (tensor<7x7xcomplex<f64>>, tensor<5x7xcomplex<f64>>) -> tensor<5x7xcomplex<f64>>
  %ic128_70 = dtensor.iota dim 0 : tensor<70x70xi32>
  %jc128_70 = dtensor.iota dim 1 : tensor<70x70xi32>
  %ec128_70 = dtensor.compare EQ, %ic128_70, %jc128_70 : (tensor<70x70xi32>, tensor<70x70xi32>) -> tensor<70x70xi1>
  %dc128_70 = dtensor.convert %ec128_70 : (tensor<70x70xi1>) -> tensor<70x70xcomplex<f64>>
  %cc128_70 = dtensor.constant dense<(0.02, 0.0)> : tensor<70x70xcomplex<f64>>
  %mc128_70 = dtensor.multiply %ac128_70, %cc128_70 : (tensor<70x70xcomplex<f64>>, tensor<70x70xcomplex<f64>>) -> tensor<70x70xcomplex<f64>>
  %sc128_70 = dtensor.add %mc128_70, %dc128_70 : (tensor<70x70xcomplex<f64>>, tensor<70x70xcomplex<f64>>) -> tensor<70x70xcomplex<f64>>
  %r96 = dtensor.triangular_solve %sc128_70, %bc128_70_l {left_side, lower, transpose_a = "NO_TRANSPOSE"} : (tensor<70x70xcomplex<f64>>, tensor<70x5xcomplex<f64>, #columns>) -> tensor<70x5xcomplex<f64>>
  %r97 = dtensor.triangular_solve %sc128_70, %bc128_70_l {left_side, lower, unit_diagonal, transpose_a = "TRANSPOSE"} : (tensor<70x70xcomplex<f64>>, tensor<70x5xcomplex<f64>, #columns>) -> tensor<70x5xcomplex<f64>>
  %r98 = dtensor.triangular_solve %sc128_70, %bc128_70_l {left_side, lower, transpose_a = "ADJOINT"} : (tensor<70x70xcomplex<f64>>, tensor<70x5xcomplex<f64>, #columns>) -> tensor<70x5xcomplex<f64>>
  %r99 = dtensor.triangular_solve %sc128_70, %bc128_70_l {left_side, transpose_a = "NO_TRANSPOSE"} : (tensor<70x70xcomplex<f64>>, tensor<70x5xcomplex<f64>, #columns>) -> tensor<70x5xcomplex<f64>>
  %r100 = dtensor.triangular_solve %sc128_70, %bc128_70_l {left_side, unit_diagonal, transpose_a = "TRANSPOSE"} : (tensor<70x70xcomplex<f64>>, tensor<70x5xcomplex<f64>, #columns>) -> tensor<70x5xcomplex<f64>>
  %r101 = dtensor.triangular_solve %sc128_70, %bc128_70_l {left_side, transpose_a = "ADJOINT"} : (tensor<70x70xcomplex<f64>>, tensor<70x5xcomplex<f64>, #columns>) -> tensor<70x5xcomplex<f64>>
  %r102 = dtensor.triangular_solve %sc128_70, %bc128_70_r {lower, transpose_a = "NO_TRANSPOSE"} : (tensor<70x70xcomplex<f64>>, tensor<5x70xcomplex<f64>>) -> tensor<5x70xcomplex<f64>>
  %r103 = dtensor.triangular_solve %sc128_70, %bc128_70_r {lower, unit_diagonal, transpose_a = "TRANSPOSE"} : (tensor<70x70xcomplex<f64>>, tensor<5x70xcomplex<f64>>) -> tensor<5x70xcomplex<f64>>
  %r104 = dtensor.triangular_solve %sc128_70, %bc128_70_r {lower, transpose_a = "ADJOINT"} : (tensor<70x70xcomplex<f64>>, tensor<5x70xcomplex<f64>>) -> tensor<5x70xcomplex<f64>>
  %r105 = dtensor.triangular_solve %sc128_70, %bc128_70_r {transpose_a = "NO_TRANSPOSE"} : (tensor<70x70xcomplex<f64>>, tensor<5x70xcomplex<f64>>) -> tensor<5x70xcomplex<f64>>
  %r106 = dtensor.triangular_solve %sc128_70, %bc128_70_r {unit_diagonal, transpose_a = "TRANSPOSE"} : (tensor<70x70xcomplex<f64>>, tensor<5x70xcomplex<f64>>) -> tensor<5x70xcomplex<f64>>
  %r107 = dtensor.triangular_solve %sc128_70, %bc128_70_r {transpose_a = "ADJOINT"} : (tensor<70x70xcomplex<f64>>, tensor<5x70xcomplex<f64>>) -> tensor<5x70xcomplex<f64>>
  return %r0,
      %r1,
      %r2,
      %r3,
      %r4,
      %r5,
      %r6,
      %r7,
      %r8,
      %r9,
      %r10,
      %r11,
      %r12,
      %r13,
      %r14,
      %r15,
      %r16,
      %r17,
      %r18,
      %r19,
      %r20,
      %r21,
      %r22,
      %r23,
      %r24,
      %r25,
      %r26,
      %r27,
      %r28,
      %r29,
      %r30,
      %r31,
      %r32,
      %r33,
      %r34,
      %r35,
      %r36,
      %r37,
      %r38,
      %r39,
      %r40,
      %r41,
      %r42,
      %r43,
      %r44,
      %r45,
      %r46,
      %r47,
      %r48,
      %r49,
      %r50,
      %r51,
      %r52,
      %r53,
      %r54,
      %r55,
      %r56,
      %r57,
      %r58,
      %r59,
      %r60,
      %r61,
      %r62,
      %r63,
      %r64,
      %r65,
      %r66,
      %r67,
      %r68,
      %r69,
      %r70,
      %r71,
      %r72,
      %r73,
      %r74,
      %r75,
      %r76,
      %r77,
      %r78,
      %r79,
      %r80,
      %r81,
      %r82,
      %r83,
      %r84,
      %r85,
      %r86,
      %r87,
      %r88,
      %r89,
      %r90,
      %r91,
      %r92,
      %r93,
      %r94,
      %r95,
      %r96,
      %r97,
      %r98,
      %r99,
      %r100,
      %r101,
      %r102,
      %r103,
      %r104,
      %r105,
      %r106,
      %r107
      : tensor<7x5xf32>,
        tensor<7x5xf32>,
        tensor<7x5xf32>,
        tensor<7x5xf32>,
        tensor<7x5xf32>,
        tensor<7x5xf32>,
        tensor<5x7xf32>,
        tensor<5x7xf32>,
        tensor<5x7xf32>,
        tensor<5x7xf32>,
        tensor<5x7xf32>,
        tensor<5x7xf32>,
        tensor<70x5xf32>,
        tensor<70x5xf32>,
        tensor<70x5xf32>,
        tensor<70x5xf32>,
        tensor<70x5xf32>,
        tensor<70x5xf32>,
        tensor<5x70xf32>,
        tensor<5x70xf32>,
        tensor<5x70xf32>,
        tensor<5x70xf32>,
        tensor<5x70xf32>,
        tensor<5x70xf32>,
        tensor<150x5xf32>,
        tensor<150x5xf32>,
        tensor<150x5xf32>,
        tensor<5x150xf32>,
        tensor<5x150xf32>,
        tensor<5x150xf32>,
        tensor<7x5xf64>,
        tensor<7x5xf64>,
        tensor<7x5xf64>,
        tensor<7x5xf64>,
        tensor<7x5xf64>,
        tensor<7x5xf64>,
        tensor<5x7xf64>,
        tensor<5x7xf64>,
        tensor<5x7xf64>,
        tensor<5x7xf64>,
        tensor<5x7xf64>,
        tensor<5x7xf64>,
        tensor<70x5xf64>,
        tensor<70x5xf64>,
        tensor<70x5xf64>,
        tensor<70x5xf64>,
        tensor<70x5xf64>,
        tensor<70x5xf64>,
        tensor<5x70xf64>,
        tensor<5x70xf64>,
        tensor<5x70xf64>,
        tensor<5x70xf64>,
        tensor<5x70xf64>,
        tensor<5x70xf64>,
        tensor<150x5xf64>,
        tensor<150x5xf64>,
        tensor<150x5xf64>,
        tensor<5x150xf64>,
        tensor<5x150xf64>,
        tensor<5x150xf64>,
        tensor<7x5xcomplex<f32>>,
        tensor<7x5xcomplex<f32>>,
        tensor<7x5xcomplex<f32>>,
        tensor<7x5xcomplex<f32>>,
        tensor<7x5xcomplex<f32>>,
        tensor<7x5xcomplex<f32>>,
        tensor<5x7xcomplex<f32>>,
        tensor<5x7xcomplex<f32>>,
        tensor<5x7xcomplex<f32>>,
        tensor<5x7xcomplex<f32>>,
        tensor<5x7xcomplex<f32>>,
        tensor<5x7xcomplex<f32>>,
        tensor<70x5xcomplex<f32>>,
        tensor<70x5xcomplex<f32>>,
        tensor<70x5xcomplex<f32>>,
        tensor<70x5xcomplex<f32>>,
        tensor<70x5xcomplex<f32>>,
        tensor<70x5xcomplex<f32>>,
        tensor<5x70xcomplex<f32>>,
        tensor<5x70xcomplex<f32>>,
        tensor<5x70xcomplex<f32>>,
        tensor<5x70xcomplex<f32>>,
        tensor<5x70xcomplex<f32>>,
        tensor<5x70xcomplex<f32>>,
        tensor<7x5xcomplex<f64>>,
        tensor<7x5xcomplex<f64>>,
        tensor<7x5xcomplex<f64>>,
        tensor<7x5xcomplex<f64>>,
        tensor<7x5xcomplex<f64>>,
        tensor<7x5xcomplex<f64>>,
        tensor<5x7xcomplex<f64>>,
        tensor<5x7xcomplex<f64>>,
        tensor<5x7xcomplex<f64>>,
        tensor<5x7xcomplex<f64>>,
        tensor<5x7xcomplex<f64>>,
        tensor<5x7xcomplex<f64>>,
        tensor<70x5xcomplex<f64>>,
        tensor<70x5xcomplex<f64>>,
        tensor<70x5xcomplex<f64>>,
        tensor<70x5xcomplex<f64>>,
        tensor<70x5xcomplex<f64>>,
        tensor<70x5xcomplex<f64>>,
        tensor<5x70xcomplex<f64>>,
        tensor<5x70xcomplex<f64>>,
        tensor<5x70xcomplex<f64>>,
        tensor<5x70xcomplex<f64>>,
        tensor<5x70xcomplex<f64>>,
        tensor<5x70xcomplex<f64>>
}
