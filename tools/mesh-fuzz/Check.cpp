// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checking a program: what its inputs are, and how far results may be off.
//
// Exact results must be equal. For the others the interpreter runs the program
// again with inputs that are off by a rounding error, and with one in each op;
// how far these move a result is how much rounding may.
#include "Check.h"

#include "Addends.h"
#include "Noise.h"

#include "meshloom/Autodiff/Passes.h"
#include "meshloom/Import/StableHLO/ImportStableHLO.h"
#include "meshloom/Interpreter/Interpreter.h"
#include "meshloom/Runtime/Backends/CPU/CPUClient.h"
#include "meshloom/Runtime/Platform.h"
#include "meshloom/Support/LLVM.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <set>

namespace meshloom::fuzz {

std::string Way::text() const {
  return machine + (privateMemories ? ", private memories" : "") +
         (workers > 1 ? fmt::format(", {} workers", workers) : "") +
         (platform == "cpu" ? "" : ", on " + platform);
}

namespace {

/// `off`: relative error to add to what is not exact.
HostValue inputFor(const Value &value, uint64_t seed, double off) {
  HostValue host(value.type, value.shape);
  const Range &range = value.range;
  double unit = range.exact() ? std::ldexp(1.0, -range.fraction) : 0;
  double steps = unit > 0 ? std::floor((range.high - range.low) / unit) + 1 : 0;
  auto element = [&](uint64_t i) {
    if (unit > 0)
      return range.low + unit * std::floor(noise(seed, i) * steps);
    return range.low + (range.high - range.low) * noise(seed, i);
  };
  auto disturb = [&](double x, uint64_t i) {
    return x + off * std::max(std::abs(x), 0.25) *
                   (noise(seed + 77, i) < 0.5 ? -1 : 1);
  };
  for (size_t i = 0; i < host.floats.size(); ++i)
    host.floats[i] = disturb(roundToType(partOf(value.type), element(i)), i);
  const size_t parts = host.floats.size();
  for (size_t i = 0; i < host.imaginaries.size(); ++i)
    host.imaginaries[i] =
        disturb(roundToType(partOf(value.type), element(parts + i)), parts + i);
  for (size_t i = 0; i < host.ints.size(); ++i)
    host.ints[i] =
        wrapInteger(value.type, int64_t(std::clamp(element(i), -1e6, 1e6)));
  return host;
}

struct Expectation {
  HostValue value;
  /// How far off an element of `value.floats` or `value.imaginaries` may be.
  double allowed = 0;
};

/// Why a number that came out as `got` is wrong, or nothing.
std::string differs(DType type, const char *part, size_t i, double got,
                    double want, double allowed) {
  if (std::isnan(got) && std::isnan(want))
    return "";
  // The reference does not round: what the type cannot hold is infinite.
  if (std::isinf(got) &&
      roundToType(partOf(type), want + std::copysign(allowed, got)) == got)
    return "";
  if (got != want && !(std::abs(got - want) <= allowed))
    return fmt::format("element {}{} is {}, not {} (may be off by {:.2g})", i,
                       part, got, want, allowed);
  return "";
}

std::string differs(const HostValue &got, const Expectation &want) {
  if (got.shape != want.value.shape || got.type != want.value.type)
    return "has another type";
  for (size_t i = 0; i < got.ints.size(); ++i)
    if (got.ints[i] != want.value.ints[i])
      return fmt::format("element {} is {}, not {}", i, got.ints[i],
                         want.value.ints[i]);
  std::string wrong;
  for (size_t i = 0; i < got.floats.size() && wrong.empty(); ++i)
    wrong = differs(got.type, got.isComplex() ? " (real)" : "", i,
                    got.floats[i], want.value.floats[i], want.allowed);
  for (size_t i = 0; i < got.imaginaries.size() && wrong.empty(); ++i)
    wrong = differs(got.type, " (imaginary)", i, got.imaginaries[i],
                    want.value.imaginaries[i], want.allowed);
  return wrong;
}
} // namespace

struct Checker::Impl {
  Impl() : context(MLIRContext::Threading::DISABLED) {
    mlir::DialectRegistry registry;
    registerDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  OwningOpRef<ModuleOp> parse(const Recipe &recipe, std::string &failure);
  std::string expect(const Recipe &recipe, ModuleOp module);
  Result<std::shared_ptr<Client>> clientFor(const Way &way, int64_t devices);
  std::string run(const Compiled &compiled, const Way &way, bool deterministic);
  std::string runAll(ModuleOp module, const CheckOptions &options);

  MLIRContext context;
  uint64_t seed = 0; ///< of the program
  /// Per argument.
  std::vector<HostValue> inputs;
  std::vector<Range> ranges;
  std::vector<Expectation> expected;
  /// The first results of a deterministic program.
  std::vector<HostBytes> bits;
  /// By number of devices, kind of memory, workers and platform.
  std::map<std::tuple<int64_t, bool, int64_t, std::string>,
           std::shared_ptr<Client>>
      clients;
};

Checker::Checker() : impl(std::make_unique<Impl>()) {}
Checker::~Checker() = default;

namespace {
/// Collects the diagnostics that are reported while it lives.
class Messages {
public:
  explicit Messages(MLIRContext *context)
      : collect(context, [this](mlir::Diagnostic &diagnostic) {
          text += (text.empty() ? "" : "; ") + diagnostic.str();
          return success();
        }) {}
  std::string text;

private:
  mlir::ScopedDiagnosticHandler collect;
};
} // namespace

OwningOpRef<ModuleOp> Checker::Impl::parse(const Recipe &recipe,
                                           std::string &failure) {
  Messages messages(&context);
  auto module = mlir::parseSourceString<ModuleOp>(recipe.text(), &context);
  if (!module) {
    failure = "does not parse: " + messages.text;
    return module;
  }
  if (!recipe.gradient)
    return module;
  std::vector<unsigned> arguments = recipe.differentiableArguments();
  if (arguments.empty())
    return module;
  GradientOptions options;
  options.wrt = arguments;
  mlir::PassManager passes(&context);
  passes.addPass(createGradient(options));
  if (failed(passes.run(*module)))
    failure = "gradient: " + messages.text;
  return module;
}

/// The results of a program by the reference interpreter: exact, with inputs
/// that are a rounding error off in either direction, and rounded by each op.
struct References {
  std::vector<HostValue> exact, up, down, rounded;
};

static double largest(const Range &range) {
  return std::max(std::abs(range.low), std::abs(range.high));
}

/// The rounding errors that a recipe's results may have.
class Roundings {
public:
  explicit Roundings(const Recipe &recipe) : recipe(recipe) {
    double argument = 1;
    for (size_t i = 0; i < recipe.values.size(); ++i) {
      const Range &range = recipe.values[i].range;
      epsilon = std::max(epsilon, range.epsilon);
      if (!range.exact() && !(recipe.gradient && i == recipe.results[0]))
        reach = std::max(reach, largest(range));
    }
    for (unsigned i : recipe.arguments)
      if (isFloat(partOf(recipe.values[i].type)))
        argument = std::max(argument, largest(recipe.values[i].range));
    reachOfGradients = reach * argument;
  }

  bool isGradient(size_t result) const {
    return result >= recipe.results.size();
  }
  bool isExact(size_t result) const {
    return !isGradient(result) &&
           recipe.values[recipe.results[result]].range.exact();
  }
  bool areExact() const {
    return !recipe.gradient &&
           llvm::all_of(recipe.results, [&](unsigned value) {
             return recipe.values[value].range.exact();
           });
  }
  /// Returns how far a result may be off: a few roundings of each op, and 32 of
  /// what a sum may reach: kernels are compiled without vectors here, so that
  /// one lane adds up to 512 terms.
  double allowed(size_t result, const References &references) const {
    double most = 0, moved = 0;
    auto measure = [&](std::vector<double> HostValue::*part) {
      const std::vector<double> &numbers = references.exact[result].*part;
      for (size_t i = 0; i < numbers.size(); ++i) {
        if (!std::isfinite(numbers[i]))
          continue;
        most = std::max(most, std::abs(numbers[i]));
        for (const auto *others :
             {&references.up, &references.down, &references.rounded})
          if (double other = ((*others)[result].*part)[i]; std::isfinite(other))
            moved = std::max(moved, std::abs(other - numbers[i]));
      }
    };
    measure(&HostValue::floats);
    measure(&HostValue::imaginaries);
    const double onTheWay =
        isGradient(result)
            ? reachOfGradients
            : std::max(reach,
                       largest(recipe.values[recipe.results[result]].range));
    return 16 * moved + 16 * epsilon * std::max(most, 0.25) +
           0x1p-19 * onTheWay;
  }

  double epsilon = 0x1p-23;

private:
  const Recipe &recipe;
  // A sum is off by rounding errors of what it may reach on its way, even where
  // its terms do not move with the inputs (a tanh that is at its limit); in a
  // gradient that is multiplied by an argument. The loss, the first result, is
  // read by nothing.
  double reach = 0, reachOfGradients = 0;
};

/// The inputs of a recipe's program, with a relative error of `off` in what is
/// not exact.
static std::vector<HostValue> inputsFor(const Recipe &recipe, double off) {
  std::vector<HostValue> inputs;
  for (size_t i = 0; i < recipe.arguments.size(); ++i)
    inputs.push_back(inputFor(recipe.values[recipe.arguments[i]],
                              recipe.seed * 64 + i, off));
  return inputs;
}

/// Interprets a program, one whose results are all exact only once. The
/// inputs' errors do not move what is constant next to them: of 1 - tanh(9)^2
/// only the error of the tanh is left, and of the square.
static Result<References>
interpretReferences(const Recipe &recipe, const std::vector<HostValue> &inputs,
                    const Roundings &roundings, ModuleOp module) {
  References references;
  struct Run {
    std::vector<HostValue> References::*results;
    double off;
    Rounding rounding;
  };
  const double off = roundings.epsilon;
  const Run runs[] = {{&References::exact, 0, Rounding::ByConvert},
                      {&References::rounded, 0, Rounding::ByEachOp},
                      {&References::up, off, Rounding::ByConvert},
                      {&References::down, -off, Rounding::ByConvert}};
  for (const Run &run :
       ArrayRef(runs).take_front(roundings.areExact() ? 1 : 4)) {
    auto results = interpret(module, "",
                             run.off == 0 ? inputs : inputsFor(recipe, run.off),
                             run.rounding);
    if (!results)
      return results.error();
    references.*run.results = std::move(*results);
  }
  return references;
}

std::string Checker::Impl::expect(const Recipe &recipe, ModuleOp module) {
  seed = recipe.seed;
  inputs = inputsFor(recipe, 0);
  bits.clear();
  ranges.clear();
  for (unsigned argument : recipe.arguments)
    ranges.push_back(recipe.values[argument].range);
  expected.clear();
  const Roundings roundings(recipe);
  auto references = interpretReferences(recipe, inputs, roundings, module);
  if (!references)
    return "reference: " + references.error().message();
  for (size_t r = 0; r < references->exact.size(); ++r) {
    Expectation want{references->exact[r]};
    if (!roundings.isExact(r) && !want.value.floats.empty())
      want.allowed = roundings.allowed(r, *references);
    expected.push_back(std::move(want));
  }
  return "";
}

Result<std::shared_ptr<Client>> Checker::Impl::clientFor(const Way &way,
                                                         int64_t devices) {
  std::shared_ptr<Client> &client =
      clients[{devices, way.privateMemories, way.workers, way.platform}];
  if (client)
    return client;
  auto make = [&]() -> Result<std::shared_ptr<Client>> {
    if (way.platform == "cpu")
      return createCPUClient({.devices = devices,
                              .workers = way.workers,
                              .privateMemories = way.privateMemories});
    auto on = platform(way.platform);
    if (!on)
      return on.error();
    return (*on)->client(devices);
  };
  auto created = make();
  if (created)
    client = *created;
  return created;
}

std::string Checker::Impl::run(const Compiled &compiled, const Way &way,
                               bool deterministic) {
  const Signature &signature = compiled.signature();
  auto client = clientFor(way, signature.mesh.size());
  if (!client)
    return client.error().message();
  auto executable = (*client)->load(compiled);
  if (!executable)
    return "load: " + executable.error().message();
  std::vector<Array> arguments;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ArrayType &type = (*executable)->signature().arguments[i].type;
    auto array = type.layout.is_partial()
                     ? inAddends(*client, type, inputs[i], ranges[i], seed + i)
                     : Array::fromHost(*client, type, inputs[i].toBytes());
    if (!array)
      return "input: " + array.error().message();
    arguments.push_back(*array);
  }
  auto results = (*executable)->execute(std::move(arguments));
  if (!results)
    return "run: " + results.error().message();
  if (results->size() != expected.size())
    return fmt::format("{} results, not {}", results->size(), expected.size());
  for (size_t i = 0; i < results->size(); ++i) {
    auto bytes = (*results)[i].toHost();
    if (!bytes)
      return fmt::format("result {}: {}", i, bytes.error().message());
    auto got = HostValue::fromBytes((*results)[i].dtype(),
                                    (*results)[i].shape(), *bytes);
    if (!got)
      return fmt::format("result {}: {}", i, got.error().message());
    if (std::string wrong = differs(*got, expected[i]); !wrong.empty())
      return fmt::format("WRONG result {}: {}", i, wrong);
    if (!deterministic)
      continue;
    if (bits.size() == i)
      bits.push_back(std::move(*bytes));
    else if (bits[i] != *bytes)
      return fmt::format("OTHER BITS in result {}", i);
  }
  return "";
}

/// The same program but for values that it lays out as partial sums or products
/// of floats itself: their addends are the devices', and are combined so.
static Recipe withoutPartialSums(Recipe recipe) {
  for (Value &value : recipe.values) {
    const DType part = partOf(value.type);
    const size_t partial = value.layout.find(" partial<");
    if (partial != std::string::npos && isFloat(part) &&
        (value.layout.find("sum", partial) != std::string::npos ||
         value.layout.find("prod", partial) != std::string::npos))
      value.layout.resize(partial);
  }
  return recipe;
}

/// The same program on one device: all axes of its mesh have size one.
static Recipe onOneDevice(Recipe recipe) {
  recipe.mesh.text.clear();
  for (size_t axis = 0; axis < recipe.mesh.axes.size(); ++axis) {
    recipe.mesh.sizes[axis] = 1;
    recipe.mesh.text += (axis ? ", " : "") + recipe.mesh.axes[axis] + " = 1";
  }
  return recipe;
}

std::vector<std::string> Checker::ops() const {
  // The ends of regions come with their ops, and variables are those of traces,
  // which LiftVariables makes arguments of. Whoever registers a custom call or
  // a callback decides what it does (CustomCallTest and CallbackTest). Maps and
  // what is between their places become other ops first (VectoriseTest has
  // every op in one).
  static const std::set<llvm::StringRef> others = {
      "dtensor.yield",      "dtensor.custom_call",   "dtensor.callback",
      "dtensor.variable",   "dtensor.read_variable", "dtensor.assign_variable",
      "dtensor.map",        "dtensor.axis_reduce",   "dtensor.axis_part",
      "dtensor.axis_gather"};
  std::vector<std::string> names;
  for (mlir::RegisteredOperationName op :
       impl->context.getRegisteredOperations())
    if (op.getDialectNamespace() == "dtensor" &&
        !others.contains(op.getStringRef()))
      names.push_back(op.getStringRef().str());
  return names;
}

std::string Checker::check(const Recipe &original,
                           const CheckOptions &options) {
  std::string failure;
  const Recipe recipe =
      options.deterministic ? withoutPartialSums(original) : original;
  auto module = impl->parse(recipe, failure);
  if (!failure.empty())
    return failure;
  if (failure = impl->expect(recipe, *module); !failure.empty())
    return failure;
  if (options.deterministic) {
    auto alone = impl->parse(onOneDevice(recipe), failure);
    CheckOptions once = options;
    once.ways = {{"shared-memory", false}};
    if (failure.empty())
      failure = impl->runAll(*alone, once);
    if (!failure.empty())
      return "on one device: " + failure;
  }
  return impl->runAll(*module, options);
}

std::string Checker::check(const TextProgram &program,
                           const CheckOptions &options) {
  OwningOpRef<ModuleOp> module;
  {
    Messages messages(&impl->context);
    module = mlir::parseSourceString<ModuleOp>(program.text, &impl->context);
    if (!module)
      return "does not parse: " + messages.text;
    if (holdsStableHLO(*module) && failed(importStableHLO(*module)))
      return "import: " + messages.text;
  }
  impl->inputs = program.inputs;
  impl->bits.clear();
  impl->ranges.assign(program.inputs.size(), Range{});
  impl->expected.clear();
  auto interpreted = interpret(*module, "", program.inputs);
  if (!interpreted)
    return "reference: " + interpreted.error().message();
  if (interpreted->size() != program.expected.size())
    return fmt::format("reference: {} results, not {}", interpreted->size(),
                       program.expected.size());
  for (size_t i = 0; i < program.expected.size(); ++i) {
    Expectation want{program.expected[i]};
    if (std::string wrong = differs((*interpreted)[i], want); !wrong.empty())
      return fmt::format("import: WRONG result {}: {}", i, wrong);
    impl->expected.push_back(std::move(want));
  }
  return impl->runAll(*module, options);
}

std::string Checker::Impl::runAll(ModuleOp module,
                                  const CheckOptions &options) {
  std::string failure;
  std::map<std::pair<std::string, std::string>, Compiled> compiled;
  for (const Way &way : options.ways) {
    auto on = platform(way.platform);
    if (!on)
      return on.error().message();
    const std::pair key(way.machine, std::string((*on)->target()));
    auto found = compiled.find(key);
    if (found == compiled.end()) {
      CompileOptions compileOptions;
      auto machine = MachineModel::preset(way.machine);
      if (!machine)
        return machine.error().message();
      compileOptions.machine = *machine;
      compileOptions.refine = options.refine;
      compileOptions.optimizeKernels = options.deterministic;
      compileOptions.deterministic = options.deterministic;
      compileOptions.target = key.second;
      auto built = compile(module, compileOptions);
      if (!built)
        return way.text() + ": compile: " + built.error().message();
      if (options.damage) {
        CodedProgram damaged = *built->coded();
        options.damage(damaged);
        built = Compiled(std::move(damaged));
      }
      found = compiled.emplace(key, std::move(*built)).first;
    }
    failure = run(found->second, way, options.deterministic);
    if (!failure.empty())
      return way.text() + ": " + failure;
  }
  return "";
}

} // namespace meshloom::fuzz
