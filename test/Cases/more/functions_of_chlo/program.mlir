module @jit_functions_of_chlo attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=8]> {stablehlo.mesh = {axes = [{name = "x", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<64x19xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
    %0 = stablehlo.abs %arg0 : tensor<64xf32>
    %cst = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %2 = stablehlo.add %0, %1 : tensor<64xf32>
    %3 = stablehlo.tanh %arg0 : tensor<64xf32>
    %4 = chlo.lgamma %2 : tensor<64xf32> -> tensor<64xf32>
    %5 = chlo.digamma %2 : tensor<64xf32> -> tensor<64xf32>
    %6 = chlo.erfc %arg0 : tensor<64xf32> -> tensor<64xf32>
    %7 = chlo.erf_inv %3 : tensor<64xf32> -> tensor<64xf32>
    %8 = chlo.bessel_i1e %arg0 : tensor<64xf32> -> tensor<64xf32>
    %9 = chlo.sinh %arg0 : tensor<64xf32> -> tensor<64xf32>
    %10 = chlo.cosh %arg0 : tensor<64xf32> -> tensor<64xf32>
    %11 = chlo.asin %3 : tensor<64xf32> -> tensor<64xf32>
    %12 = chlo.acos %3 : tensor<64xf32> -> tensor<64xf32>
    %13 = chlo.atan %arg0 : tensor<64xf32> -> tensor<64xf32>
    %14 = chlo.asinh %arg0 : tensor<64xf32> -> tensor<64xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %16 = stablehlo.add %2, %15 : tensor<64xf32>
    %17 = call @arccosh(%16) : (tensor<64xf32>) -> tensor<64xf32>
    %18 = chlo.atanh %3 : tensor<64xf32> -> tensor<64xf32>
    %cst_1 = stablehlo.constant dense<1.500000e+00> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %20 = stablehlo.add %2, %19 : tensor<64xf32>
    %21 = chlo.zeta %20, %2 : tensor<64xf32>, tensor<64xf32> -> tensor<64xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %23 = stablehlo.add %2, %22 : tensor<64xf32>
    %cst_3 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %25 = chlo.polygamma %24, %23 : tensor<64xf32>, tensor<64xf32> -> tensor<64xf32>
    %26 = chlo.lgamma %arg0 : tensor<64xf32> -> tensor<64xf32>
    %27 = chlo.digamma %arg0 : tensor<64xf32> -> tensor<64xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %29 = chlo.next_after %arg0, %28 : tensor<64xf32>, tensor<64xf32> -> tensor<64xf32>
    %30 = stablehlo.abs %3 : tensor<64xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %31 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %32 = stablehlo.compare EQ, %2, %31, FLOAT : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xi1>
    %cst_6 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %33 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %34 = stablehlo.compare EQ, %2, %33, FLOAT : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xi1>
    %35 = stablehlo.or %32, %34 : tensor<64xi1>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %36 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %37 = stablehlo.compare EQ, %2, %36, FLOAT : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xi1>
    %cst_8 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %38 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %39 = stablehlo.compare EQ, %2, %38, FLOAT : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xi1>
    %40 = stablehlo.or %37, %39 : tensor<64xi1>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %41 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %42 = stablehlo.compare EQ, %30, %41, FLOAT : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xi1>
    %cst_10 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %43 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %44 = stablehlo.compare EQ, %30, %43, FLOAT : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xi1>
    %45 = stablehlo.not %42 : tensor<64xi1>
    %46 = stablehlo.not %44 : tensor<64xi1>
    %47 = stablehlo.compare NE, %2, %2, FLOAT : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xi1>
    %48 = stablehlo.compare NE, %2, %2, FLOAT : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xi1>
    %49 = stablehlo.or %47, %48 : tensor<64xi1>
    %50 = stablehlo.compare NE, %30, %30, FLOAT : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xi1>
    %51 = stablehlo.or %49, %50 : tensor<64xi1>
    %52 = stablehlo.and %40, %46 : tensor<64xi1>
    %53 = stablehlo.and %35, %42 : tensor<64xi1>
    %54 = stablehlo.or %52, %53 : tensor<64xi1>
    %55 = stablehlo.and %35, %45 : tensor<64xi1>
    %56 = stablehlo.and %40, %44 : tensor<64xi1>
    %57 = stablehlo.or %55, %56 : tensor<64xi1>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %58 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %59 = stablehlo.compare LT, %2, %58, FLOAT : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xi1>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %60 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %61 = stablehlo.compare LT, %2, %60, FLOAT : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xi1>
    %62 = stablehlo.or %59, %61 : tensor<64xi1>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %63 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %64 = stablehlo.compare LT, %30, %63, FLOAT : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xi1>
    %65 = stablehlo.or %62, %64 : tensor<64xi1>
    %cst_14 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %66 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %67 = stablehlo.compare GT, %30, %66, FLOAT : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xi1>
    %68 = stablehlo.or %65, %67 : tensor<64xi1>
    %69 = stablehlo.and %35, %40 : tensor<64xi1>
    %70 = stablehlo.or %69, %51 : tensor<64xi1>
    %71 = stablehlo.or %68, %70 : tensor<64xi1>
    %cst_15 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %72 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %73 = stablehlo.add %2, %72 : tensor<64xf32>
    %74 = stablehlo.add %2, %2 : tensor<64xf32>
    %cst_16 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %75 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %76 = stablehlo.add %74, %75 : tensor<64xf32>
    %77 = stablehlo.divide %73, %76 : tensor<64xf32>
    %78 = stablehlo.compare LT, %30, %77, FLOAT : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xi1>
    %79 = stablehlo.select %78, %2, %2 : tensor<64xi1>, tensor<64xf32>
    %80 = stablehlo.select %78, %2, %2 : tensor<64xi1>, tensor<64xf32>
    %cst_17 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %81 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %82 = stablehlo.subtract %81, %30 : tensor<64xf32>
    %83 = stablehlo.select %78, %30, %82 : tensor<64xi1>, tensor<64xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %84 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<64xi32>
    %c_18 = stablehlo.constant dense<0> : tensor<i32>
    %85 = stablehlo.broadcast_in_dim %c_18, dims = [] : (tensor<i32>) -> tensor<64xi32>
    %86 = stablehlo.compare EQ, %84, %85, SIGNED : (tensor<64xi32>, tensor<64xi32>) -> tensor<64xi1>
    %cst_19 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %87 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %cst_20 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %88 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %89 = stablehlo.select %86, %87, %88 : tensor<64xi1>, tensor<64xf32>
    %90 = stablehlo.abs %89 : tensor<64xf32>
    %cst_21 = stablehlo.constant dense<5.96046448E-8> : tensor<f32>
    %91 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %92 = stablehlo.compare LT, %90, %91, FLOAT : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xi1>
    %cst_22 = stablehlo.constant dense<5.96046448E-8> : tensor<f32>
    %93 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %94 = stablehlo.select %92, %93, %89 : tensor<64xi1>, tensor<64xf32>
    %cst_23 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %95 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %c_24 = stablehlo.constant dense<1> : tensor<i32>
    %c_25 = stablehlo.constant dense<true> : tensor<i1>
    %96:8 = stablehlo.while(%iterArg = %79, %iterArg_31 = %80, %iterArg_32 = %83, %iterArg_33 = %c_24, %iterArg_34 = %c_25, %iterArg_35 = %94, %iterArg_36 = %95, %iterArg_37 = %94) : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<i32>, tensor<i1>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
    cond {
      %c_38 = stablehlo.constant dense<200> : tensor<i32>
      %152 = stablehlo.compare LT, %iterArg_33, %c_38, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %153 = stablehlo.and %152, %iterArg_34 : tensor<i1>
      stablehlo.return %153 : tensor<i1>
    } do {
      %152 = stablehlo.broadcast_in_dim %iterArg_33, dims = [] : (tensor<i32>) -> tensor<64xi32>
      %c_38 = stablehlo.constant dense<2> : tensor<i32>
      %153 = stablehlo.broadcast_in_dim %c_38, dims = [] : (tensor<i32>) -> tensor<64xi32>
      %154 = func.call @remainder(%152, %153) : (tensor<64xi32>, tensor<64xi32>) -> tensor<64xi32>
      %c_39 = stablehlo.constant dense<0> : tensor<i32>
      %155 = stablehlo.broadcast_in_dim %c_39, dims = [] : (tensor<i32>) -> tensor<64xi32>
      %156 = stablehlo.compare EQ, %154, %155, SIGNED : (tensor<64xi32>, tensor<64xi32>) -> tensor<64xi1>
      %c_40 = stablehlo.constant dense<1> : tensor<i32>
      %157 = stablehlo.broadcast_in_dim %c_40, dims = [] : (tensor<i32>) -> tensor<64xi32>
      %158 = stablehlo.compare EQ, %152, %157, SIGNED : (tensor<64xi32>, tensor<64xi32>) -> tensor<64xi1>
      %c_41 = stablehlo.constant dense<1> : tensor<i32>
      %159 = stablehlo.broadcast_in_dim %c_41, dims = [] : (tensor<i32>) -> tensor<64xi32>
      %160 = stablehlo.subtract %152, %159 : tensor<64xi32>
      %c_42 = stablehlo.constant dense<2> : tensor<i32>
      %161 = stablehlo.broadcast_in_dim %c_42, dims = [] : (tensor<i32>) -> tensor<64xi32>
      %162 = func.call @floor_divide(%160, %161) : (tensor<64xi32>, tensor<64xi32>) -> tensor<64xi32>
      %c_43 = stablehlo.constant dense<0> : tensor<i32>
      %163 = stablehlo.broadcast_in_dim %c_43, dims = [] : (tensor<i32>) -> tensor<64xi32>
      %164 = stablehlo.compare EQ, %162, %163, SIGNED : (tensor<64xi32>, tensor<64xi32>) -> tensor<64xi1>
      %165 = stablehlo.convert %162 : (tensor<64xi32>) -> tensor<64xf32>
      %cst_44 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %166 = stablehlo.broadcast_in_dim %cst_44, dims = [] : (tensor<f32>) -> tensor<64xf32>
      %cst_45 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %167 = stablehlo.broadcast_in_dim %cst_45, dims = [] : (tensor<f32>) -> tensor<64xf32>
      %168 = stablehlo.add %iterArg, %iterArg_31 : tensor<64xf32>
      %169 = stablehlo.negate %168 : tensor<64xf32>
      %170 = stablehlo.multiply %169, %iterArg_32 : tensor<64xf32>
      %171 = stablehlo.add %iterArg, %166 : tensor<64xf32>
      %172 = stablehlo.divide %170, %171 : tensor<64xf32>
      %173 = stablehlo.add %iterArg, %165 : tensor<64xf32>
      %174 = stablehlo.negate %173 : tensor<64xf32>
      %175 = stablehlo.add %iterArg, %iterArg_31 : tensor<64xf32>
      %176 = stablehlo.add %175, %165 : tensor<64xf32>
      %177 = stablehlo.multiply %174, %176 : tensor<64xf32>
      %178 = stablehlo.multiply %177, %iterArg_32 : tensor<64xf32>
      %179 = stablehlo.multiply %167, %165 : tensor<64xf32>
      %180 = stablehlo.add %iterArg, %179 : tensor<64xf32>
      %181 = stablehlo.multiply %167, %165 : tensor<64xf32>
      %182 = stablehlo.add %iterArg, %181 : tensor<64xf32>
      %183 = stablehlo.add %182, %166 : tensor<64xf32>
      %184 = stablehlo.multiply %180, %183 : tensor<64xf32>
      %185 = stablehlo.divide %178, %184 : tensor<64xf32>
      %186 = stablehlo.select %164, %172, %185 : tensor<64xi1>, tensor<64xf32>
      %187 = stablehlo.subtract %iterArg_31, %165 : tensor<64xf32>
      %188 = stablehlo.multiply %165, %187 : tensor<64xf32>
      %189 = stablehlo.multiply %188, %iterArg_32 : tensor<64xf32>
      %190 = stablehlo.multiply %167, %165 : tensor<64xf32>
      %191 = stablehlo.add %iterArg, %190 : tensor<64xf32>
      %192 = stablehlo.subtract %191, %166 : tensor<64xf32>
      %193 = stablehlo.multiply %167, %165 : tensor<64xf32>
      %194 = stablehlo.add %iterArg, %193 : tensor<64xf32>
      %195 = stablehlo.multiply %192, %194 : tensor<64xf32>
      %196 = stablehlo.divide %189, %195 : tensor<64xf32>
      %cst_46 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %197 = stablehlo.broadcast_in_dim %cst_46, dims = [] : (tensor<f32>) -> tensor<64xf32>
      %198 = stablehlo.select %156, %186, %196 : tensor<64xi1>, tensor<64xf32>
      %199 = stablehlo.select %158, %197, %198 : tensor<64xi1>, tensor<64xf32>
      %200 = stablehlo.broadcast_in_dim %iterArg_33, dims = [] : (tensor<i32>) -> tensor<64xi32>
      %c_47 = stablehlo.constant dense<0> : tensor<i32>
      %201 = stablehlo.broadcast_in_dim %c_47, dims = [] : (tensor<i32>) -> tensor<64xi32>
      %202 = stablehlo.compare EQ, %200, %201, SIGNED : (tensor<64xi32>, tensor<64xi32>) -> tensor<64xi1>
      %cst_48 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %203 = stablehlo.broadcast_in_dim %cst_48, dims = [] : (tensor<f32>) -> tensor<64xf32>
      %cst_49 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %204 = stablehlo.broadcast_in_dim %cst_49, dims = [] : (tensor<f32>) -> tensor<64xf32>
      %205 = stablehlo.select %202, %203, %204 : tensor<64xi1>, tensor<64xf32>
      %206 = stablehlo.divide %199, %iterArg_35 : tensor<64xf32>
      %207 = stablehlo.add %205, %206 : tensor<64xf32>
      %cst_50 = stablehlo.constant dense<5.96046448E-8> : tensor<f32>
      %208 = stablehlo.broadcast_in_dim %cst_50, dims = [] : (tensor<f32>) -> tensor<64xf32>
      %209 = stablehlo.abs %207 : tensor<64xf32>
      %210 = stablehlo.compare LT, %209, %208, FLOAT : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xi1>
      %211 = stablehlo.select %210, %208, %207 : tensor<64xi1>, tensor<64xf32>
      %212 = stablehlo.multiply %199, %iterArg_36 : tensor<64xf32>
      %213 = stablehlo.add %205, %212 : tensor<64xf32>
      %214 = stablehlo.abs %213 : tensor<64xf32>
      %215 = stablehlo.compare LT, %214, %208, FLOAT : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xi1>
      %216 = stablehlo.select %215, %208, %213 : tensor<64xi1>, tensor<64xf32>
      %cst_51 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %217 = stablehlo.broadcast_in_dim %cst_51, dims = [] : (tensor<f32>) -> tensor<64xf32>
      %218 = stablehlo.divide %217, %216 : tensor<64xf32>
      %219 = stablehlo.multiply %211, %218 : tensor<64xf32>
      %220 = stablehlo.multiply %iterArg_37, %219 : tensor<64xf32>
      %c_52 = stablehlo.constant dense<1> : tensor<i32>
      %221 = stablehlo.add %iterArg_33, %c_52 : tensor<i32>
      %cst_53 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %222 = stablehlo.broadcast_in_dim %cst_53, dims = [] : (tensor<f32>) -> tensor<64xf32>
      %223 = stablehlo.subtract %219, %222 : tensor<64xf32>
      %224 = stablehlo.abs %223 : tensor<64xf32>
      %cst_54 = stablehlo.constant dense<5.96046448E-8> : tensor<f32>
      %225 = stablehlo.broadcast_in_dim %cst_54, dims = [] : (tensor<f32>) -> tensor<64xf32>
      %226 = stablehlo.compare GE, %224, %225, FLOAT : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xi1>
      %c_55 = stablehlo.constant dense<false> : tensor<i1>
      %227 = stablehlo.reduce(%226 init: %c_55) applies stablehlo.or across dimensions = [0] : (tensor<64xi1>, tensor<i1>) -> tensor<i1>
      stablehlo.return %iterArg, %iterArg_31, %iterArg_32, %221, %227, %211, %218, %220 : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<i32>, tensor<i1>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
    }
    %97 = chlo.lgamma %80 : tensor<64xf32> -> tensor<64xf32>
    %98 = stablehlo.add %79, %80 : tensor<64xf32>
    %99 = chlo.lgamma %98 : tensor<64xf32> -> tensor<64xf32>
    %100 = stablehlo.subtract %97, %99 : tensor<64xf32>
    %101 = chlo.lgamma %79 : tensor<64xf32> -> tensor<64xf32>
    %102 = stablehlo.add %101, %100 : tensor<64xf32>
    %cst_26 = stablehlo.constant dense<2.3509887E-38> : tensor<f32>
    %103 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %104 = stablehlo.compare LT, %79, %103, FLOAT : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xi1>
    %105 = stablehlo.negate %83 : tensor<64xf32>
    %106 = stablehlo.log_plus_one %105 : tensor<64xf32>
    %107 = stablehlo.multiply %106, %80 : tensor<64xf32>
    %108 = stablehlo.subtract %107, %100 : tensor<64xf32>
    %109 = stablehlo.exponential %108 : tensor<64xf32>
    %110 = stablehlo.log %83 : tensor<64xf32>
    %111 = stablehlo.multiply %110, %79 : tensor<64xf32>
    %112 = stablehlo.negate %83 : tensor<64xf32>
    %113 = stablehlo.log_plus_one %112 : tensor<64xf32>
    %114 = stablehlo.multiply %113, %80 : tensor<64xf32>
    %115 = stablehlo.add %111, %114 : tensor<64xf32>
    %116 = stablehlo.subtract %115, %102 : tensor<64xf32>
    %117 = stablehlo.exponential %116 : tensor<64xf32>
    %118 = stablehlo.divide %117, %79 : tensor<64xf32>
    %119 = stablehlo.select %104, %109, %118 : tensor<64xi1>, tensor<64xf32>
    %120 = stablehlo.multiply %96#7, %119 : tensor<64xf32>
    %cst_27 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %121 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %122 = stablehlo.subtract %121, %120 : tensor<64xf32>
    %123 = stablehlo.select %78, %120, %122 : tensor<64xi1>, tensor<64xf32>
    %cst_28 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %124 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %125 = stablehlo.select %54, %124, %123 : tensor<64xi1>, tensor<64xf32>
    %cst_29 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %126 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %127 = stablehlo.select %57, %126, %125 : tensor<64xi1>, tensor<64xf32>
    %cst_30 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %128 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %129 = stablehlo.select %71, %128, %127 : tensor<64xi1>, tensor<64xf32>
    %130 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<64xf32>) -> tensor<64x1xf32>
    %131 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<64xf32>) -> tensor<64x1xf32>
    %132 = stablehlo.broadcast_in_dim %6, dims = [0] : (tensor<64xf32>) -> tensor<64x1xf32>
    %133 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<64xf32>) -> tensor<64x1xf32>
    %134 = stablehlo.broadcast_in_dim %8, dims = [0] : (tensor<64xf32>) -> tensor<64x1xf32>
    %135 = stablehlo.broadcast_in_dim %9, dims = [0] : (tensor<64xf32>) -> tensor<64x1xf32>
    %136 = stablehlo.broadcast_in_dim %10, dims = [0] : (tensor<64xf32>) -> tensor<64x1xf32>
    %137 = stablehlo.broadcast_in_dim %11, dims = [0] : (tensor<64xf32>) -> tensor<64x1xf32>
    %138 = stablehlo.broadcast_in_dim %12, dims = [0] : (tensor<64xf32>) -> tensor<64x1xf32>
    %139 = stablehlo.broadcast_in_dim %13, dims = [0] : (tensor<64xf32>) -> tensor<64x1xf32>
    %140 = stablehlo.broadcast_in_dim %14, dims = [0] : (tensor<64xf32>) -> tensor<64x1xf32>
    %141 = stablehlo.broadcast_in_dim %17, dims = [0] : (tensor<64xf32>) -> tensor<64x1xf32>
    %142 = stablehlo.broadcast_in_dim %18, dims = [0] : (tensor<64xf32>) -> tensor<64x1xf32>
    %143 = stablehlo.broadcast_in_dim %21, dims = [0] : (tensor<64xf32>) -> tensor<64x1xf32>
    %144 = stablehlo.broadcast_in_dim %25, dims = [0] : (tensor<64xf32>) -> tensor<64x1xf32>
    %145 = stablehlo.broadcast_in_dim %26, dims = [0] : (tensor<64xf32>) -> tensor<64x1xf32>
    %146 = stablehlo.broadcast_in_dim %27, dims = [0] : (tensor<64xf32>) -> tensor<64x1xf32>
    %147 = stablehlo.broadcast_in_dim %29, dims = [0] : (tensor<64xf32>) -> tensor<64x1xf32>
    %148 = stablehlo.broadcast_in_dim %129, dims = [0] : (tensor<64xf32>) -> tensor<64x1xf32>
    %149 = stablehlo.concatenate %130, %131, %132, %133, %134, %135, %136, %137, %138, %139, %140, %141, %142, %143, %144, %145, dim = 1 : (tensor<64x1xf32>, tensor<64x1xf32>, tensor<64x1xf32>, tensor<64x1xf32>, tensor<64x1xf32>, tensor<64x1xf32>, tensor<64x1xf32>, tensor<64x1xf32>, tensor<64x1xf32>, tensor<64x1xf32>, tensor<64x1xf32>, tensor<64x1xf32>, tensor<64x1xf32>, tensor<64x1xf32>, tensor<64x1xf32>, tensor<64x1xf32>) -> tensor<64x16xf32>
    %150 = stablehlo.concatenate %146, %147, %148, dim = 1 : (tensor<64x1xf32>, tensor<64x1xf32>, tensor<64x1xf32>) -> tensor<64x3xf32>
    %151 = stablehlo.concatenate %149, %150, dim = 1 : (tensor<64x16xf32>, tensor<64x3xf32>) -> tensor<64x19xf32>
    return %151 : tensor<64x19xf32>
  }
  func.func private @arccosh(%arg0: tensor<64xf32>) -> tensor<64xf32> {
    %0 = chlo.acosh %arg0 : tensor<64xf32> -> tensor<64xf32>
    return %0 : tensor<64xf32>
  }
  func.func private @remainder(%arg0: tensor<64xi32>, %arg1: tensor<64xi32>) -> tensor<64xi32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<64xi32>
    %1 = stablehlo.compare EQ, %arg1, %0, SIGNED : (tensor<64xi32>, tensor<64xi32>) -> tensor<64xi1>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<64xi32>
    %3 = call @_where(%1, %2, %arg1) : (tensor<64xi1>, tensor<64xi32>, tensor<64xi32>) -> tensor<64xi32>
    %4 = stablehlo.remainder %arg0, %3 : tensor<64xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<64xi32>
    %6 = stablehlo.compare NE, %4, %5, SIGNED : (tensor<64xi32>, tensor<64xi32>) -> tensor<64xi1>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %7 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<64xi32>
    %8 = stablehlo.compare LT, %4, %7, SIGNED : (tensor<64xi32>, tensor<64xi32>) -> tensor<64xi1>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %9 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<64xi32>
    %10 = stablehlo.compare LT, %3, %9, SIGNED : (tensor<64xi32>, tensor<64xi32>) -> tensor<64xi1>
    %11 = stablehlo.compare NE, %8, %10, UNSIGNED : (tensor<64xi1>, tensor<64xi1>) -> tensor<64xi1>
    %12 = stablehlo.and %11, %6 : tensor<64xi1>
    %13 = stablehlo.add %4, %3 : tensor<64xi32>
    %14 = stablehlo.select %12, %13, %4 : tensor<64xi1>, tensor<64xi32>
    return %14 : tensor<64xi32>
  }
  func.func private @_where(%arg0: tensor<64xi1>, %arg1: tensor<64xi32>, %arg2: tensor<64xi32>) -> tensor<64xi32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<64xi1>, tensor<64xi32>
    return %0 : tensor<64xi32>
  }
  func.func private @floor_divide(%arg0: tensor<64xi32>, %arg1: tensor<64xi32>) -> tensor<64xi32> {
    %0 = stablehlo.divide %arg0, %arg1 : tensor<64xi32>
    %1 = stablehlo.sign %arg0 : tensor<64xi32>
    %2 = stablehlo.sign %arg1 : tensor<64xi32>
    %3 = stablehlo.compare NE, %1, %2, SIGNED : (tensor<64xi32>, tensor<64xi32>) -> tensor<64xi1>
    %4 = stablehlo.remainder %arg0, %arg1 : tensor<64xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<64xi32>
    %6 = stablehlo.compare NE, %4, %5, SIGNED : (tensor<64xi32>, tensor<64xi32>) -> tensor<64xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %7 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<64xi1>
    %8 = stablehlo.compare NE, %3, %7, UNSIGNED : (tensor<64xi1>, tensor<64xi1>) -> tensor<64xi1>
    %9 = stablehlo.convert %8 : tensor<64xi1>
    %c_1 = stablehlo.constant dense<false> : tensor<i1>
    %10 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i1>) -> tensor<64xi1>
    %11 = stablehlo.compare NE, %6, %10, UNSIGNED : (tensor<64xi1>, tensor<64xi1>) -> tensor<64xi1>
    %12 = stablehlo.convert %11 : tensor<64xi1>
    %13 = stablehlo.and %9, %12 : tensor<64xi1>
    %c_2 = stablehlo.constant dense<1> : tensor<i32>
    %14 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<64xi32>
    %15 = stablehlo.subtract %0, %14 : tensor<64xi32>
    %16 = call @_where_0(%13, %15, %0) : (tensor<64xi1>, tensor<64xi32>, tensor<64xi32>) -> tensor<64xi32>
    return %16 : tensor<64xi32>
  }
  func.func private @_where_0(%arg0: tensor<64xi1>, %arg1: tensor<64xi32>, %arg2: tensor<64xi32>) -> tensor<64xi32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<64xi1>, tensor<64xi32>
    return %0 : tensor<64xi32>
  }
}
