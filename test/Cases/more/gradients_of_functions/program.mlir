module @jit_gradients_of_functions attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=8]> {stablehlo.mesh = {axes = [{name = "x", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<64xf32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<64xf32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<64xf32> {jax.result_info = "result[2]", sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<64xf32> {jax.result_info = "result[3]", sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<64xf32> {jax.result_info = "result[4]", sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<64xf32> {jax.result_info = "result[5]", sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
    %0 = stablehlo.abs %arg0 : tensor<64xf32>
    %cst = stablehlo.constant dense<2.000000e-01> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %2 = stablehlo.add %0, %1 : tensor<64xf32>
    %3 = chlo.digamma %2 : tensor<64xf32> -> tensor<64xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %5 = stablehlo.multiply %4, %3 : tensor<64xf32>
    %6 = stablehlo.abs %arg0 : tensor<64xf32>
    %cst_1 = stablehlo.constant dense<2.000000e-01> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %8 = stablehlo.add %6, %7 : tensor<64xf32>
    %9 = chlo.square %8 : tensor<64xf32> -> tensor<64xf32>
    %10 = stablehlo.negate %9 : tensor<64xf32>
    %11 = stablehlo.exponential %10 : tensor<64xf32>
    %cst_2 = stablehlo.constant dense<-1.12837923> : tensor<f32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %12 = stablehlo.multiply %cst_2, %cst_3 : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %14 = stablehlo.multiply %13, %11 : tensor<64xf32>
    %15 = stablehlo.abs %arg0 : tensor<64xf32>
    %cst_4 = stablehlo.constant dense<2.000000e-01> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %17 = stablehlo.add %15, %16 : tensor<64xf32>
    %18 = chlo.bessel_i1e %17 : tensor<64xf32> -> tensor<64xf32>
    %19 = stablehlo.abs %17 : tensor<64xf32>
    %cst_5 = stablehlo.constant dense<1.1920929E-7> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %21 = stablehlo.compare GT, %19, %20, FLOAT : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xi1>
    %cst_6 = stablehlo.constant dense<1.1920929E-7> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %23 = stablehlo.select %21, %17, %22 : tensor<64xi1>, tensor<64xf32>
    %24 = stablehlo.abs %23 : tensor<64xf32>
    %cst_7 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %cst_8 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %cst_9 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %27 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %28 = stablehlo.multiply %25, %24 : tensor<64xf32>
    %29 = stablehlo.subtract %28, %26 : tensor<64xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %31 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %32 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %33 = stablehlo.multiply %29, %30 : tensor<64xf32>
    %34 = stablehlo.subtract %33, %31 : tensor<64xf32>
    %cst_13 = stablehlo.constant dense<-1.30002498E-8> : tensor<f32>
    %35 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %36 = stablehlo.add %34, %35 : tensor<64xf32>
    %37 = stablehlo.multiply %29, %36 : tensor<64xf32>
    %38 = stablehlo.subtract %37, %30 : tensor<64xf32>
    %cst_14 = stablehlo.constant dense<6.04699508E-8> : tensor<f32>
    %39 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %40 = stablehlo.add %38, %39 : tensor<64xf32>
    %41 = stablehlo.multiply %29, %40 : tensor<64xf32>
    %42 = stablehlo.subtract %41, %36 : tensor<64xf32>
    %cst_15 = stablehlo.constant dense<-2.67079372E-7> : tensor<f32>
    %43 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %44 = stablehlo.add %42, %43 : tensor<64xf32>
    %45 = stablehlo.multiply %29, %44 : tensor<64xf32>
    %46 = stablehlo.subtract %45, %40 : tensor<64xf32>
    %cst_16 = stablehlo.constant dense<1.11738757E-6> : tensor<f32>
    %47 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %48 = stablehlo.add %46, %47 : tensor<64xf32>
    %49 = stablehlo.multiply %29, %48 : tensor<64xf32>
    %50 = stablehlo.subtract %49, %44 : tensor<64xf32>
    %cst_17 = stablehlo.constant dense<-4.41673819E-6> : tensor<f32>
    %51 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %52 = stablehlo.add %50, %51 : tensor<64xf32>
    %53 = stablehlo.multiply %29, %52 : tensor<64xf32>
    %54 = stablehlo.subtract %53, %48 : tensor<64xf32>
    %cst_18 = stablehlo.constant dense<1.64484482E-5> : tensor<f32>
    %55 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %56 = stablehlo.add %54, %55 : tensor<64xf32>
    %57 = stablehlo.multiply %29, %56 : tensor<64xf32>
    %58 = stablehlo.subtract %57, %52 : tensor<64xf32>
    %cst_19 = stablehlo.constant dense<-5.75419508E-5> : tensor<f32>
    %59 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %60 = stablehlo.add %58, %59 : tensor<64xf32>
    %61 = stablehlo.multiply %29, %60 : tensor<64xf32>
    %62 = stablehlo.subtract %61, %56 : tensor<64xf32>
    %cst_20 = stablehlo.constant dense<1.88502891E-4> : tensor<f32>
    %63 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %64 = stablehlo.add %62, %63 : tensor<64xf32>
    %65 = stablehlo.multiply %29, %64 : tensor<64xf32>
    %66 = stablehlo.subtract %65, %60 : tensor<64xf32>
    %cst_21 = stablehlo.constant dense<-5.76375576E-4> : tensor<f32>
    %67 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %68 = stablehlo.add %66, %67 : tensor<64xf32>
    %69 = stablehlo.multiply %29, %68 : tensor<64xf32>
    %70 = stablehlo.subtract %69, %64 : tensor<64xf32>
    %cst_22 = stablehlo.constant dense<0.00163947558> : tensor<f32>
    %71 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %72 = stablehlo.add %70, %71 : tensor<64xf32>
    %73 = stablehlo.multiply %29, %72 : tensor<64xf32>
    %74 = stablehlo.subtract %73, %68 : tensor<64xf32>
    %cst_23 = stablehlo.constant dense<-4.324310e-03> : tensor<f32>
    %75 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %76 = stablehlo.add %74, %75 : tensor<64xf32>
    %77 = stablehlo.multiply %29, %76 : tensor<64xf32>
    %78 = stablehlo.subtract %77, %72 : tensor<64xf32>
    %cst_24 = stablehlo.constant dense<0.0105464607> : tensor<f32>
    %79 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %80 = stablehlo.add %78, %79 : tensor<64xf32>
    %81 = stablehlo.multiply %29, %80 : tensor<64xf32>
    %82 = stablehlo.subtract %81, %76 : tensor<64xf32>
    %cst_25 = stablehlo.constant dense<-0.0237374157> : tensor<f32>
    %83 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %84 = stablehlo.add %82, %83 : tensor<64xf32>
    %85 = stablehlo.multiply %29, %84 : tensor<64xf32>
    %86 = stablehlo.subtract %85, %80 : tensor<64xf32>
    %cst_26 = stablehlo.constant dense<0.0493052825> : tensor<f32>
    %87 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %88 = stablehlo.add %86, %87 : tensor<64xf32>
    %89 = stablehlo.multiply %29, %88 : tensor<64xf32>
    %90 = stablehlo.subtract %89, %84 : tensor<64xf32>
    %cst_27 = stablehlo.constant dense<-9.490110e-02> : tensor<f32>
    %91 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %92 = stablehlo.add %90, %91 : tensor<64xf32>
    %93 = stablehlo.multiply %29, %92 : tensor<64xf32>
    %94 = stablehlo.subtract %93, %88 : tensor<64xf32>
    %cst_28 = stablehlo.constant dense<0.171620905> : tensor<f32>
    %95 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %96 = stablehlo.add %94, %95 : tensor<64xf32>
    %97 = stablehlo.multiply %29, %96 : tensor<64xf32>
    %98 = stablehlo.subtract %97, %92 : tensor<64xf32>
    %cst_29 = stablehlo.constant dense<-0.304682672> : tensor<f32>
    %99 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %100 = stablehlo.add %98, %99 : tensor<64xf32>
    %101 = stablehlo.multiply %29, %100 : tensor<64xf32>
    %102 = stablehlo.subtract %101, %96 : tensor<64xf32>
    %cst_30 = stablehlo.constant dense<0.676795303> : tensor<f32>
    %103 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %104 = stablehlo.add %102, %103 : tensor<64xf32>
    %105 = stablehlo.subtract %104, %96 : tensor<64xf32>
    %cst_31 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %106 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %107 = stablehlo.multiply %106, %105 : tensor<64xf32>
    %108 = stablehlo.divide %27, %24 : tensor<64xf32>
    %109 = stablehlo.subtract %108, %26 : tensor<64xf32>
    %cst_32 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %110 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %cst_33 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %111 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %cst_34 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %112 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %113 = stablehlo.multiply %109, %110 : tensor<64xf32>
    %114 = stablehlo.subtract %113, %111 : tensor<64xf32>
    %cst_35 = stablehlo.constant dense<3.39623196E-9> : tensor<f32>
    %115 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %116 = stablehlo.add %114, %115 : tensor<64xf32>
    %117 = stablehlo.multiply %109, %116 : tensor<64xf32>
    %118 = stablehlo.subtract %117, %110 : tensor<64xf32>
    %cst_36 = stablehlo.constant dense<2.26666899E-8> : tensor<f32>
    %119 = stablehlo.broadcast_in_dim %cst_36, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %120 = stablehlo.add %118, %119 : tensor<64xf32>
    %121 = stablehlo.multiply %109, %120 : tensor<64xf32>
    %122 = stablehlo.subtract %121, %116 : tensor<64xf32>
    %cst_37 = stablehlo.constant dense<2.04891862E-7> : tensor<f32>
    %123 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %124 = stablehlo.add %122, %123 : tensor<64xf32>
    %125 = stablehlo.multiply %109, %124 : tensor<64xf32>
    %126 = stablehlo.subtract %125, %120 : tensor<64xf32>
    %cst_38 = stablehlo.constant dense<2.89137051E-6> : tensor<f32>
    %127 = stablehlo.broadcast_in_dim %cst_38, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %128 = stablehlo.add %126, %127 : tensor<64xf32>
    %129 = stablehlo.multiply %109, %128 : tensor<64xf32>
    %130 = stablehlo.subtract %129, %124 : tensor<64xf32>
    %cst_39 = stablehlo.constant dense<6.88975852E-5> : tensor<f32>
    %131 = stablehlo.broadcast_in_dim %cst_39, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %132 = stablehlo.add %130, %131 : tensor<64xf32>
    %133 = stablehlo.multiply %109, %132 : tensor<64xf32>
    %134 = stablehlo.subtract %133, %128 : tensor<64xf32>
    %cst_40 = stablehlo.constant dense<0.00336911646> : tensor<f32>
    %135 = stablehlo.broadcast_in_dim %cst_40, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %136 = stablehlo.add %134, %135 : tensor<64xf32>
    %137 = stablehlo.multiply %109, %136 : tensor<64xf32>
    %138 = stablehlo.subtract %137, %132 : tensor<64xf32>
    %cst_41 = stablehlo.constant dense<0.804490387> : tensor<f32>
    %139 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %140 = stablehlo.add %138, %139 : tensor<64xf32>
    %141 = stablehlo.subtract %140, %132 : tensor<64xf32>
    %cst_42 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %142 = stablehlo.broadcast_in_dim %cst_42, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %143 = stablehlo.multiply %142, %141 : tensor<64xf32>
    %144 = stablehlo.sqrt %24 : tensor<64xf32>
    %145 = stablehlo.divide %143, %144 : tensor<64xf32>
    %cst_43 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %146 = stablehlo.broadcast_in_dim %cst_43, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %147 = stablehlo.compare LE, %24, %146, FLOAT : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xi1>
    %148 = stablehlo.select %147, %107, %145 : tensor<64xi1>, tensor<64xf32>
    %149 = stablehlo.sign %23 : tensor<64xf32>
    %cst_44 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %150 = stablehlo.broadcast_in_dim %cst_44, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %151 = stablehlo.divide %150, %23 : tensor<64xf32>
    %152 = stablehlo.add %149, %151 : tensor<64xf32>
    %153 = stablehlo.multiply %18, %152 : tensor<64xf32>
    %154 = stablehlo.subtract %148, %153 : tensor<64xf32>
    %cst_45 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %155 = stablehlo.broadcast_in_dim %cst_45, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %156 = stablehlo.select %21, %154, %155 : tensor<64xi1>, tensor<64xf32>
    %cst_46 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %157 = stablehlo.broadcast_in_dim %cst_46, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %158 = stablehlo.multiply %157, %156 : tensor<64xf32>
    %159 = stablehlo.abs %arg0 : tensor<64xf32>
    %cst_47 = stablehlo.constant dense<2.000000e-01> : tensor<f32>
    %160 = stablehlo.broadcast_in_dim %cst_47, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %161 = stablehlo.add %159, %160 : tensor<64xf32>
    %162 = chlo.cosh %161 : tensor<64xf32> -> tensor<64xf32>
    %cst_48 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %163 = stablehlo.broadcast_in_dim %cst_48, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %164 = stablehlo.multiply %163, %162 : tensor<64xf32>
    %165 = stablehlo.abs %arg0 : tensor<64xf32>
    %cst_49 = stablehlo.constant dense<2.000000e-01> : tensor<f32>
    %166 = stablehlo.broadcast_in_dim %cst_49, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %167 = stablehlo.add %165, %166 : tensor<64xf32>
    %168 = chlo.square %167 : tensor<64xf32> -> tensor<64xf32>
    %cst_50 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %169 = stablehlo.broadcast_in_dim %cst_50, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %170 = stablehlo.add %168, %169 : tensor<64xf32>
    %171 = stablehlo.rsqrt %170 : tensor<64xf32>
    %cst_51 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %172 = stablehlo.broadcast_in_dim %cst_51, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %173 = stablehlo.multiply %172, %171 : tensor<64xf32>
    %174 = stablehlo.abs %arg0 : tensor<64xf32>
    %cst_52 = stablehlo.constant dense<2.000000e-01> : tensor<f32>
    %175 = stablehlo.broadcast_in_dim %cst_52, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %176 = stablehlo.add %174, %175 : tensor<64xf32>
    %177 = stablehlo.tanh %176 : tensor<64xf32>
    %cst_53 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %178 = stablehlo.broadcast_in_dim %cst_53, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %179 = stablehlo.subtract %178, %177 : tensor<64xf32>
    %180 = chlo.erf_inv %177 : tensor<64xf32> -> tensor<64xf32>
    %181 = chlo.square %180 : tensor<64xf32> -> tensor<64xf32>
    %182 = stablehlo.exponential %181 : tensor<64xf32>
    %cst_54 = stablehlo.constant dense<0.886226952> : tensor<f32>
    %cst_55 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %183 = stablehlo.multiply %cst_54, %cst_55 : tensor<f32>
    %184 = stablehlo.broadcast_in_dim %183, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %185 = stablehlo.multiply %184, %182 : tensor<64xf32>
    %186 = stablehlo.multiply %185, %179 : tensor<64xf32>
    %187 = stablehlo.multiply %186, %177 : tensor<64xf32>
    %188 = stablehlo.add %186, %187 : tensor<64xf32>
    return %5, %14, %158, %164, %173, %188 : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
  }
}
