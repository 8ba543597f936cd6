// A Program with a memory per device, step by step: kernels and dots are called
// once a device, collectives copy. It runs what separate devices would run, and
// so checks what the shared-memory plan makes of the same Program.
#include "Addends.h"
#include "CPUExecutable.h"
#include "Dot.h"
#include "Placement.h"
#include "PrivateCollective.h"

#include "meshloom/Runtime/BoxCopy.h"

#include <cstring>
#include <fmt/format.h>
#include <limits>

using namespace meshloom;
using namespace meshloom::cpu;

namespace {
constexpr int AT_END = std::numeric_limits<int>::max();

/// Memory of one or more buffers (updates in place) on every device.
struct PrivateRoot {
  enum class Kind : uint8_t { Argument, Constant, Result, Scratch };
  Kind kind = Kind::Scratch;
  unsigned index = 0;        ///< of the argument or constant
  unsigned buffer = 0;       ///< the first in it
  int64_t bytes = 0;         ///< on one device
  int64_t offset = 0;        ///< Scratch: in the device's arena
  int first = -1, last = -1; ///< steps that use it
  bool overwritten = false;
};

/// What a step needs besides the Program.
struct PrivateStep {
  KernelFunction function = nullptr;
  std::shared_ptr<const LibraryCall> library;
  std::optional<Dot> dot;
  std::vector<PrivateMove> moves;
  /// Copies before a kernel that would overwrite a value still needed: from
  /// root, to root; and the operand that uses the copy.
  struct Copy {
    unsigned from, to, input;
  };
  std::vector<Copy> copies;
};

class PrivateExecutable : public CPUExecutable {
public:
  using CPUExecutable::CPUExecutable;
  Status plan();

private:
  Result<std::vector<Array>> run(std::vector<Array> arguments) override;
  unsigned newRoot(unsigned buffer, PrivateRoot::Kind kind, unsigned index = 0);
  Status planStep(unsigned step);
  void findLastReads();
  Status placeRoots();
  Status fillConstants();
  void use(unsigned root, int step);
  void runOnDevice(unsigned step, int64_t device,
                   const std::vector<std::vector<char *>> &memory,
                   Failure &failure) const;

  std::vector<PrivateRoot> roots;
  std::vector<int> rootOf; ///< per buffer, -1: none yet
  std::vector<int> lastRead;
  std::vector<unsigned> current; ///< per root: the newest value
  std::vector<PrivateStep> steps;
  std::vector<Shape> local;                  ///< per buffer: padded local shape
  std::vector<std::vector<Block>> constants; ///< [constant][device]
  std::vector<Block> arenas;                 ///< per device
  int64_t arenaBytes = 0;
};

void PrivateExecutable::findLastReads() {
  lastRead.assign(loaded.buffers.size(), -1);
  for (int s = 0; s < int(loaded.steps.size()); ++s) {
    for (const Operand *operand : inputsOf(loaded.steps[size_t(s)]))
      lastRead[operand->buffer] = s;
    if (auto *collective =
            std::get_if<CollectiveStep>(&loaded.steps[size_t(s)]))
      for (const CollectiveStep::Move &move : collective->moves)
        lastRead[move.from] = s;
  }
  for (const ProgramResult &result : loaded.results)
    lastRead[result.buffer] = AT_END;
}

unsigned PrivateExecutable::newRoot(unsigned buffer, PrivateRoot::Kind kind,
                                    unsigned index) {
  roots.push_back({.kind = kind,
                   .index = index,
                   .buffer = buffer,
                   .bytes = loaded.buffers[buffer].localBytes()});
  current.push_back(buffer);
  return unsigned(roots.size()) - 1;
}

void PrivateExecutable::use(unsigned root, int step) {
  if (roots[root].first < 0)
    roots[root].first = step;
  roots[root].last = step;
}

Status PrivateExecutable::planStep(unsigned index) {
  const Step &step = loaded.steps[index];
  PrivateStep &ready = steps[index];
  auto define = [&](unsigned buffer) {
    if (rootOf[buffer] < 0)
      rootOf[buffer] = int(newRoot(buffer, PrivateRoot::Kind::Scratch));
    use(unsigned(rootOf[buffer]), int(index));
  };
  if (auto *collective = std::get_if<CollectiveStep>(&step)) {
    for (const CollectiveStep::Move &move : collective->moves) {
      use(unsigned(rootOf[move.from]), int(index));
      define(move.to);
      ready.moves.emplace_back(loaded, *collective, move);
    }
    return Success();
  }
  for (const Operand *operand : inputsOf(step))
    use(unsigned(rootOf[operand->buffer]), int(index));
  if (auto *dot = std::get_if<DotStep>(&step)) {
    ready.dot.emplace(*dot);
    define(dot->out.buffer);
    return Success();
  }
  const KernelStep &call = std::get<KernelStep>(step);
  if (!call.library.empty()) {
    auto library = libraryCall(call);
    if (!library)
      return library.error();
    ready.library = std::move(*library);
  } else {
    Result<KernelFunction> function = kernel(index);
    if (!function)
      return function.error();
    ready.function = *function;
  }
  for (size_t o = 0; o < call.outputs.size(); ++o) {
    const unsigned out = call.outputs[o].buffer;
    if (call.inPlace[o] < 0) {
      define(out);
      continue;
    }
    const unsigned input = unsigned(call.inPlace[o]);
    const unsigned old = call.inputs[input].buffer;
    unsigned root = unsigned(rootOf[old]);
    if (loaded.buffers[old].localBytes() != loaded.buffers[out].localBytes())
      return Error(fmt::format("{}output {} cannot share the memory of input "
                               "{}",
                               describe(loaded, index), o, input));
    if (roots[root].kind == PrivateRoot::Kind::Constant ||
        current[root] != old || lastRead[old] > int(index)) {
      const unsigned copy = newRoot(old, PrivateRoot::Kind::Scratch);
      use(copy, int(index));
      ready.copies.push_back({root, copy, input});
      root = copy;
    }
    rootOf[out] = int(root);
    current[root] = out;
    if (roots[root].kind == PrivateRoot::Kind::Argument)
      roots[root].overwritten = true;
  }
  return Success();
}

Status PrivateExecutable::plan() {
  for (const BufferDecl &decl : loaded.buffers)
    local.push_back(decl.localShape());
  rootOf.assign(loaded.buffers.size(), -1);
  steps.resize(loaded.steps.size());
  findLastReads();
  for (unsigned a = 0; a < loaded.arguments.size(); ++a) {
    const unsigned buffer = loaded.arguments[a].buffer;
    rootOf[buffer] = int(newRoot(buffer, PrivateRoot::Kind::Argument, a));
  }
  for (unsigned c = 0; c < loaded.constants.size(); ++c) {
    const unsigned buffer = loaded.constants[c].buffer;
    rootOf[buffer] = int(newRoot(buffer, PrivateRoot::Kind::Constant, c));
  }
  for (unsigned s = 0; s < loaded.steps.size(); ++s)
    if (Status ok = planStep(s); !ok)
      return ok;
  for (const ProgramResult &result : loaded.results) {
    PrivateRoot &root = roots[size_t(rootOf[result.buffer])];
    if (root.kind == PrivateRoot::Kind::Scratch)
      root.kind = PrivateRoot::Kind::Result;
  }
  if (Status ok = placeRoots(); !ok)
    return ok;
  return fillConstants();
}

/// Arena offsets by lifetime; one arena per device, all alike.
Status PrivateExecutable::placeRoots() {
  std::vector<std::vector<unsigned>> starts(loaded.steps.size()),
      ends(loaded.steps.size());
  int64_t each = 0, largest = 0;
  unsigned culprit = 0;
  for (unsigned r = 0; r < roots.size(); ++r) {
    const PrivateRoot &root = roots[r];
    if (root.bytes > largest) {
      largest = root.bytes;
      culprit = r;
    }
    if (root.kind != PrivateRoot::Kind::Scratch) {
      each += root.bytes;
    } else if (root.first >= 0) {
      starts[size_t(root.first)].push_back(r);
      ends[size_t(root.last)].push_back(r);
    }
  }
  OffsetAllocator arena;
  for (size_t s = 0; s < loaded.steps.size(); ++s) {
    for (unsigned r : starts[s])
      roots[r].offset = arena.allocate(roots[r].bytes);
    for (unsigned r : ends[s])
      arena.release(roots[r].offset, roots[r].bytes);
  }
  arenaBytes = arena.peak();
  each += arenaBytes;
  stats.peakBytesPerDevice = each;
  stats.peakBytes = each * loaded.mesh.size();
  if (stats.peakBytes > device->pool->limit())
    return Error(fmt::format(
        "{}out of memory: program '{}' needs {} on each of {} devices, {} of "
        "them for '{}', and {} may be used",
        roots[culprit].first >= 0
            ? describe(loaded, unsigned(roots[culprit].first))
            : "",
        loaded.name, formatBytes(each), loaded.mesh.size(),
        formatBytes(largest), loaded.buffers[roots[culprit].buffer].name,
        formatBytes(device->pool->limit())));
  for (int64_t d = 0; d < loaded.mesh.size(); ++d) {
    Result<Block> block = device->pool->allocate(arenaBytes);
    if (!block)
      return block.error();
    arenas.push_back(std::move(*block));
  }
  return Success();
}

Status PrivateExecutable::fillConstants() {
  for (const ConstantData &constant : loaded.constants) {
    const BufferDecl &decl = loaded.buffers[constant.buffer];
    const int64_t width = byteWidth(decl.type);
    if (!decl.windows.empty()) { // the same everywhere
      std::vector<Block> &blocks = constants.emplace_back();
      for (int64_t d = 0; d < loaded.mesh.size(); ++d) {
        Result<Block> block = device->pool->allocate(decl.localBytes());
        if (!block)
          return block.error();
        for (int64_t at = 0; at < decl.localBytes(); at += width)
          std::memcpy(block->get() + at, constant.bytes.data(), size_t(width));
        blocks.push_back(std::move(*block));
      }
      continue;
    }
    const int64_t count = elementCount(decl.shape);
    HostBytes whole = constant.bytes;
    if (constant.splat) {
      whole.resize(size_t(count * width));
      for (int64_t i = 0; i < count; ++i)
        std::memcpy(whole.data() + i * width, constant.bytes.data(),
                    size_t(width));
    }
    if (int64_t(whole.size()) != count * width)
      return Error(fmt::format("constant '{}' of program '{}' takes {} bytes, "
                               "got {}",
                               decl.name, loaded.name, count * width,
                               whole.size()));
    Result<std::shared_ptr<Buffer>> buffer =
        device->fromHost(typeOf(constant.buffer), whole);
    if (!buffer)
      return buffer.error();
    constants.push_back(static_cast<CPUBuffer &>(**buffer).memories);
  }
  return Success();
}

void PrivateExecutable::runOnDevice(
    unsigned index, int64_t deviceId,
    const std::vector<std::vector<char *>> &memory, Failure &failure) const {
  const Step &step = loaded.steps[index];
  const PrivateStep &ready = steps[index];
  const std::vector<Loop> &loops = *loopsOf(step);
  const Box box = iterationBox(loops, loaded.mesh, deviceId);

  std::vector<int64_t> strides;
  std::vector<void *> pointers;
  auto bind = [&](const Operand &operand, unsigned root) {
    const BufferDecl &decl = loaded.buffers[operand.buffer];
    const Box held = decl.box(deviceId);
    const Shape dims = rowMajorStrides(local[operand.buffer]);
    std::vector<int64_t> steps(loops.size(), 0);
    int64_t element = 0;
    for (size_t d = 0; d < operand.dims.size(); ++d) {
      element += dims[d] * (operand.dims[d].offset - held.offset[d]);
      for (auto [loop, coefficient] : operand.dims[d].terms) {
        steps[loop] += dims[d] * coefficient;
        element += dims[d] * coefficient * box.offset[loop];
      }
    }
    strides.insert(strides.end(), steps.begin(), steps.end());
    pointers.push_back(memory[root][size_t(deviceId)] +
                       element * byteWidth(decl.type));
  };
  std::vector<const Operand *> outputs = outputsOf(step);
  if (auto *dot = std::get_if<DotStep>(&step)) {
    bind(dot->lhs, unsigned(rootOf[dot->lhs.buffer]));
    bind(dot->rhs, unsigned(rootOf[dot->rhs.buffer]));
    bind(dot->out, unsigned(rootOf[dot->out.buffer]));
    SingleThreaded guard;
    const size_t n = loops.size();
    Status status = ready.dot->run(
        static_cast<float *>(pointers[0]), static_cast<float *>(pointers[1]),
        static_cast<float *>(pointers[2]), box.extent.data(),
        {strides.data(), strides.data() + n, strides.data() + 2 * n});
    if (!status)
      return failure.report(index, status.error().message());
  } else {
    const KernelStep &call = std::get<KernelStep>(step);
    for (size_t i = 0; i < call.inputs.size(); ++i) {
      unsigned root = unsigned(rootOf[call.inputs[i].buffer]);
      for (const PrivateStep::Copy &copy : ready.copies)
        if (copy.input == i)
          root = copy.to;
      bind(call.inputs[i], root);
    }
    for (size_t o = 0; o < call.outputs.size(); ++o)
      if (call.inPlace[o] < 0)
        bind(call.outputs[o], unsigned(rootOf[call.outputs[o].buffer]));
    if (!ready.library) {
      ready.function(pointers.data(), strides.data(), box.offset.data(),
                     box.extent.data());
    } else {
      SingleThreaded guard;
      Status status = ready.library->run(pointers.data(), strides.data(),
                                         box.offset.data(), box.extent.data());
      if (!status)
        return failure.report(index, status.error().message());
    }
  }
  if (!options.checkNonFinite)
    return;
  strides.clear();
  pointers.clear();
  for (size_t o = 0; o < outputs.size(); ++o) {
    bind(*outputs[o], unsigned(rootOf[outputs[o]->buffer]));
    const int64_t *s = strides.data() + o * loops.size();
    bool empty = false;
    for (size_t l = 0; l < loops.size(); ++l)
      empty |= s[l] != 0 && box.extent[l] <= 0;
    const BufferDecl &decl = loaded.buffers[outputs[o]->buffer];
    if (!empty && hasNonFinite(decl.type, static_cast<char *>(pointers[o]),
                               box.extent.data(), s, unsigned(loops.size())))
      failure.report(index, nonFiniteMessage(decl.name));
  }
}

Result<std::vector<Array>>
PrivateExecutable::run(std::vector<Array> arguments) {
  const int64_t numDevices = loaded.mesh.size();
  std::vector<std::vector<Block>> blocks(roots.size());
  std::vector<std::vector<char *>> memory(
      roots.size(), std::vector<char *>(size_t(numDevices)));
  for (size_t r = 0; r < roots.size(); ++r) {
    const PrivateRoot &root = roots[r];
    std::vector<Block> old;
    bool fresh = root.kind == PrivateRoot::Kind::Result;
    if (root.kind == PrivateRoot::Kind::Constant)
      blocks[r] = constants[root.index];
    if (root.kind == PrivateRoot::Kind::Argument) {
      const Array &array = arguments[root.index];
      const bool inPlace = !root.overwritten || mayOverwrite(array);
      blocks[r] = static_cast<const CPUBuffer &>(*array.buffer()).memories;
      if (!inPlace) {
        fresh = true;
        old = std::move(blocks[r]);
        blocks[r].clear();
      }
    }
    for (int64_t d = 0; d < numDevices; ++d) {
      if (root.kind == PrivateRoot::Kind::Scratch) {
        memory[r][size_t(d)] = arenas[size_t(d)].get() + root.offset;
        continue;
      }
      if (fresh) {
        Result<Block> block = device->pool->allocate(root.bytes);
        if (!block)
          return block.error();
        blocks[r].push_back(std::move(*block));
        if (!old.empty() && root.bytes)
          std::memcpy(blocks[r].back().get(), old[size_t(d)].get(),
                      size_t(root.bytes));
      }
      memory[r][size_t(d)] = blocks[r][size_t(d)].get();
    }
  }

  Failure failure;
  auto onEachDevice = [&](unsigned step, auto &&body) {
    Workers::forEach(numDevices, [&](int64_t d) {
      try {
        body(d);
      } catch (const std::exception &error) {
        failure.report(step, error.what());
      }
    });
    return !failure.any();
  };
  device->workers.visit([&] {
    for (unsigned s = 0; s < loaded.steps.size(); ++s) {
      const PrivateStep &ready = steps[s];
      for (const PrivateMove &move : ready.moves) {
        const auto &from = memory[size_t(rootOf[move.from])];
        const auto &to = memory[size_t(rootOf[move.to])];
        auto source = [&](int64_t d) { return from[size_t(d)]; };
        bool ok = onEachDevice(s, [&](int64_t d) {
          if (move.sameAs(d) < 0)
            move.fill(d, source, to[size_t(d)]);
        });
        ok = ok && onEachDevice(s, [&](int64_t d) {
               const int64_t first = move.sameAs(d);
               if (first >= 0 && move.localBytes)
                 std::memcpy(to[size_t(d)], to[size_t(first)],
                             size_t(move.localBytes));
             });
        if (!ok)
          return;
      }
      if (!ready.moves.empty())
        continue;
      if (!std::holds_alternative<CollectiveStep>(loaded.steps[s]) &&
          !onEachDevice(s, [&](int64_t d) {
            for (const PrivateStep::Copy &copy : ready.copies)
              if (roots[copy.to].bytes)
                std::memcpy(memory[copy.to][size_t(d)],
                            memory[copy.from][size_t(d)],
                            size_t(roots[copy.to].bytes));
            runOnDevice(s, d, memory, failure);
          }))
        return;
    }
  });
  if (failure.any())
    return failure.error(loaded);

  std::vector<Array> results;
  for (size_t r = 0; r < loaded.results.size(); ++r) {
    const size_t root = size_t(rootOf[loaded.results[r].buffer]);
    results.emplace_back(resultType(r), std::make_shared<CPUBuffer>(
                                            client(), blocks[root],
                                            roots[root].bytes * numDevices));
  }
  return results;
}
} // namespace

Result<std::shared_ptr<Executable>>
cpu::loadPrivate(std::shared_ptr<CPUClient> client, BoundProgram bound,
                 const LoadOptions &options) {
  return loadAs<PrivateExecutable>(std::move(client), std::move(bound),
                                   options);
}
