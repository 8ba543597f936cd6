// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --predict, --what-if and --pipeline: the memory and time of a program on
// machines that need not be there.
#include "Targets.h"

#include "meshloom/Compiler/PipelineProgram.h"
#include "meshloom/Dialect/DTensor/DTensor.h"
#include "meshloom/Dialect/DTensor/WrittenLayouts.h"
#include "meshloom/Predict/Predict.h"
#include "meshloom/Support/File.h"
#include "meshloom/Support/PredictionFile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "llvm/Support/raw_ostream.h"

#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace meshloom::opt {

Status writePrediction(const TargetOptions &options, const Compiled &compiled,
                       const MachineModel &machine) {
  Result<Prediction> prediction = predict(compiled, machine);
  if (!prediction)
    return prediction.error();
  if (options.output == "-") {
    llvm::outs() << predictionText(*prediction);
    return Success();
  }
  return writeFile(options.output, options.output.ends_with(".svg")
                                       ? memoryPicture(*prediction)
                                       : predictionJson(*prediction));
}

namespace {
/// "x" of "x" and of "x:(2)4", a part of it.
std::string wholeName(const std::string &axis) {
  return axis.substr(0, axis.find(":("));
}

/// The axis of a mesh, or the most minor part of one, and the sizes that it is
/// to have.
struct MeshRange {
  unsigned axis = 0;
  std::vector<int64_t> sizes;
};

/// Reads "data=8..4096" or "devices=8..4096".
Result<MeshRange> parseRange(const std::string &text, const Mesh &mesh) {
  auto wrong = [&](const std::string &why) {
    return Error(fmt::format("--what-if={}: {}", text, why));
  };
  const size_t equals = text.find('='), dots = text.find("..");
  int64_t first = 0, last = 0;
  auto number = [&](size_t begin, size_t end, int64_t &value) {
    const char *stop = text.data() + end;
    auto [next, failure] = std::from_chars(text.data() + begin, stop, value);
    return failure == std::errc() && next == stop && value >= 1;
  };
  if (equals == std::string::npos || dots == std::string::npos ||
      dots < equals || !number(equals + 1, dots, first) ||
      !number(dots + 2, text.size(), last) || last < first || last > 1'000'000)
    return wrong("expected an axis and its smallest and largest size, at most "
                 "1000000, as in data=8..4096 or devices=8..4096");
  const std::string name = text.substr(0, equals);
  if (mesh.rank() == 0)
    return wrong("the program has no mesh axis that could be larger: give it a "
                 "layout over a mesh");
  const std::string axis =
      name == "devices" ? wholeName(mesh.axes().front().name) : name;
  MeshRange range;
  int64_t parts = 0, others = 1; // `others`: what a size is divided by
  for (unsigned index = 0; index < mesh.rank(); ++index) {
    const bool isPart = wholeName(mesh.axes()[index].name) == axis;
    if (isPart)
      range.axis = index;
    if (isPart || name == "devices")
      others *= mesh.axis_size(index);
    parts += isPart;
  }
  if (parts == 0)
    return wrong(fmt::format("the program's mesh {} has no axis '{}'; "
                             "'devices' stands for its first axis",
                             mesh.spec_string(), axis));
  others /= mesh.axis_size(range.axis);
  for (int64_t size = first; size <= last; size *= 2) {
    if (size % others)
      return wrong(
          fmt::format("{} {} cannot be had from the mesh {} by another "
                      "size of one axis: expected a multiple of {}",
                      size, name == "devices" ? "devices" : "members",
                      mesh.spec_string(), others));
    range.sizes.push_back(size / others);
  }
  return range;
}

/// Gives an axis of the program's mesh another size. Layouts name axes by their
/// index, which stays. The meshes that the user wrote are forgotten.
Status resize(mlir::ModuleOp module, const Mesh &mesh, unsigned axis,
              int64_t size) {
  std::vector<MeshAxis> axes(mesh.axes().begin(), mesh.axes().end());
  axes[axis].size = size;
  std::string &name = axes[axis].name;
  if (name.find(":(") != std::string::npos)
    name = name.substr(0, name.find(')') + 1) + std::to_string(size);
  Result<Mesh> larger = Mesh::get(std::move(axes));
  if (!larger)
    return larger.error();
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      function.removeArgAttr(i, dtensor::writtenAttr);
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      function.removeResultAttr(
          i, mlir::StringAttr::get(module.getContext(), dtensor::writtenAttr));
    function->removeAttr(dtensor::meshesAttr);
    function->removeAttr(dtensor::devicesAttr);
  }
  mlir::AttrTypeReplacer replacer;
  replacer.addReplacement(
      [&](dtensor::MeshAttr attribute) -> std::optional<mlir::Attribute> {
        return attribute.getMesh() == mesh
                   ? dtensor::MeshAttr::get(attribute.getContext(), *larger)
                   : attribute;
      });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
  return Success();
}
} // namespace

Status predictRange(const TargetOptions &options, const std::string &text) {
  Result<Input> input = readInput(options, text, MachineModel::preset("ring"));
  if (!input)
    return input.error();
  const Mesh mesh = dtensor::meshOf(*input->module).getMesh();
  Result<MeshRange> range = parseRange(options.whatIf, mesh);
  if (!range)
    return range.error();
  std::vector<Prediction> predictions;
  for (int64_t size : range->sizes) {
    mlir::OwningOpRef<mlir::ModuleOp> copy = input->module->clone();
    if (Status ok = resize(*copy, mesh, range->axis, size); !ok)
      return ok;
    Result<Compiled> compiled =
        compile(*copy, optionsToPredict(options, input->machine));
    if (!compiled)
      return compiled.error();
    Result<Prediction> prediction = predict(*compiled, input->machine);
    if (!prediction)
      return prediction.error();
    predictions.push_back(std::move(*prediction));
  }
  llvm::outs() << scalingText(predictions);
  return options.output == "-"
             ? Status(Success())
             : writeFile(options.output, scalingPicture(predictions));
}

Status predictStages(const TargetOptions &options, const std::string &text) {
  Result<PipelineOptions> pipeline = PipelineOptions::parse(*options.pipeline);
  if (!pipeline)
    return pipeline.error();
  Result<Input> input = readInput(options, text, MachineModel::preset("ring"));
  if (!input)
    return input.error();
  const CompileOptions compileOptions =
      optionsToPredict(options, input->machine);
  Result<PipelineProgram> program =
      cutIntoPipeline(*input->module, *pipeline, compileOptions);
  if (!program)
    return program.error();
  Result<std::vector<Compiled>> parts = compileParts(*program, compileOptions);
  if (!parts)
    return parts.error();
  Result<PipelinePlan> plan = planPipeline(*program, *parts, input->machine);
  if (!plan)
    return plan.error();
  if (options.output != "-")
    return writeFile(options.output, planJson(*program, *plan, input->machine));
  llvm::outs() << planText(*program, *plan, input->machine);
  return Success();
}

} // namespace meshloom::opt
