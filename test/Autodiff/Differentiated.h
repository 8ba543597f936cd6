// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs to differentiate, made of an expression each.
#pragma once

#include "../Interpreter/HostValues.h"

#include "meshloom/Autodiff/Autodiff.h"
#include "meshloom/Interpreter/Interpreter.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

#include <fmt/format.h>

namespace meshloom {

/// An expression `%r` of arguments %a, %b, %c, all of f64.
struct Case {
  std::string name;
  std::vector<Shape> shapes;
  std::string body; ///< ends by defining %r
  Shape result;
  double low = -1, high = 1; ///< where the arguments lie
  bool second = true;        ///< smooth enough for second derivatives
};
// gtest prints it by this in the names of failing tests.
inline void PrintTo(const Case &test, std::ostream *out) {
  *out << test.name;
}

inline std::string typeText(const Shape &shape) {
  std::string text = "tensor<";
  for (int64_t extent : shape)
    text += fmt::format("{}x", extent);
  return text + "f64>";
}

inline std::string dimsText(size_t rank) {
  std::string text = "[";
  for (size_t d = 0; d < rank; ++d)
    text += fmt::format("{}{}", d ? ", " : "", d);
  return text + "]";
}

/// loss = sum of %r * %weight; %weight, and one direction per argument, are
/// further arguments.
inline std::string program(const Case &test) {
  std::string arguments;
  for (size_t i = 0; i < test.shapes.size(); ++i)
    arguments +=
        fmt::format("%{}: {}, ", char('a' + i), typeText(test.shapes[i]));
  for (size_t i = 0; i < test.shapes.size(); ++i)
    arguments += fmt::format("%d{}: {}, ", i, typeText(test.shapes[i]));
  std::string type = typeText(test.result);
  return fmt::format(
      "func.func @main({}%weight: {}) -> tensor<f64> {{\n{}\n"
      "%p = dtensor.multiply %r, %weight : {}\n"
      "%loss = dtensor.reduce sum %p dims {} : ({}) -> tensor<f64>\n"
      "return %loss : tensor<f64>\n}}",
      arguments, type, test.body, type, dimsText(test.result.size()), type);
}

class Differentiated {
public:
  explicit Differentiated(const std::string &text) {
    mlir::DialectRegistry registry;
    registry.insert<dtensor::DTensorDialect, mlir::func::FuncDialect>();
    registerGradients(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    module = mlir::parseSourceString<ModuleOp>(text, &context);
  }

  mlir::func::FuncOp function() {
    return *module->getOps<mlir::func::FuncOp>().begin();
  }
  Operation *terminator() {
    return function().getBody().back().getTerminator();
  }

  void setResults(ValueRange results) {
    terminator()->setOperands(results);
    function().setType(mlir::FunctionType::get(
        &context, function().getArgumentTypes(), results.getTypes()));
    ASSERT_TRUE(succeeded(mlir::verify(*module)));
  }

  /// Gradients of the one result with respect to the first `count` arguments.
  SmallVector<Value> differentiate(size_t count) {
    OpBuilder builder(terminator());
    auto gradients =
        buildGradients(builder, terminator()->getOperand(0), {},
                       function().getArguments().take_front(count));
    EXPECT_TRUE(gradients) << gradients.error().message();
    return gradients ? *gradients : SmallVector<Value>(count);
  }

  std::vector<HostValue> run(const std::vector<HostValue> &inputs) {
    auto results = interpret(*module, "", inputs);
    EXPECT_TRUE(results) << results.error().message();
    return results ? *results : std::vector<HostValue>();
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

} // namespace meshloom
