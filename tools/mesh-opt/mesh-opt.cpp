// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mesh-opt: runs Meshloom's passes, and the usual upstream ones, on a .mlir
// file. Its options are those of every mlir-opt; `mesh-opt --help` lists
// Meshloom's first. With --target, --contract, --predict, --what-if, --suggest,
// --auto-layout or --explain=FILE it compiles the program: see CompileFor.h.

#include "Artifact.h"
#include "CompileFor.h"

#include "meshloom/Autodiff/Passes.h"
#include "meshloom/Compiler/Compiler.h"
#include "meshloom/Compiler/Partition.h"
#include "meshloom/ControlFlow/Passes.h"
#include "meshloom/Core/Timing.h"
#include "meshloom/Core/Version.h"
#include "meshloom/Dialect/StableHLO/SourceText.h"
#include "meshloom/Explain/Explain.h"
#include "meshloom/Import/StableHLO/ImportStableHLO.h"
#include "meshloom/Import/VHLO/ReadArtifact.h"
#include "meshloom/Lanes/Passes.h"
#include "meshloom/Layout/Passes.h"
#include "meshloom/SPMD/Passes.h"
#include "meshloom/Targets/Kernels/Passes.h"
#include "meshloom/Targets/StableHLO/ExportStableHLO.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"

#include <exception>
#include <new>

/// Our own options. Categories are listed by name, so that these come before
/// MLIR's, which are "General options".
static llvm::cl::OptionCategory options("Compiler options");

static llvm::cl::list<std::string> explainFlag(
    "explain", llvm::cl::cat(options), llvm::cl::ValueOptional,
    llvm::cl::desc("After the passes, print to the standard error why each "
                   "collective is there, what it costs, and what was "
                   "rejected. --explain=FILE.html compiles the program for "
                   "--machine, a ring unless named, and writes a page that "
                   "shows all of it; FILE.json writes the facts of that page. "
                   "Both may be given"),
    llvm::cl::value_desc("file"));

static llvm::cl::opt<std::string> targetFlag(
    "target", llvm::cl::cat(options),
    llvm::cl::desc("Compile for this target instead of running passes: 'cpu' "
                   "prints the program after the target's passes, 'cuda' the "
                   "PTX of its kernels, 'stablehlo' one device's StableHLO; "
                   "'tpu:v5e:2x4' and other topologies "
                   "compile ahead of time with libtpu, print sizes, costs and "
                   "collectives, and save the executable where -o says"),
    llvm::cl::value_desc("name"));
static llvm::cl::opt<std::string> machineFlag(
    "machine", llvm::cl::cat(options),
    llvm::cl::desc(
        "Where the program is compiled (--target, --predict, ...), the machine "
        "model: "
        "shared-memory, ring, ring-latency, gpu:h100, tpu:v5e:2x4, ..., or a "
        "JSON file. Default: the target's"),
    llvm::cl::value_desc("name or file"));
static llvm::cl::opt<std::string> functionFlag(
    "function", llvm::cl::cat(options),
    llvm::cl::desc(
        "Where the program is compiled (--target, --predict, ...), "
        "the function to compile; default: main, or the only function"),
    llvm::cl::value_desc("name"));
static llvm::cl::opt<std::string> autoLayoutFlag(
    "auto-layout", llvm::cl::cat(options), llvm::cl::ValueOptional,
    llvm::cl::desc(
        "Lay out the arguments that nobody laid out so that a step takes the "
        "least time on --machine, a ring unless named, and a device holds at "
        "most so many bytes. Prints the layouts, and -o FILE.json writes them, "
        "unless another option says what to compile for"),
    llvm::cl::value_desc("bytes"));
static llvm::cl::opt<bool> reconsiderFlag(
    "reconsider", llvm::cl::cat(options),
    llvm::cl::desc("With --auto-layout, the layouts that arguments have are a "
                   "start and may change. The program is never predicted to be "
                   "slower than with them"));
static llvm::cl::opt<std::string> meshFlag(
    "mesh", llvm::cl::cat(options),
    llvm::cl::desc("With --auto-layout, the mesh of a program that names none, "
                   "as in x=2,y=4, or a number of devices, whose best mesh is "
                   "found"),
    llvm::cl::value_desc("axes"));
static llvm::cl::opt<unsigned> accumulateFlag(
    "accumulate-gradients", llvm::cl::cat(options),
    llvm::cl::desc("Where the program is compiled, run the batch of a step in "
                   "so many microbatches and add up their gradients"),
    llvm::cl::value_desc("microbatches"));
static llvm::cl::opt<bool> suggestFlag(
    "suggest", llvm::cl::cat(options),
    llvm::cl::desc("Predict the program for --machine, a ring unless named, "
                   "with changes of single layout annotations. Prints the ones "
                   "that save the most time, bytes sent and memory, or keep "
                   "the program's contract, and the next best layout of each "
                   "annotation. -o FILE.json writes all changes"));
static llvm::cl::opt<std::string> artifactFlag(
    "emit-portable-artifact", llvm::cl::cat(options), llvm::cl::ValueOptional,
    llvm::cl::desc("Write the StableHLO that the passes leave, or that "
                   "--target=stablehlo gives, as a portable artifact "
                   "(bytecode), which this release of StableHLO and all later "
                   "ones read; default: 1.13.3"),
    llvm::cl::value_desc("release"));
static llvm::cl::opt<bool> timingFlag(
    "timing", llvm::cl::cat(options),
    llvm::cl::desc("With --target, print to the standard error where the time "
                   "went; for passes named one by one, see --mlir-timing"));
static llvm::cl::opt<std::string> tpuLibraryFlag(
    "tpu-library", llvm::cl::cat(options),
    llvm::cl::desc("With --target=tpu:..., the path of libtpu.so; default: "
                   "TPU_LIBRARY_PATH"),
    llvm::cl::value_desc("file"));

static llvm::cl::opt<std::string> contractFlag(
    "contract", llvm::cl::cat(options),
    llvm::cl::desc("Compile the program, for a ring of devices with memories "
                   "of their own unless --target or --machine says otherwise, "
                   "and fail where it sends what this JSON file does not "
                   "allow"),
    llvm::cl::value_desc("file"));
static llvm::cl::opt<bool> updateContractFlag(
    "update-contract", llvm::cl::cat(options),
    llvm::cl::desc("Write what the program sends to the file of --contract"));

static llvm::cl::opt<bool> predictFlag(
    "predict", llvm::cl::cat(options),
    llvm::cl::desc("Compile the program for --machine, a ring unless named, "
                   "and print its predicted memory and time. -o FILE.json "
                   "writes everything, -o FILE.svg a picture of the memory "
                   "over the steps"));
static llvm::cl::opt<std::string> pipelineFlag(
    "pipeline", llvm::cl::cat(options), llvm::cl::ValueOptional,
    llvm::cl::desc(
        "Cut a training step into stages on devices of their own, the ops in "
        "the name scopes stage0, stage1, ..., and print the predicted time and "
        "memory of each for --machine, a ring unless named. As in "
        "microbatches=8,schedule=1f1b,stages=4,scope=layer; the schedules are "
        "gpipe, 1f1b, interleaved (with sets=N of devices) and zero-bubble, "
        "and stages=N puts scopes together by predicted time. -o FILE.json "
        "writes the stages"),
    llvm::cl::value_desc("stages"));
static llvm::cl::opt<std::string> whatIfFlag(
    "what-if", llvm::cl::cat(options),
    llvm::cl::desc("Predict the program for larger meshes: AXIS=FIRST..LAST "
                   "doubles an axis from its first size to its last one, and "
                   "devices=FIRST..LAST the first axis, by numbers of devices. "
                   "-o FILE.svg writes a picture of the curves"),
    llvm::cl::value_desc("axis=first..last"));

/// The head of the help: the passes and pipelines of Meshloom, and what each
/// does. Their names are those that the command line knows as literals.
static std::string overview() {
  std::vector<llvm::StringRef> names;
  for (const auto &option : llvm::cl::getRegisteredOptions())
    if (llvm::StringRef name = option.getKey(); name.starts_with("dtensor-") ||
                                                name.starts_with("spmd-") ||
                                                name.starts_with("stablehlo-"))
      names.push_back(name);
  llvm::sort(names);
  std::string text = "Runs Meshloom's passes, and MLIR's, on a .mlir file, or "
                     "compiles it for a target (--target).\n";
  llvm::raw_string_ostream stream(text);
  auto list = [&](llvm::StringRef title, auto lookup) {
    stream << "\n" << title << ":\n\n";
    for (llvm::StringRef name : names)
      if (const mlir::PassRegistryEntry *entry = lookup(name))
        stream << "  --" << llvm::formatv("{0,-32}", name)
               << entry->getPassDescription() << "\n";
  };
  list("Meshloom's pipelines", mlir::PassPipelineInfo::lookup);
  list("Meshloom's passes", mlir::PassInfo::lookup);
  return text;
}

/// The file that --explain=FILE names; empty where it names none.
static std::string explanationFile() {
  for (const std::string &file : explainFlag)
    if (!file.empty())
      return file;
  return "";
}

/// The release that --emit-portable-artifact names; nothing without the option.
static meshloom::Result<std::optional<meshloom::StableHLORelease>>
artifactRelease() {
  using Release = std::optional<meshloom::StableHLORelease>;
  if (!artifactFlag.getNumOccurrences())
    return Release();
  if (artifactFlag.empty())
    return Release(meshloom::StableHLORelease());
  auto release = meshloom::StableHLORelease::parse(artifactFlag);
  if (!release)
    return release.error();
  return Release(*release);
}

/// The pipeline of the command line, and the passes that --explain and
/// --emit-portable-artifact add.
static mlir::MlirOptMainConfig
configuration(std::optional<meshloom::StableHLORelease> artifact,
              llvm::raw_ostream &artifactOutput) {
  auto config = mlir::MlirOptMainConfig::createFromCLOptions();
  if (!explainFlag.getNumOccurrences() && !artifact)
    return config;
  auto asked = config;
  return config.setPassPipelineSetupFn([asked, artifact, &artifactOutput](
                                           mlir::PassManager &passes) {
    if (failed(asked.setupPassPipeline(passes)))
      return mlir::failure();
    const bool isExplained = explainFlag.getNumOccurrences() > 0;
    if (isExplained && passes.empty())
      llvm::errs() << "mesh-opt: no pass ran before --explain, which explains "
                      "the program as it is in the file; for a program that "
                      "is not partitioned yet, name passes, as in "
                      "--stablehlo-to-dtensor --dtensor-partition\n";
    if (isExplained)
      passes.addNestedPass<mlir::func::FuncOp>(
          meshloom::createExplainCollectives());
    if (artifact)
      passes.addPass(
          meshloom::opt::createEmitArtifact(*artifact, artifactOutput));
    return mlir::success();
  });
}

/// Returns the bytes per device that --auto-layout allows, 0: any number;
/// nothing without the option.
static meshloom::Result<std::optional<int64_t>> autoLayoutBytes() {
  if (!autoLayoutFlag.getNumOccurrences())
    return std::optional<int64_t>();
  int64_t bytes = 0;
  if (!autoLayoutFlag.empty() &&
      (llvm::StringRef(autoLayoutFlag).getAsInteger(10, bytes) || bytes < 0))
    return meshloom::Error("--auto-layout=" + autoLayoutFlag +
                           ": expected the bytes that a device may hold, or "
                           "no value for any number");
  return std::optional(bytes);
}

/// Returns an error where options ask for different compilations.
static meshloom::Status checkOptions() {
  const bool predicts = predictFlag || !whatIfFlag.empty();
  if (targetFlag.getNumOccurrences() && targetFlag.empty())
    return meshloom::Error("--target= names no target: write --target=cpu, "
                           "=cuda, =stablehlo or =tpu:TOPOLOGY");
  if (predicts && !targetFlag.empty())
    return meshloom::Error(
        "--predict and --what-if compile for --machine: name "
        "no --target beside them");
  if (predictFlag && !whatIfFlag.empty())
    return meshloom::Error(
        "--what-if predicts for several meshes and --predict "
        "for the program's own: give one of them");
  if (suggestFlag && (predicts || !targetFlag.empty() || !contractFlag.empty()))
    return meshloom::Error("--suggest compiles for --machine by itself: name "
                           "no --target, --contract, --predict or --what-if "
                           "beside it");
  if (pipelineFlag.getNumOccurrences() &&
      (!whatIfFlag.empty() || suggestFlag || !targetFlag.empty() ||
       !contractFlag.empty() || explainFlag.getNumOccurrences()))
    return meshloom::Error("--pipeline predicts a program in stages: name no "
                           "--target, --contract, --what-if, --suggest or "
                           "--explain beside it");
  if (updateContractFlag && contractFlag.empty())
    return meshloom::Error("--update-contract needs the file that it writes: "
                           "name it with --contract");
  if (const auto files = explainFlag.size() - llvm::count(explainFlag, "");
      files > 1)
    return meshloom::Error("--explain=FILE names one file; it was given " +
                           std::to_string(files) + " times with one");
  if (const std::string file = explanationFile(); !file.empty()) {
    if (!whatIfFlag.empty() || llvm::StringRef(targetFlag).starts_with("tpu:"))
      return meshloom::Error("--explain=FILE explains one program whose steps "
                             "Meshloom plans: it cannot stand beside --what-if "
                             "or --target=tpu:...; --machine=tpu:... predicts "
                             "for TPUs");
    if (meshloom::Status ok = meshloom::checkExplanationPath(file); !ok)
      return ok;
  }
  if (artifactFlag.getNumOccurrences() && targetFlag != "stablehlo")
    return meshloom::Error("--emit-portable-artifact writes StableHLO: give it "
                           "passes, or --target=stablehlo");
  if (!meshFlag.empty() && !autoLayoutFlag.getNumOccurrences())
    return meshloom::Error("--mesh is for --auto-layout: give that too");
  if (reconsiderFlag && !autoLayoutFlag.getNumOccurrences())
    return meshloom::Error("--reconsider is for --auto-layout: give that too");
  return meshloom::Success();
}

/// Writes the files that the options of --target ask for.
static meshloom::Status compileForTarget(const mlir::MlirOptMainConfig &config,
                                         const std::string &input,
                                         const std::string &output,
                                         mlir::MLIRContext &context) {
  mlir::PassManager passes(&context);
  if (failed(config.setupPassPipeline(passes)) || !passes.empty())
    return meshloom::Error(
        "--target, --contract, --predict, --what-if, --pipeline, --suggest, "
        "--auto-layout, --accumulate-gradients and --explain=FILE compile with "
        "passes of their own: name none beside them");
  if (meshloom::Status status = checkOptions(); !status)
    return status;
  auto autoLayout = autoLayoutBytes();
  if (!autoLayout)
    return autoLayout.error();
  auto artifact = artifactRelease();
  if (!artifact)
    return artifact.error();
  return meshloom::opt::compileFor(
      {.target = targetFlag,
       .machine = machineFlag,
       .function = functionFlag,
       .tpuLibrary = tpuLibraryFlag,
       .input = input,
       .output = output,
       .explain = llvm::is_contained(explainFlag, ""),
       .explanationFile = explanationFile(),
       .autoLayout = *autoLayout,
       .reconsider = reconsiderFlag,
       .microbatches = accumulateFlag,
       .mesh = meshFlag,
       .contract = contractFlag,
       .updateContract = updateContractFlag,
       .predict = predictFlag,
       .pipeline = pipelineFlag.getNumOccurrences()
                       ? std::optional<std::string>(pipelineFlag)
                       : std::nullopt,
       .whatIf = whatIfFlag,
       .suggest = suggestFlag,
       .artifact = *artifact});
}

/// The text of a portable artifact of StableHLO, with its locations.
static meshloom::Result<std::unique_ptr<llvm::MemoryBuffer>>
textOfArtifact(llvm::StringRef artifact, const std::string &path,
               const mlir::DialectRegistry &registry) {
  mlir::MLIRContext context(registry);
  context.loadAllAvailableDialects();
  auto module = meshloom::readArtifact(artifact, path, &context);
  if (!module)
    return module.error();
  std::string text;
  llvm::raw_string_ostream stream(text);
  (*module)->print(stream, mlir::OpPrintingFlags().enableDebugInfo());
  return llvm::MemoryBuffer::getMemBufferCopy(text, path);
}

/// Returns the text of the program in a file, as MLIR's parser reads it.
static meshloom::Result<std::unique_ptr<llvm::MemoryBuffer>>
readSource(const std::string &path, const mlir::DialectRegistry &registry) {
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> file = mlir::openInputFile(path, &error);
  if (!file)
    return meshloom::Error(error);
  if (auto artifact = meshloom::artifactIn(file->getBuffer())) {
    auto text = textOfArtifact(*artifact, path, registry);
    if (!text)
      return text.error();
    file = std::move(*text);
  }
  if (auto fault = meshloom::sourceFault(file->getBuffer()))
    return meshloom::Error(path + ":" + std::to_string(fault->line) +
                           ": error: " + fault->message);
  return meshloom::readableSource(file->getBuffer(),
                                  file->getBufferIdentifier());
}

static void registerPasses() {
  mlir::registerTransformsPasses();
  meshloom::registerControlFlowPasses();
  meshloom::registerLanesPasses();
  meshloom::registerLayoutPasses();
  meshloom::registerSPMDPasses();
  meshloom::registerKernelsPasses();
  meshloom::registerAutodiffPasses();
  meshloom::registerStableHLOToDTensor();
  meshloom::registerSPMDToStableHLO();
  meshloom::registerPartitionPipeline();
}

/// Returns whether an option asks to compile the program.
static bool compilesProgram() {
  return targetFlag.getNumOccurrences() || contractFlag.getNumOccurrences() ||
         updateContractFlag || predictFlag || whatIfFlag.getNumOccurrences() ||
         pipelineFlag.getNumOccurrences() || suggestFlag ||
         autoLayoutFlag.getNumOccurrences() ||
         accumulateFlag.getNumOccurrences() || meshFlag.getNumOccurrences() ||
         !explanationFile().empty();
}

/// Prints a message on the standard error and returns main()'s result.
static int failWith(const std::string &message) {
  llvm::errs() << message << "\n";
  return EXIT_FAILURE;
}

/// Runs the passes of the command line on the program.
static int runPasses(int argc, char **argv, const std::string &inputName,
                     const std::string &outputName,
                     mlir::DialectRegistry &registry) {
  if (machineFlag.getNumOccurrences() || functionFlag.getNumOccurrences())
    return failWith("mesh-opt: --machine and --function are for programs that "
                    "are compiled: give --target, --predict or another option "
                    "that compiles. Passes have options of their own, as in "
                    "--dtensor-partition=\"machine=ring\"");
  auto release = artifactRelease();
  if (!release)
    return failWith("mesh-opt: " + release.error().message());
  std::string artifactBytes;
  llvm::raw_string_ostream artifactOutput(artifactBytes);
  mlir::MlirOptMainConfig config = configuration(*release, artifactOutput);
  if (config.shouldShowDialects())
    return mlir::asMainReturnCode(
        mlir::MlirOptMain(argc, argv, inputName, outputName, registry));

  auto source = readSource(inputName, registry);
  if (!source)
    return failWith(source.error().message());
  std::string error;
  auto output = mlir::openOutputFile(outputName, &error);
  if (!output)
    return failWith(error);
  llvm::raw_ostream &text = *release ? llvm::nulls() : output->os();
  if (failed(mlir::MlirOptMain(text, std::move(*source), registry, config)))
    return EXIT_FAILURE;
  output->os() << artifactBytes;
  output->keep();
  return EXIT_SUCCESS;
}

/// All of main() but what becomes of exceptions.
static int run(int argc, char **argv) {
  mlir::DialectRegistry registry;
  meshloom::registerDialects(registry);
  registry.insert<mlir::arith::ArithDialect, mlir::math::MathDialect>();
  registerPasses();
  llvm::cl::SetVersionPrinter([](llvm::raw_ostream &os) {
    os << "mesh-opt (Meshloom) " << meshloom::version() << " with LLVM "
       << LLVM_VERSION_STRING << "\n";
  });
  // LLVM's own options work, and are not in the help.
  llvm::cl::HideUnrelatedOptions(options);
  mlir::MlirOptMainConfig::registerCLOptions(registry);
  auto [inputName, outputName] =
      mlir::registerAndParseCLIOptions(argc, argv, overview(), registry);
  if (timingFlag)
    meshloom::enableTiming();
  if (!compilesProgram())
    return runPasses(argc, argv, inputName, outputName, registry);
  mlir::MLIRContext context(registry);
  meshloom::Status done =
      compileForTarget(mlir::MlirOptMainConfig::createFromCLOptions(),
                       inputName, outputName, context);
  return done ? EXIT_SUCCESS : failWith("mesh-opt: " + done.error().message());
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  // LLVM's handler aborts; an exception ends with a message.
  std::set_new_handler(nullptr);
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc &) {
    llvm::errs() << "mesh-opt: out of memory\n";
  } catch (const std::exception &error) {
    llvm::errs() << "mesh-opt: " << error.what() << "\n";
  }
  return EXIT_FAILURE;
}
