// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every kernel of the programs of test/Programs, as PTX on the machine of
// PtxMachine.h and as machine code of this CPU, on the same numbers.
#include "PtxMachine.h"

#include "meshloom/Compiler/Compiler.h"
#include "meshloom/Core/DType.h"
#include "meshloom/Core/DeviceCode.h"
#include "meshloom/Dialect/SPMD/SPMD.h"
#include "meshloom/Runtime/KernelFunction.h"
#include "meshloom/Targets/CPU/CPUTarget.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <random>
#include <set>
#include <sstream>

using namespace meshloom;

namespace {

/// Kernels of larger arrays or more iterations would take too long; of outer
/// loops, enough is where blocks go on with further results.
constexpr int64_t mostBytes = 1 << 20, mostIterations = 1 << 17,
                  enoughIterations = 1 << 15;

float fromHalf(uint16_t bits) {
  return float(std::bit_cast<_Float16>(bits));
}
float fromBF16(uint16_t bits) {
  return std::bit_cast<float>(uint32_t(bits) << 16);
}

/// An array of a buffer's global shape, row-major.
struct Array {
  DType type;
  std::vector<char> bytes;
  std::vector<int64_t> strides;

  explicit Array(const BufferDecl &buffer) : type(buffer.type) {
    int64_t elements = 1;
    strides.resize(buffer.shape.size());
    for (size_t dim = strides.size(); dim-- > 0;) {
      strides[dim] = elements;
      elements *= buffer.shape[dim];
    }
    bytes.resize(size_t(elements) * byteWidth(type));
  }

  void fill(std::mt19937 &random) {
    for (size_t begin = 0; begin < bytes.size(); begin += byteWidth(type))
      fillElement(bytes.data() + begin, random);
  }

  void fillElement(char *place, std::mt19937 &random) const {
    // From -2 to 2. The standard library's distributions take ten times as
    // long.
    auto uniform = [&] { return float(random()) * 0x1p-30f - 2; };
    auto store = [&](auto value) { std::memcpy(place, &value, sizeof(value)); };
    switch (type) {
    case DType::F32:
      return store(uniform());
    case DType::F64:
      return store(double(uniform()));
    case DType::F16:
      return store(_Float16(uniform()));
    case DType::BF16:
      return store(uint16_t(std::bit_cast<uint32_t>(uniform()) >> 16));
    case DType::C64:
      return store(std::array{uniform(), uniform()});
    case DType::C128:
      return store(std::array{double(uniform()), double(uniform())});
    case DType::I1:
      return store(uint8_t(random() & 1));
    default: { // little endian
      const int64_t value = random() & 7;
      std::memcpy(place, &value, byteWidth(type));
    }
    }
  }

  /// The parts of all elements, and how far they may be off, relatively.
  std::pair<std::vector<double>, double> numbers() const {
    std::vector<double> values;
    auto read = [&]<typename T>(T, auto convert) {
      for (size_t i = 0; i + sizeof(T) <= bytes.size(); i += sizeof(T)) {
        T value;
        std::memcpy(&value, bytes.data() + i, sizeof(T));
        values.push_back(convert(value));
      }
    };
    auto same = [](auto value) { return double(value); };
    switch (type) {
    case DType::F32:
    case DType::C64:
      read(float(), same);
      return {values, 3e-5};
    case DType::F64:
    case DType::C128:
      read(double(), same);
      return {values, 1e-12};
    case DType::F16:
      read(uint16_t(), fromHalf);
      return {values, 8e-3};
    case DType::BF16:
      read(uint16_t(), fromBF16);
      return {values, 1.6e-2};
    default:
      read(uint8_t(), same);
      return {values, 0};
    }
  }
};

/// One of a program's kernels, with arrays of zeros for its operands: inputs,
/// then the outputs that overwrite none.
class KernelCall {
public:
  KernelCall(const Program &program, const KernelStep &step)
      : step(step), origin(step.loops.size()) {
    for (const Operand &input : step.inputs)
      operands.push_back(&input);
    for (size_t i = 0; i < step.outputs.size(); ++i)
      if (step.inPlace[i] < 0)
        operands.push_back(&step.outputs[i]);
    for (const Operand *operand : operands)
      arrays.emplace_back(program.buffers[operand->buffer]);
    for (const Loop &loop : step.loops)
      extents.push_back(loop.extent);
  }

  void fillArrays(unsigned seed) {
    std::mt19937 random(seed);
    for (Array &array : arrays)
      array.fill(random);
  }

  bool isSmall() {
    for (const Array &array : arrays)
      if (int64_t(array.bytes.size()) > mostBytes)
        return false;
    auto iterations = [&] {
      int64_t count = 1;
      for (size_t loop = 0; loop < extents.size(); ++loop)
        count *= step.loops[loop].held ? 1 : extents[loop];
      return count;
    };
    for (size_t loop = 0; loop < extents.size(); ++loop)
      while (iterations() > enoughIterations && extents[loop] > 1 &&
             !step.loops[loop].reduction && !step.loops[loop].held)
        extents[loop] = (extents[loop] + 1) / 2;
    return iterations() <= mostIterations;
  }

  const std::vector<int64_t> &size() const { return extents; }
  template <typename T> T *data(size_t operand) {
    return reinterpret_cast<T *>(arrays[operand].bytes.data());
  }

  void runOnCPU(KernelFunction function) {
    const auto [pointers, strides] = addresses();
    std::vector<void *> places;
    for (uint64_t pointer : pointers)
      places.push_back(reinterpret_cast<void *>(pointer));
    function(places.data(), strides.data(), origin.data(), extents.data());
  }

  Status runAsPtx(const ptx::Program &code, const KernelShape &shape,
                  unsigned seed, ptx::Traffic *traffic = nullptr) {
    const auto [pointers, strides] = addresses();
    const int64_t blocks = shape.blocks(extents);
    if (blocks == 0)
      return Success();
    ptx::Memory memory;
    for (Array &array : arrays)
      memory.add(array.bytes.data(), array.bytes.size());
    ptx::Launch launch{unsigned(std::min<int64_t>(blocks, mostBlocks)),
                       shape.threads(),
                       {},
                       seed,
                       traffic};
    for (const KernelParameter &parameter : shape.parameters)
      switch (parameter.kind) {
      case KernelParameter::Kind::Pointer:
        launch.parameters.push_back(pointers[parameter.operand]);
        break;
      case KernelParameter::Kind::Extent:
        launch.parameters.push_back(extents[parameter.loop]);
        break;
      case KernelParameter::Kind::Origin:
        launch.parameters.push_back(origin[parameter.loop]);
        break;
      case KernelParameter::Kind::Stride:
        launch.parameters.push_back(
            strides[parameter.operand * extents.size() + parameter.loop]);
        break;
      }
    const ptx::Kernel *kernel = code.find(shape.symbol);
    return kernel ? ptx::run(code, *kernel, launch, memory)
                  : Error("the PTX has no kernel " + shape.symbol);
  }

  /// Names the first number that differs in `other`, the same call after it ran
  /// elsewhere. Empty: none differs.
  std::string difference(const KernelCall &other) const {
    for (size_t k = 0; k < arrays.size(); ++k) {
      if (arrays[k].bytes == other.arrays[k].bytes)
        continue;
      const auto [here, tolerance] = arrays[k].numbers();
      const auto [there, same] = other.arrays[k].numbers();
      double largest = 0;
      for (double value : there)
        if (std::isfinite(value))
          largest = std::max(largest, std::abs(value));
      for (size_t i = 0; i < here.size(); ++i) {
        if (here[i] == there[i] ||
            (std::isnan(here[i]) && std::isnan(there[i])))
          continue;
        const double size =
            std::max({std::abs(here[i]), std::abs(there[i]), largest / 100});
        if (!(std::abs(here[i] - there[i]) <= tolerance * size))
          return fmt::format("operand {}, number {}: {} as PTX, {} on the CPU",
                             k, i, here[i], there[i]);
      }
    }
    return "";
  }

private:
  /// Blocks go on with further results.
  static constexpr int64_t mostBlocks = 64;

  /// The first iteration's element of each operand, and the strides of loops.
  std::pair<std::vector<uint64_t>, std::vector<int64_t>> addresses() {
    std::vector<uint64_t> pointers;
    std::vector<int64_t> strides;
    for (size_t k = 0; k < operands.size(); ++k) {
      int64_t offset = 0;
      std::vector<int64_t> ofLoops(extents.size());
      for (size_t dim = 0; dim < operands[k]->dims.size(); ++dim) {
        const int64_t stride = arrays[k].strides[dim];
        offset += operands[k]->dims[dim].offset * stride;
        for (auto [loop, coefficient] : operands[k]->dims[dim].terms)
          ofLoops[loop] += coefficient * stride;
      }
      pointers.push_back(reinterpret_cast<uint64_t>(arrays[k].bytes.data()) +
                         uint64_t(offset * int64_t(byteWidth(arrays[k].type))));
      strides.insert(strides.end(), ofLoops.begin(), ofLoops.end());
    }
    return {pointers, strides};
  }

  const KernelStep &step;
  std::vector<const Operand *> operands;
  std::vector<Array> arrays;
  std::vector<int64_t> origin, extents;
};

void forKernels(const std::vector<Step> &steps,
                const std::function<void(const KernelStep &)> &use) {
  for (const Step &step : steps) {
    if (auto *kernel = std::get_if<KernelStep>(&step);
        kernel && kernel->library.empty())
      use(*kernel);
    for (const std::vector<Step> *inner : nestedLists(step))
      forKernels(*inner, use);
  }
}

struct Counts {
  std::set<std::string> symbols; ///< programs share kernels
  unsigned programs = 0, kernels = 0, rows = 0, large = 0, withBarriers = 0;
};

/// Replaces calls of `rows` by their kernels.
void inlineRows(mlir::func::FuncOp function) {
  function.walk([](spmd::LibraryCallOp call) {
    if (call.getCallee() != "rows")
      return;
    mlir::Block &body = call.getScalar().front();
    for (auto [argument, input] :
         llvm::zip_equal(body.getArguments(), call.getInputs()))
      argument.replaceAllUsesWith(input);
    mlir::Operation *yield = body.getTerminator();
    call->replaceAllUsesWith(yield->getOperands());
    yield->erase();
    call->getBlock()->getOperations().splice(call->getIterator(),
                                             body.getOperations());
    call.erase();
  });
}

std::string withoutBarriers(std::string ptx) {
  constexpr std::string_view barrier = "bar.sync", comment = "//bar.sync";
  for (size_t place = ptx.find(barrier); place != std::string::npos;
       place = ptx.find(barrier, place + comment.size()))
    ptx.replace(place, barrier.size(), comment);
  return ptx;
}

/// Compares the kernels of one function of a module.
void compareFunction(mlir::ModuleOp module, const std::string &name,
                     mlir::MLIRContext &context, Counts &counts) {
  CompileOptions options;
  options.machine = *MachineModel::preset("shared-memory");
  options.target = "cuda";
  options.function = name;
  std::string formed;
  options.afterPass = [&](std::string_view, const std::string &ir) {
    formed = ir;
  };
  auto compiled = compile(module, options);
  if (!compiled) {
    // The formulas that are not there yet: docs/CUDA.md.
    EXPECT_NE(compiled.error().message().find("has no code for the function"),
              std::string::npos)
        << name << ": " << compiled.error().message();
    return;
  }
  const std::vector<char> &bytes = compiled->code().bytes;
  auto code = DeviceCode::parse({bytes.data(), bytes.size()});
  ASSERT_TRUE(code) << code.error().message();
  if (code->kernels.empty())
    return;
  auto program = ptx::parse(code->ptx);
  ASSERT_TRUE(program) << name << ": " << program.error().message();

  auto formedModule = mlir::parseSourceString<mlir::ModuleOp>(formed, &context);
  ASSERT_TRUE(formedModule);
  auto function = *formedModule->getOps<mlir::func::FuncOp>().begin();
  inlineRows(function);
  EmitOptions quick;
  quick.optimize = false;
  auto onCPU = cpuTarget().emit(function, quick, nullptr);
  ASSERT_TRUE(succeeded(onCPU) && *onCPU) << name;
  auto broken = ptx::parse(withoutBarriers(code->ptx));
  ASSERT_TRUE(broken) << broken.error().message();
  ++counts.programs;
  unsigned seed = 0;
  forKernels(compiled->program().steps, [&](const KernelStep &step) {
    if (!counts.symbols.insert(step.symbol).second)
      return;
    auto shape =
        std::ranges::find(code->kernels, step.symbol, &KernelShape::symbol);
    ASSERT_NE(shape, code->kernels.end());
    KernelCall asPtx(compiled->program(), step);
    ++seed;
    if (!asPtx.isSmall()) {
      ++counts.large;
      return;
    }
    ++counts.kernels;
    asPtx.fillArrays(seed);
    KernelCall native = asPtx, racing = asPtx;
    auto symbol = (*onCPU)->code().symbols->lookup(step.symbol);
    // programs_cuda checks the numbers of several kernels in one.
    counts.rows += !symbol;
    ASSERT_TRUE(symbol || formed.find("\"rows\"") != std::string::npos)
        << symbol.error().message();
    if (symbol)
      native.runOnCPU(asKernel(*symbol));
    Status ran = asPtx.runAsPtx(*program, *shape, seed);
    EXPECT_TRUE(ran) << name << ", " << step.note.location << ": "
                     << ran.error().message();
    if (ran && symbol)
      EXPECT_EQ(asPtx.difference(native), "")
          << name << ", " << step.note.op << " in " << step.note.location
          << ", " << step.symbol;
    const bool hasBarriers =
        std::ranges::any_of(program->find(step.symbol)->code,
                            [](const ptx::Instruction &instruction) {
                              return instruction.op == ptx::Op::BarSync;
                            });
    if (hasBarriers && shape->blocks(racing.size()) > 0) {
      const bool races = !racing.runAsPtx(*broken, *shape, seed);
      counts.withBarriers += races;
      // Between two kernels of rows there is one, also where none is needed.
      EXPECT_TRUE(races || !symbol)
          << name << " runs without its barriers, " << step.note.location;
    }
  });
}

TEST(CUDAKernelTest, KernelsOfThePrograms) {
  mlir::DialectRegistry registry;
  registerDialects(registry);
  Counts counts;
  for (const auto &entry :
       std::filesystem::directory_iterator(MESHLOOM_PROGRAMS)) {
    if (entry.path().extension() != ".mlir")
      continue;
    mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
    std::ifstream file(entry.path());
    std::stringstream text;
    text << file.rdbuf();
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text.str(), &context);
    if (!module) // StableHLO, which the importer reads
      continue;
    for (auto function : module->getOps<mlir::func::FuncOp>()) {
      SCOPED_TRACE(entry.path().filename().string());
      compareFunction(*module, function.getName().str(), context, counts);
    }
  }
  fmt::print("{} functions, {} kernels, {} of rows, {} with barriers; {} "
             "kernels are too large\n",
             counts.programs, counts.kernels, counts.rows, counts.withBarriers,
             counts.large);
  EXPECT_GT(counts.rows, 10u);
  EXPECT_GT(counts.kernels, 200u);
  EXPECT_GT(counts.withBarriers, 20u);
}

struct CompiledFunction {
  Compiled compiled;
  std::vector<KernelShape> shapes;
  ptx::Program code;
};

CompiledFunction compiledFunction(const std::string &text) {
  mlir::DialectRegistry registry;
  registerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  CompileOptions options;
  options.machine = *MachineModel::preset("shared-memory");
  options.target = "cuda";
  auto compiled = compile(*module, options);
  EXPECT_TRUE(compiled) << compiled.error().message();
  const std::vector<char> &bytes = compiled->code().bytes;
  auto code = DeviceCode::parse({bytes.data(), bytes.size()});
  auto program = ptx::parse(code->ptx);
  EXPECT_TRUE(program) << program.error().message();
  return {*compiled, code->kernels, *program};
}

/// The bytes that a GPU moves for each byte that threads ask for, in a function
/// of `x`, a tensor of that shape, with the ops of `body`, which returns.
double overhead(const std::string &shape, const std::string &result,
                const std::string &body) {
  const auto [compiled, shapes, code] = compiledFunction(
      fmt::format("func.func @f(%x: tensor<{}>) -> tensor<{}> {{\n{}\n}}",
                  shape, result, body));
  ptx::Traffic traffic;
  forKernels(compiled.program().steps, [&](const KernelStep &step) {
    const auto launched =
        std::ranges::find(shapes, step.symbol, &KernelShape::symbol);
    Status ran = KernelCall(compiled.program(), step)
                     .runAsPtx(code, *launched, 0, &traffic);
    EXPECT_TRUE(ran) << ran.error().message();
  });
  return double(traffic.sectors) * 32 / double(traffic.bytes);
}

TEST(CUDAKernelTest, WarpsMoveWholeSectors) {
  constexpr double most = 1.5; // arrays of the host begin within a sector
  EXPECT_LE(overhead("64x64xf32", "64x64xf32",
                     "%0 = dtensor.exp %x : tensor<64x64xf32>\n"
                     "return %0 : tensor<64x64xf32>"),
            most);
  EXPECT_LE(overhead("64x40xf32", "40x64xf32",
                     "%0 = dtensor.transpose %x dims [1, 0] : "
                     "(tensor<64x40xf32>) -> tensor<40x64xf32>\n"
                     "return %0 : tensor<40x64xf32>"),
            most);
  // The eight threads of a result of few terms read one sector.
  for (auto [rows, columns, dim, limit] :
       {std::tuple(128, 128, 0, most), std::tuple(128, 128, 1, most),
        std::tuple(8192, 48, 1, 2.)})
    EXPECT_LE(overhead(fmt::format("{}x{}xf32", rows, columns),
                       fmt::format("{}xf32", rows),
                       fmt::format("%0 = dtensor.reduce sum %x dims [{0}] : "
                                   "(tensor<{1}x{2}xf32>) -> tensor<{1}xf32>\n"
                                   "return %0 : tensor<{1}xf32>",
                                   dim, rows, columns)),
              limit);
}

/// Eight bf16 an access.
TEST(CUDAKernelTest, LargeKernelsAccessSeveralElements) {
  const auto [compiled, shapes, code] = compiledFunction(
      "func.func @f(%x: tensor<512x512xbf16>) -> tensor<512x512xbf16> {\n"
      "%0 = dtensor.add %x, %x : tensor<512x512xbf16>\n"
      "return %0 : tensor<512x512xbf16>\n}");
  EXPECT_TRUE(std::ranges::any_of(
      code.kernels.front().code, [](const ptx::Instruction &instruction) {
        return instruction.op == ptx::Op::Ld && instruction.vectorSize == 4;
      }));
  KernelCall call(compiled.program(),
                  std::get<KernelStep>(compiled.program().steps.front()));
  ASSERT_TRUE(call.isSmall());
  call.fillArrays(0);
  Status ran = call.runAsPtx(code, shapes.front(), 0);
  ASSERT_TRUE(ran) << ran.error().message();
  for (int64_t i = 0; i < enoughIterations; ++i)
    ASSERT_EQ(fromBF16(call.data<uint16_t>(1)[i]),
              2 * fromBF16(call.data<uint16_t>(0)[i]));
}

/// f(x) or f(x, y), as PTX, of 64 numbers each: f32 or f64.
template <typename T>
std::vector<T> valuesOf(const std::string &op, std::vector<T> x,
                        std::vector<T> y = {}) {
  x.resize(64);
  y.resize(64);
  const std::string type = fmt::format("tensor<64xf{}>", 8 * sizeof(T));
  const auto [compiled, shapes, code] = compiledFunction(
      fmt::format("func.func @f(%x: {0}, %y: {0}) -> {0} {{\n%0 = {1} : {0}\n"
                  "return %0 : {0}\n}}",
                  type, op));
  KernelCall call(compiled.program(),
                  std::get<KernelStep>(compiled.program().steps.front()));
  std::ranges::copy(x, call.data<T>(0));
  const size_t output = op.find("%y") == std::string::npos ? 1 : 2;
  if (output == 2)
    std::ranges::copy(y, call.data<T>(1));
  Status ran = call.runAsPtx(code, shapes.front(), 0);
  EXPECT_TRUE(ran) << ran.error().message();
  return {call.data<T>(output), call.data<T>(output) + 64};
}

/// Within 4 units of the last place.
template <typename T>
void expectClose(T value, long double expected, const std::string &name) {
  const T rounded = T(expected);
  if (std::isnan(rounded))
    EXPECT_TRUE(std::isnan(value)) << name << " is " << value;
  else if (std::isinf(rounded) || rounded == 0)
    EXPECT_EQ(value, rounded) << name;
  else
    EXPECT_LE(std::abs(value - expected),
              4 * std::numeric_limits<T>::epsilon() / 2 * std::abs(expected) +
                  std::numeric_limits<T>::denorm_min())
        << name << " is " << value << ", expected " << double(expected);
}

/// Arguments of all sizes, of which many are many periods apart from their
/// neighbours, and some are close to a zero of a function.
template <typename T> std::vector<T> angles() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> x{T(0),
                   T(-0.0),
                   T(1e22),
                   T(-1e22),
                   Limits::max(),
                   -Limits::max(),
                   T(1e30),
                   Limits::min(),
                   T(6.3e19),
                   T(1e18),
                   T(1e25),
                   T(-7e33),
                   T(22),
                   T(355),
                   T(3.14159265),
                   Limits::infinity(),
                   Limits::quiet_NaN()};
  const int most = Limits::max_exponent;
  for (int i = int(x.size()); i < 64; ++i)
    x.push_back(std::ldexp(T(i % 2 ? 1.2345678 : -1.0000001),
                           most / 2 * (i - 20) / 22));
  return x;
}

template <typename T> void checkAngles(const std::vector<T> &x) {
  const auto sine = valuesOf("dtensor.sine %x", x),
             cosine = valuesOf("dtensor.cosine %x", x),
             tangent = valuesOf("dtensor.tan %x", x);
  for (size_t i = 0; i < x.size(); ++i) {
    const long double angle = x[i];
    const std::string name = fmt::format("of {}", x[i]);
    expectClose(sine[i], std::sin(angle), "sin " + name);
    expectClose(cosine[i], std::cos(angle), "cos " + name);
    expectClose(tangent[i], std::tan(angle), "tan " + name);
  }
}

TEST(CUDAKernelTest, FunctionsOfAngles) {
  checkAngles(angles<float>());
  checkAngles(angles<double>());
}

/// The f64 numbers that are closest to multiples of pi / 2.
TEST(CUDAKernelTest, FunctionsOfAnglesCloseToAxes) {
  std::vector<double> x{6381956970095103.0 * 0x1p797, 5.319372648326541e255};
  for (int i = 0; x.size() < 64; ++i)
    x.push_back(std::round(std::exp2(i * 0.7)) * 1.5707963267948966);
  checkAngles(x);
}

TEST(CUDAKernelTest, ErrorFunctionAndCubeRoot) {
  using Limits = std::numeric_limits<double>;
  std::vector<double> x{0,
                        Limits::infinity(),
                        Limits::quiet_NaN(),
                        Limits::max(),
                        Limits::min(),
                        Limits::denorm_min(),
                        0x1p-1000,
                        0.99999,
                        1,
                        1.00001,
                        6.4,
                        6.6};
  while (x.size() < 63)
    x.push_back(std::exp2(double(x.size()) / 4 - 12));
  for (double sign : {1.0, -1.0}) {
    for (double &value : x)
      value = std::copysign(value, sign);
    const auto erf = valuesOf("dtensor.erf %x", x),
               cbrt = valuesOf("dtensor.cbrt %x", x);
    for (size_t i = 0; i < x.size(); ++i) {
      expectClose(erf[i], std::erf((long double)x[i]),
                  fmt::format("erf of {}", x[i]));
      expectClose(cbrt[i], std::cbrt((long double)x[i]),
                  fmt::format("cbrt of {}", x[i]));
    }
  }
}

/// Checks a function of two numbers on all pairs of `special`, then on random
/// numbers of 2^-scale to 2^scale.
template <typename T>
void checkPairs(const std::string &op,
                long double (*expected)(long double, long double),
                const std::array<T, 8> &special, double scale) {
  std::vector<T> x, y;
  for (T a : special)
    for (T b : special) {
      x.push_back(a);
      y.push_back(b);
    }
  const auto check = [&] {
    const std::vector<T> values = valuesOf("dtensor." + op + " %x, %y", x, y);
    for (size_t i = 0; i < x.size(); ++i) {
      const long double exact = expected(x[i], y[i]);
      const std::string name = fmt::format("{} of {} and {}", op, x[i], y[i]);
      expectClose(values[i], exact, name);
      EXPECT_TRUE(std::isnan(exact) ||
                  std::signbit(exact) == std::signbit(values[i]))
          << name;
    }
  };
  check();
  std::mt19937 random(1);
  std::uniform_real_distribution<double> exponent(-scale, scale);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = T(std::exp2(exponent(random)) * (i % 2 ? 1 : -1));
    y[i] = T(std::exp2(exponent(random)) * (i % 3 ? 1 : -1));
  }
  check();
}

template <typename T> void checkFunctionsOfTwo() {
  using Limits = std::numeric_limits<T>;
  const T infinity = Limits::infinity(), nan = Limits::quiet_NaN();
  const double most = Limits::max_exponent - 1;
  checkPairs<T>("remainder", fmodl,
                {0, T(-0.0), T(-3.5), infinity, Limits::denorm_min(), nan,
                 Limits::max(), -Limits::min() / 8},
                most);
  checkPairs<T>("atan2", atan2l,
                {0, T(-0.0), 1, -1, infinity, -infinity, nan, Limits::max()},
                most / 2);
  checkPairs<T>("power", powl,
                {0, T(-0.0), 1, -1, T(2.5), T(-3), infinity, -infinity}, 2);
  checkPairs<T>("power", powl, {T(0.5), nan, 2, -2, 3, -infinity, 0, T(1e-30)},
                std::log2(most) - 2);
}

TEST(CUDAKernelTest, FunctionsOfTwoNumbers) {
  checkFunctionsOfTwo<float>();
  checkFunctionsOfTwo<double>();
}

/// Powers whose exponents have bits that the logarithm's last one decides.
TEST(CUDAKernelTest, LargePowers) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> near(0.9999, 1.0001), wide(-40, 40);
  std::vector<double> x, y;
  for (int i = 0; i < 64; ++i) {
    x.push_back(i % 2 ? near(random) : std::exp2(wide(random)));
    y.push_back(i % 2 ? wide(random) * 1e5 : wide(random) / 2);
  }
  const std::vector<double> powers = valuesOf("dtensor.power %x, %y", x, y);
  for (size_t i = 0; i < x.size(); ++i)
    expectClose(powers[i], powl(x[i], y[i]),
                fmt::format("{} to the power of {}", x[i], y[i]));
}

} // namespace
