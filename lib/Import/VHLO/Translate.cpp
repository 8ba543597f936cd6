// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Translate.h"

#include "meshloom/Dialect/StableHLO/StableHLO.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace meshloom::vhlo {

namespace {

class Translator {
public:
  Translator(OpDescription &op, StringRef parent, MLIRContext *context,
             const ByteReader &reader)
      : op(op), parent(parent), builder(context), reader(reader) {}

  LogicalResult run();

private:
  Attribute take(StringRef name) { return op.attributes.erase(name); }
  /// The elements of a list of i64; none where there is no such attribute.
  SmallVector<int64_t> takeNumbers(StringRef name);
  int64_t takeNumber(StringRef name);
  StringAttr takeText(StringRef name);
  bool takeFlag(StringRef name);
  void malformed(StringRef name) {
    (void)reader.fail("the attribute '" + name + "' of " + op.name +
                      " is malformed");
    isMalformed = true;
  }
  void add(StringRef name, Attribute value) {
    op.attributes.append(name, value);
  }

  void translateFunction();
  void translateProduct();
  void translateGather();
  void translateScatter();
  void translateConvolution();
  void translateCustomCall();
  void translateChannel();
  void dropDefaults();
  void translateLists();

  OpDescription &op;
  const StringRef parent;
  mlir::Builder builder;
  const ByteReader &reader;
  bool isMalformed = false;
};

SmallVector<int64_t> Translator::takeNumbers(StringRef name) {
  Attribute value = take(name);
  if (!value)
    return {};
  auto list = dyn_cast<mlir::DenseIntElementsAttr>(value);
  if (!list || list.getType().getRank() != 1 ||
      !list.getElementType().isInteger(64)) {
    malformed(name);
    return {};
  }
  return SmallVector<int64_t>(list.getValues<int64_t>());
}

int64_t Translator::takeNumber(StringRef name) {
  auto number = dyn_cast_or_null<mlir::IntegerAttr>(take(name));
  if (number && number.getType().isInteger(64))
    return number.getInt();
  malformed(name);
  return 0;
}

StringAttr Translator::takeText(StringRef name) {
  auto text = dyn_cast_or_null<StringAttr>(take(name));
  if (text)
    return text;
  malformed(name);
  return builder.getStringAttr("");
}

bool Translator::takeFlag(StringRef name) {
  Attribute value = take(name);
  if (!value)
    return false;
  if (auto flag = dyn_cast<mlir::BoolAttr>(value))
    return flag.getValue();
  malformed(name);
  return false;
}

void Translator::translateFunction() {
  StringAttr visibility = takeText("sym_visibility");
  if (!visibility.empty())
    add("sym_visibility", visibility);
  for (StringRef name : {"arg_attrs", "res_attrs"}) {
    auto list = dyn_cast_or_null<mlir::ArrayAttr>(take(name));
    if (!list || !llvm::all_of(list, llvm::IsaPred<mlir::DictionaryAttr>))
      malformed(name);
    else if (!list.empty())
      add(name, list);
  }
}

void Translator::translateProduct() {
  const SmallVector<int64_t> lhsBatch = takeNumbers("lhs_batching_dimensions"),
                             rhsBatch = takeNumbers("rhs_batching_dimensions"),
                             lhs = takeNumbers("lhs_contracting_dimensions"),
                             rhs = takeNumbers("rhs_contracting_dimensions");
  add("dot_dimension_numbers",
      stablehlo::DotDimensionNumbersAttr::get(builder.getContext(), lhsBatch,
                                              rhsBatch, lhs, rhs));
  // From dot_general_v2 on; the type none says that there is no algorithm.
  auto takeType = [&](StringRef name) {
    auto type = dyn_cast_or_null<mlir::TypeAttr>(take(name));
    return type && !isa<mlir::NoneType>(type.getValue()) ? type.getValue()
                                                         : Type();
  };
  const Type lhsType = takeType("lhs_precision_type"),
             rhsType = takeType("rhs_precision_type"),
             sumType = takeType("accumulation_type");
  constexpr StringRef otherAttributes[] = {
      "lhs_component_count", "rhs_component_count", "num_primitive_operations",
      "allow_imprecise_accumulation"};
  if (!lhsType || !rhsType || !sumType) {
    for (StringRef name : otherAttributes)
      take(name);
    return;
  }
  const int64_t lhsCount = takeNumber(otherAttributes[0]),
                rhsCount = takeNumber(otherAttributes[1]),
                operations = takeNumber(otherAttributes[2]);
  add("algorithm",
      stablehlo::DotAlgorithmAttr::get(builder.getContext(), lhsType, rhsType,
                                       sumType, lhsCount, rhsCount, operations,
                                       takeFlag(otherAttributes[3])));
}

void Translator::translateGather() {
  const SmallVector<int64_t> offset = takeNumbers("offset_dims"),
                             collapsed = takeNumbers("collapsed_slice_dims"),
                             batch = takeNumbers("operand_batching_dims"),
                             indexBatch =
                                 takeNumbers("start_indices_batching_dims"),
                             map = takeNumbers("start_index_map");
  add("dimension_numbers",
      stablehlo::GatherDimensionNumbersAttr::get(
          builder.getContext(), offset, collapsed, batch, indexBatch, map,
          takeNumber("index_vector_dim")));
}

void Translator::translateScatter() {
  const SmallVector<int64_t> window = takeNumbers("update_window_dims"),
                             inserted = takeNumbers("inserted_window_dims"),
                             batch = takeNumbers("input_batching_dims"),
                             indexBatch =
                                 takeNumbers("scatter_indices_batching_dims"),
                             map = takeNumbers("scatter_dims_to_operand_dims");
  add("scatter_dimension_numbers",
      stablehlo::ScatterDimensionNumbersAttr::get(
          builder.getContext(), window, inserted, batch, indexBatch, map,
          takeNumber("index_vector_dim")));
}

void Translator::translateConvolution() {
  const int64_t inputBatch = takeNumber("input_batch_dimension"),
                inputFeature = takeNumber("input_feature_dimension"),
                kernelInput = takeNumber("kernel_input_feature_dimension"),
                kernelOutput = takeNumber("kernel_output_feature_dimension"),
                outputBatch = takeNumber("output_batch_dimension"),
                outputFeature = takeNumber("output_feature_dimension");
  const SmallVector<int64_t> input = takeNumbers("input_spatial_dimensions"),
                             kernel = takeNumbers("kernel_spatial_dimensions"),
                             output = takeNumbers("output_spatial_dimensions");
  add("dimension_numbers",
      stablehlo::ConvDimensionNumbersAttr::get(
          builder.getContext(), inputBatch, inputFeature, input, kernelInput,
          kernelOutput, kernel, outputBatch, outputFeature, output));
}

void Translator::translateCustomCall() {
  SmallVector<Attribute> callees;
  auto computations =
      dyn_cast_or_null<mlir::ArrayAttr>(take("called_computations"));
  if (!computations)
    malformed("called_computations");
  else
    for (Attribute callee : computations) {
      if (auto name = dyn_cast<StringAttr>(callee))
        callees.push_back(mlir::FlatSymbolRefAttr::get(name));
      else
        malformed("called_computations");
    }
  if (!callees.empty())
    add("called_computations", builder.getArrayAttr(callees));
  if (auto text =
          dyn_cast_or_null<StringAttr>(op.attributes.get("backend_config"));
      text && text.empty())
    take("backend_config");
  // Layouts are all there or none.
  auto operands = dyn_cast_or_null<mlir::ArrayAttr>(
           op.attributes.get("operand_layouts")),
       results = dyn_cast_or_null<mlir::ArrayAttr>(
           op.attributes.get("result_layouts"));
  if (operands && results && operands.empty() && results.empty()) {
    take("operand_layouts");
    take("result_layouts");
  }
}

void Translator::translateChannel() {
  if (!op.attributes.get("channel_id"))
    return;
  const int64_t handle = takeNumber("channel_id");
  const int64_t type =
      op.attributes.get("channel_type") ? takeNumber("channel_type") : 0;
  if (handle != 0)
    add("channel_handle",
        stablehlo::ChannelHandleAttr::get(builder.getContext(), handle, type));
}

/// Takes out what stablehlo's ops say by having no such attribute.
void Translator::dropDefaults() {
  if (takeFlag("use_global_device_ids"))
    add("use_global_device_ids", builder.getUnitAttr());
  if (takeFlag("has_dynamic_root"))
    malformed("has_dynamic_root");
  for (StringRef name :
       {"precision_config", "output_operand_aliases", "result_tilings"})
    if (auto list = dyn_cast_or_null<mlir::ArrayAttr>(op.attributes.get(name));
        list && list.empty())
      take(name);
  for (StringRef name :
       {"known_expanding_dimensions", "known_nonexpanding_dimensions"})
    if (auto list =
            dyn_cast_or_null<DenseElementsAttr>(op.attributes.get(name));
        list && list.empty())
      take(name);
  if (auto accuracy = dyn_cast_or_null<stablehlo::ResultAccuracyAttr>(
          op.attributes.get("result_accuracy"));
      accuracy && accuracy.getMode() == stablehlo::ResultAccuracyMode::DEFAULT)
    take("result_accuracy");
  if (auto type = dyn_cast_or_null<stablehlo::ComparisonTypeAttr>(
          op.attributes.get("compare_type"));
      type && type.getValue() == stablehlo::ComparisonType::NOTYPE)
    take("compare_type");
}

/// Lists of numbers and of flags are arrays in stablehlo; the value of a
/// constant, and tables, stay tensors.
void Translator::translateLists() {
  for (mlir::NamedAttribute attribute :
       SmallVector<mlir::NamedAttribute>(op.attributes.getAttrs())) {
    auto list = dyn_cast<mlir::DenseIntElementsAttr>(attribute.getValue());
    if (!list || list.getType().getRank() != 1)
      continue;
    if (list.getElementType().isInteger(64))
      op.attributes.set(attribute.getName(),
                        builder.getDenseI64ArrayAttr(
                            SmallVector<int64_t>(list.getValues<int64_t>())));
    else if (list.getElementType().isInteger(1))
      op.attributes.set(attribute.getName(),
                        builder.getDenseBoolArrayAttr(
                            SmallVector<bool>(list.getValues<bool>())));
  }
}

LogicalResult Translator::run() {
  StringRef name = op.name;
  if (!name.consume_front("vhlo."))
    return success();
  const std::string kind = name.take_front(name.rfind("_v")).str();
  if (kind == "func")
    translateFunction();
  else if (kind == "call" || kind == "composite")
    add(kind == "call" ? "callee" : "decomposition",
        mlir::FlatSymbolRefAttr::get(
            takeText(kind == "call" ? "callee" : "decomposition")));
  else if (kind == "dot_general")
    translateProduct();
  else if (kind == "gather" || kind == "dynamic_gather")
    translateGather();
  else if (kind == "scatter")
    translateScatter();
  else if (kind == "convolution" || kind == "dynamic_conv")
    translateConvolution();
  else if (kind == "custom_call")
    translateCustomCall();
  translateChannel();
  dropDefaults();
  if (kind != "constant")
    translateLists();
  const bool isOfFunc = kind == "func" || kind == "call" ||
                        (kind == "return" && parent == "func.func");
  op.name = (isOfFunc ? "func." : "stablehlo.") + kind;
  return failure(isMalformed);
}

} // namespace

LogicalResult translate(OpDescription &op, StringRef parent,
                        MLIRContext *context, const ByteReader &reader) {
  return Translator(op, parent, context, reader).run();
}

} // namespace meshloom::vhlo
