// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Describe.h"

#include "meshloom/Dialect/StableHLO/StableHLO.h"

#include "llvm/ADT/StringSet.h"

namespace meshloom::vhlo {

namespace {

class Describer {
public:
  Describer(Operation *op, unsigned release)
      : op(op), release(release), builder(op->getContext()) {}

  FailureOr<OpDescription> run();

private:
  LogicalResult selectVersion();
  template <typename T> T take(StringRef name) {
    return dyn_cast_or_null<T>(description.attributes.erase(name));
  }
  void add(StringRef name, Attribute value) {
    description.attributes.append(name, value);
  }
  void add(StringRef name, int64_t value) {
    add(name, builder.getI64IntegerAttr(value));
  }
  void add(StringRef name, ArrayRef<int64_t> values) {
    add(name, builder.getDenseI64ArrayAttr(values));
  }
  /// Adds an attribute that says nothing new where the op has none.
  void addDefault(StringRef name, Attribute value);
  void addDefault(ArrayRef<StringRef> names, Attribute value) {
    for (StringRef name : names)
      addDefault(name, value);
  }
  void addSimpleDefaults();
  void addWindow(int64_t rank);
  void describeProduct();
  void describeGather();
  void describeScatter();
  void describeConvolution();
  void describeChannel();
  LogicalResult checkAttributes();

  Operation *op;
  const unsigned release;
  Builder builder;
  std::string kind; // "add"
  OpDescription description;
  const OpFacts *facts = nullptr;
  llvm::StringSet<> defaults;
};

/// Finds the newest version of the op that the release has.
LogicalResult Describer::selectVersion() {
  const StringRef dialect = op->getName().getDialectNamespace();
  kind = op->getName().stripDialect().str();
  constexpr int newestVersion = 2;
  if (dialect == "stablehlo" || dialect == "func")
    for (int version = newestVersion; version > 0; --version) {
      description.name = "vhlo." + kind + "_v" + std::to_string(version);
      facts = factsOf(description.name);
      if (facts && facts->release <= release)
        return success();
    }
  return op->emitOpError() << "has no form in the portable artifacts of "
                              "StableHLO 1."
                           << release;
}

void Describer::addDefault(StringRef name, Attribute value) {
  if (description.attributes.get(name))
    return;
  add(name, value);
  defaults.insert(name);
}

void Describer::addSimpleDefaults() {
  addDefault({"arg_attrs", "res_attrs", "precision_config",
              "called_computations", "operand_layouts", "result_layouts",
              "output_operand_aliases", "layout"},
             builder.getArrayAttr({}));
  addDefault({"has_side_effect", "indices_are_sorted", "unique_indices",
              "is_stable", "lower", "is_host_transfer", "has_dynamic_root"},
             builder.getBoolAttr(false));
  addDefault(
      {"sym_visibility", "backend_config", "infeed_config", "outfeed_config"},
      builder.getStringAttr(""));
  addDefault({"known_expanding_dimensions", "known_nonexpanding_dimensions"},
             builder.getDenseI64ArrayAttr({}));
  addDefault("composite_attributes", builder.getDictionaryAttr({}));
  addDefault("api_version", builder.getI32IntegerAttr(1));
  addDefault("version", builder.getI32IntegerAttr(0));
  addDefault("compare_type",
             stablehlo::ComparisonTypeAttr::get(
                 op->getContext(), stablehlo::ComparisonType::NOTYPE));
  const FloatAttr zero = builder.getF64FloatAttr(0.0);
  addDefault("result_accuracy", stablehlo::ResultAccuracyAttr::get(
                                    op->getContext(), zero, zero, /*ulps=*/0,
                                    stablehlo::ResultAccuracyMode::DEFAULT));
  if (kind == "sort")
    addDefault("dimension", builder.getI64IntegerAttr(-1));
}

/// The window's attributes, where a window of that many dims omits them.
void Describer::addWindow(int64_t rank) {
  const auto count = size_t(rank);
  addDefault({"window_strides", "window_dimensions", "base_dilations",
              "window_dilations", "lhs_dilation", "rhs_dilation"},
             builder.getDenseI64ArrayAttr(SmallVector<int64_t>(count, 1)));
  addDefault("window_reversal",
             builder.getDenseBoolArrayAttr(SmallVector<bool>(count, false)));
  addDefault("padding",
             DenseElementsAttr::get(
                 RankedTensorType::get({rank, 2}, builder.getI64Type()),
                 builder.getI64IntegerAttr(0)));
}

void Describer::describeProduct() {
  auto dims = take<stablehlo::DotDimensionNumbersAttr>("dot_dimension_numbers");
  add("lhs_batching_dimensions", dims.getLhsBatchingDimensions());
  add("rhs_batching_dimensions", dims.getRhsBatchingDimensions());
  add("lhs_contracting_dimensions", dims.getLhsContractingDimensions());
  add("rhs_contracting_dimensions", dims.getRhsContractingDimensions());
  if (auto algorithm = take<stablehlo::DotAlgorithmAttr>("algorithm")) {
    add("lhs_precision_type",
        mlir::TypeAttr::get(algorithm.getLhsPrecisionType()));
    add("rhs_precision_type",
        mlir::TypeAttr::get(algorithm.getRhsPrecisionType()));
    add("accumulation_type",
        mlir::TypeAttr::get(algorithm.getAccumulationType()));
    add("lhs_component_count", algorithm.getLhsComponentCount());
    add("rhs_component_count", algorithm.getRhsComponentCount());
    add("num_primitive_operations", algorithm.getNumPrimitiveOperations());
    add("allow_imprecise_accumulation",
        builder.getBoolAttr(algorithm.getAllowImpreciseAccumulation()));
    return;
  }
  const auto none = mlir::TypeAttr::get(builder.getNoneType());
  addDefault({"lhs_precision_type", "rhs_precision_type", "accumulation_type",
              "lhs_component_count", "rhs_component_count",
              "num_primitive_operations", "allow_imprecise_accumulation"},
             none);
}

void Describer::describeGather() {
  auto dims = take<stablehlo::GatherDimensionNumbersAttr>("dimension_numbers");
  add("offset_dims", dims.getOffsetDims());
  add("collapsed_slice_dims", dims.getCollapsedSliceDims());
  add("operand_batching_dims", dims.getOperandBatchingDims());
  add("start_indices_batching_dims", dims.getStartIndicesBatchingDims());
  add("start_index_map", dims.getStartIndexMap());
  add("index_vector_dim", dims.getIndexVectorDim());
}

void Describer::describeScatter() {
  auto dims =
      take<stablehlo::ScatterDimensionNumbersAttr>("scatter_dimension_numbers");
  add("update_window_dims", dims.getUpdateWindowDims());
  add("inserted_window_dims", dims.getInsertedWindowDims());
  add("input_batching_dims", dims.getInputBatchingDims());
  add("scatter_indices_batching_dims", dims.getScatterIndicesBatchingDims());
  add("scatter_dims_to_operand_dims", dims.getScatterDimsToOperandDims());
  add("index_vector_dim", dims.getIndexVectorDim());
}

void Describer::describeConvolution() {
  auto dims = take<stablehlo::ConvDimensionNumbersAttr>("dimension_numbers");
  add("input_batch_dimension", dims.getInputBatchDimension());
  add("input_feature_dimension", dims.getInputFeatureDimension());
  add("input_spatial_dimensions", dims.getInputSpatialDimensions());
  add("kernel_input_feature_dimension", dims.getKernelInputFeatureDimension());
  add("kernel_output_feature_dimension",
      dims.getKernelOutputFeatureDimension());
  add("kernel_spatial_dimensions", dims.getKernelSpatialDimensions());
  add("output_batch_dimension", dims.getOutputBatchDimension());
  add("output_feature_dimension", dims.getOutputFeatureDimension());
  add("output_spatial_dimensions", dims.getOutputSpatialDimensions());
  addWindow(int64_t(dims.getInputSpatialDimensions().size()));
}

void Describer::describeChannel() {
  auto channel = take<stablehlo::ChannelHandleAttr>("channel_handle");
  const bool usesGlobalIds =
      bool(take<mlir::UnitAttr>("use_global_device_ids"));
  if (channel) {
    add("channel_id", channel.getHandle());
    add("channel_type", channel.getType());
  }
  addDefault({"channel_id", "channel_type"}, builder.getI64IntegerAttr(0));
  if (usesGlobalIds)
    add("use_global_device_ids", builder.getBoolAttr(true));
  addDefault("use_global_device_ids", builder.getBoolAttr(false));
}

/// Leaves the attributes of the selected version: others may not say anything.
LogicalResult Describer::checkAttributes() {
  mlir::NamedAttrList selected;
  for (StringRef name : facts->attributes) {
    Attribute value = description.attributes.erase(name);
    if (!value)
      return op->emitOpError()
             << "has no '" << name << "', which portable artifacts need";
    selected.append(name, value);
  }
  for (NamedAttribute attribute : description.attributes) {
    auto list = dyn_cast<DenseI64ArrayAttr>(attribute.getValue());
    if (!defaults.contains(attribute.getName().getValue()) &&
        !(list && list.empty()))
      return op->emitOpError()
             << "has '" << attribute.getName().getValue()
             << "', which portable artifacts of StableHLO 1." << release
             << " cannot say: ask for a newer release";
  }
  description.attributes = std::move(selected);
  return success();
}

FailureOr<OpDescription> Describer::run() {
  if (failed(selectVersion()))
    return failure();
  if (auto attributes =
          dyn_cast_or_null<DictionaryAttr>(op->getPropertiesAsAttribute()))
    description.attributes.append(attributes);
  description.discardable.append(op->getDiscardableAttrDictionary());
  if (kind == "dot_general")
    describeProduct();
  else if (kind == "gather" || kind == "dynamic_gather")
    describeGather();
  else if (kind == "scatter")
    describeScatter();
  else if (kind == "convolution" || kind == "dynamic_conv")
    describeConvolution();
  else if (auto window = dyn_cast<stablehlo::ReduceWindowOp>(op))
    addWindow(int64_t(window.getWindowDimensions().size()));
  else if (auto window = dyn_cast<stablehlo::SelectAndScatterOp>(op))
    addWindow(cast<RankedTensorType>(window.getOperand().getType()).getRank());
  describeChannel();
  addSimpleDefaults();
  if (failed(checkAttributes()))
    return failure();
  return description;
}

} // namespace

FailureOr<OpDescription> describe(Operation *op, unsigned release) {
  return Describer(op, release).run();
}

} // namespace meshloom::vhlo
