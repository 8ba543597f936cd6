// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "FfiCalls.h"

#include "Callbacks.h"
#include "FfiAttributes.h"

#include "meshloom/Core/CustomCall.h"
#include "meshloom/Dialect/StableHLO/StableHLO.h"
#include "meshloom/Import/StableHLO/ImportStableHLO.h"
#include "meshloom/Runtime/Event.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

#include <atomic>
#include <cstring>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <numeric>

using namespace meshloom;
using namespace meshloom::plugin;

struct ffi::ErrorObject {
  std::string message;
  int32_t code;
};
struct ffi::FutureObject {
  Event done = Event::pending();
};

//===----------------------------------------------------------------------===//
// The functions that handlers call
//===----------------------------------------------------------------------===//

namespace {
std::atomic<HandlerFinder> handlerFinder{nullptr};

/// Takes the error over.
Error errorOf(ffi::ErrorObject *object) {
  const std::unique_ptr<ffi::ErrorObject> owner(object);
  return Error(owner->message, ErrorCode(owner->code));
}

ffi::ErrorObject *unsupported(void *) {
  return new ffi::ErrorObject{
      "Meshloom has no streams, states, types and user data for handlers",
      int32_t(ErrorCode::UNIMPLEMENTED)};
}

const ffi::Interface &interface() {
  static const ffi::Interface functions = {
      .createError =
          [](ffi::ErrorArguments *args) {
            return new ffi::ErrorObject{args->message, args->code};
          },
      .readMessage =
          [](ffi::MessageArguments *args) {
            args->message = args->error->message.c_str();
          },
      .destroyError = [](ffi::MessageArguments *args) { delete args->error; },
      .registerHandler = unsupported,
      .stream = unsupported,
      .registerType = unsupported,
      .userData = unsupported,
      .setState = unsupported,
      .state = unsupported,
      .allocate = [](ffi::AllocateArguments *args) -> ffi::ErrorObject * {
        const size_t alignment = std::max<size_t>(args->alignment, 64);
        args->data = std::aligned_alloc(
            alignment, (args->size + alignment - 1) / alignment * alignment);
        if (args->data || args->size == 0)
          return nullptr;
        return new ffi::ErrorObject{"there is no memory",
                                    int32_t(ErrorCode::RESOURCE_EXHAUSTED)};
      },
      .free = [](ffi::FreeArguments *args) -> ffi::ErrorObject * {
        std::free(args->data);
        return nullptr;
      },
      // Meshloom's own threads are busy with other devices.
      .schedule = [](ffi::TaskArguments *args) -> ffi::ErrorObject * {
        args->task(args->data);
        return nullptr;
      },
      .threads = [](ffi::ThreadArguments *args) -> ffi::ErrorObject * {
        *args->count = 1;
        return nullptr;
      },
      .createFuture = [](ffi::FutureArguments *args) -> ffi::ErrorObject * {
        args->future = new ffi::FutureObject;
        return nullptr;
      },
      .completeFuture = [](ffi::FutureArguments *args) -> ffi::ErrorObject * {
        args->future->done.complete();
        return nullptr;
      },
      .failFuture = [](ffi::FutureArguments *args) -> ffi::ErrorObject * {
        args->future->done.fail(errorOf(args->error));
        return nullptr;
      },
      .run = [](ffi::RunArguments *args) -> ffi::ErrorObject * {
        args->run = 0;
        return nullptr;
      },
      .device = [](ffi::DeviceArguments *args) -> ffi::ErrorObject * {
        args->device = 0;
        return nullptr;
      }};
  return functions;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// How a handler reads or writes a value.
struct ValueForm {
  int32_t type;
  std::vector<int64_t> minorToMajor;

  Shape strides(const Shape &extents) const {
    Shape result(extents.size());
    int64_t stride = 1;
    for (int64_t dim : minorToMajor) {
      result[size_t(dim)] = stride;
      stride *= extents[size_t(dim)];
    }
    return result;
  }
};

/// Copies a box of elements of `width` bytes between two orders in memory.
void copyBox(char *to, const Shape &toStrides, const char *from,
             const Shape &fromStrides, const Shape &extents, int64_t width,
             size_t dim = 0) {
  if (dim == extents.size()) {
    std::memcpy(to, from, size_t(width));
    return;
  }
  for (int64_t i = 0; i < extents[dim]; ++i)
    copyBox(to + i * toStrides[dim] * width, toStrides,
            from + i * fromStrides[dim] * width, fromStrides, extents, width,
            dim + 1);
}

/// An operand or result in the form that the handler expects: in place, or as a
/// copy.
class CallBuffer {
public:
  CallBuffer(const CustomOperand &operand, const ValueForm &form)
      : operand(operand), strides(form.strides(operand.shape)) {
    buffer.type = form.type;
    buffer.data = operand.data;
    buffer.rank = int64_t(operand.shape.size());
    buffer.extents = operand.shape.data();
    bool isInPlace = reinterpret_cast<uintptr_t>(operand.data) % 16 == 0;
    for (size_t dim = 0; dim < strides.size(); ++dim)
      isInPlace &=
          operand.shape[dim] == 1 || operand.strides[dim] == strides[dim];
    if (isInPlace)
      return;
    memory.resize(size_t(count() * width() + 16));
    buffer.data =
        memory.data() + (-reinterpret_cast<uintptr_t>(memory.data()) % 16);
  }

  /// Fills a copy with the elements of `source`, by default the operand's.
  void read(const CallBuffer *source = nullptr) {
    const CallBuffer &from = source ? *source : *this;
    if (count() > 0 && buffer.data != from.operand.data)
      copyBox(data(), strides, static_cast<const char *>(from.operand.data),
              from.operand.strides, operand.shape, width());
  }
  /// Brings what the handler wrote to where it belongs.
  void write() const {
    if (count() > 0 && !memory.empty())
      copyBox(static_cast<char *>(operand.data), operand.strides, data(),
              strides, operand.shape, width());
  }

  ffi::Buffer buffer{};

private:
  char *data() const { return static_cast<char *>(buffer.data); }
  int64_t width() const { return byteWidth(operand.type); }
  int64_t count() const {
    return std::accumulate(operand.shape.begin(), operand.shape.end(),
                           int64_t(1), std::multiplies<>());
  }

  const CustomOperand &operand;
  const Shape strides;
  std::vector<char> memory;
};

/// A handler with all that is the same in each of its calls.
struct BoundHandler {
  std::string target;
  ffi::Handler handler;
  std::unique_ptr<FfiAttributes> attributes;
  std::vector<ValueForm> operands, results;
  /// The operand whose memory a result takes, or -1.
  std::vector<int64_t> aliases;

  Status run(const CustomCall &call) const;
};

ffi::Buffers buffersOf(const std::vector<ffi::Buffer *> &buffers,
                       std::vector<int32_t> &kinds) {
  kinds.assign(buffers.size(), ffi::bufferKind);
  ffi::Buffers list{};
  list.head.size = sizeof(list);
  list.count = int64_t(buffers.size());
  list.kinds = kinds.data();
  list.buffers = const_cast<ffi::Buffer **>(buffers.data());
  return list;
}

Status BoundHandler::run(const CustomCall &call) const {
  if (call.inputs.size() != operands.size() ||
      call.results.size() != results.size())
    return Error(fmt::format("custom call '{}' has {} operands and {} results, "
                             "and runs with {} and {}",
                             target, operands.size(), results.size(),
                             call.inputs.size(), call.results.size()),
                 ErrorCode::INTERNAL);
  std::deque<CallBuffer> inputs, outputs;
  std::vector<ffi::Buffer *> inputBuffers, outputBuffers;
  for (size_t i = 0; i < operands.size(); ++i) {
    inputs.emplace_back(call.inputs[i], operands[i]).read();
    inputBuffers.push_back(&inputs.back().buffer);
  }
  for (size_t i = 0; i < results.size(); ++i) {
    CallBuffer &output = outputs.emplace_back(call.results[i], results[i]);
    outputBuffers.push_back(&output.buffer);
    if (aliases[i] < 0)
      continue;
    output.read(&inputs[size_t(aliases[i])]);
    inputs[size_t(aliases[i])].buffer.data = output.buffer.data;
  }
  std::vector<int32_t> inputKinds, outputKinds;
  ffi::CallFrame frame{};
  // Handlers compare the size with that of the fields before the future.
  frame.head.size = offsetof(ffi::CallFrame, future);
  frame.interface = &interface();
  frame.stage = ffi::executeStage;
  frame.operands = buffersOf(inputBuffers, inputKinds);
  frame.results = buffersOf(outputBuffers, outputKinds);
  frame.attributes = attributes->dictionary();
  if (ffi::ErrorObject *failure = handler(&frame))
    return errorOf(failure);
  if (const std::unique_ptr<ffi::FutureObject> future(frame.future); future)
    if (Status ended = future->done.wait(); !ended)
      return ended;
  for (const CallBuffer &output : outputs)
    output.write();
  return Success();
}

//===----------------------------------------------------------------------===//
// Binding
//===----------------------------------------------------------------------===//

Result<std::vector<ValueForm>> formsOf(mlir::TypeRange types,
                                       mlir::ArrayAttr layouts,
                                       const std::string &target) {
  std::vector<ValueForm> forms;
  for (auto [i, type] : llvm::enumerate(types)) {
    if (isa<stablehlo::TokenType>(type))
      continue;
    auto tensor = dyn_cast<RankedTensorType>(type);
    const auto code =
        tensor ? ffiTypeOf(tensor.getElementType()) : std::optional<int32_t>();
    if (!code)
      return Error(fmt::format("value {} of custom call '{}' has a type that "
                               "handlers of jax.ffi cannot read",
                               i, target),
                   ErrorCode::UNIMPLEMENTED);
    ValueForm form{*code, {}};
    auto order = layouts && i < layouts.size()
                     ? dyn_cast<mlir::DenseIntElementsAttr>(layouts[i])
                     : mlir::DenseIntElementsAttr();
    for (int64_t dim = tensor.getRank(); dim-- > 0;)
      form.minorToMajor.push_back(dim);
    if (order && order.getNumElements() == tensor.getRank())
      for (auto [place, dim] : llvm::enumerate(order.getValues<llvm::APInt>()))
        form.minorToMajor[place] = dim.getSExtValue();
    forms.push_back(std::move(form));
  }
  return forms;
}

Result<std::shared_ptr<BoundHandler>> bind(stablehlo::CustomCallOp call,
                                           ffi::Handler handler) {
  auto bound = std::make_shared<BoundHandler>();
  bound->target = call.getCallTargetName().str();
  bound->handler = handler;
  auto config = call->getAttrOfType<DictionaryAttr>("mhlo.backend_config");
  if (!config)
    config = dyn_cast_or_null<DictionaryAttr>(call.getBackendConfigAttr());
  auto attributes = FfiAttributes::create(
      config ? config : DictionaryAttr::get(call.getContext()));
  if (!attributes)
    return attributes.error();
  bound->attributes = std::move(*attributes);
  auto operands = formsOf(call.getOperandTypes(), call.getOperandLayoutsAttr(),
                          bound->target);
  if (!operands)
    return operands.error();
  bound->operands = std::move(*operands);
  auto results = formsOf(call->getResultTypes(), call.getResultLayoutsAttr(),
                         bound->target);
  if (!results)
    return results.error();
  bound->results = std::move(*results);
  bound->aliases = aliasedOperands(call);
  return bound;
}

/// The custom function for the call; equal calls share one.
Result<std::string> registeredName(stablehlo::CustomCallOp call,
                                   ffi::Handler handler) {
  static std::mutex mutex;
  static auto &names = *new std::map<std::string, std::string>;
  std::string key;
  llvm::raw_string_ostream stream(key);
  stream << reinterpret_cast<const void *>(handler) << call->getAttrDictionary()
         << mlir::FunctionType::get(call.getContext(), call.getOperandTypes(),
                                    call->getResultTypes());
  std::lock_guard lock(mutex);
  if (auto found = names.find(key); found != names.end())
    return found->second;
  auto bound = bind(call, handler);
  if (!bound)
    return bound.error();
  const std::string name =
      fmt::format("{}#{}", call.getCallTargetName().str(), names.size());
  CustomTarget custom;
  custom.run = [bound = std::move(*bound)](const CustomCall &arguments) {
    return bound->run(arguments);
  };
  if (Status registered = register_custom_call(name, std::move(custom));
      !registered)
    return registered.error();
  return names[key] = name;
}
} // namespace

void plugin::setHandlerFinder(HandlerFinder finder) {
  handlerFinder = finder;
}

std::vector<int64_t> plugin::aliasedOperands(stablehlo::CustomCallOp call) {
  std::vector<int64_t> operands(call->getNumResults(), -1);
  mlir::ArrayAttr aliases = call.getOutputOperandAliasesAttr();
  for (Attribute attribute :
       aliases ? aliases.getValue() : ArrayRef<Attribute>())
    if (auto alias = dyn_cast<stablehlo::OutputOperandAliasAttr>(attribute)) {
      const auto place = alias.getOutputTupleIndices();
      const size_t result = place.empty() ? 0 : size_t(place.front());
      if (result < operands.size() && alias.getOperandIndex() >= 0 &&
          size_t(alias.getOperandIndex()) < call->getNumOperands())
        operands[result] = alias.getOperandIndex();
    }
  return operands;
}

Status plugin::bindHandlers(ModuleOp module) {
  const HandlerFinder finder = handlerFinder;
  Status outcome = Success();
  module.walk([&](stablehlo::CustomCallOp call) {
    const std::string target = call.getCallTargetName().str();
    const bool isUnknown = !isPythonCallback(target) &&
                           !importsCustomCall(target) &&
                           !find_custom_call(target);
    void *handler = finder && isUnknown ? finder(target.c_str()) : nullptr;
    if (!handler)
      return mlir::WalkResult::advance();
    auto name = registeredName(call, reinterpret_cast<ffi::Handler>(handler));
    if (!name) {
      outcome = name.error();
      return mlir::WalkResult::interrupt();
    }
    call.setCallTargetName(*name);
    return mlir::WalkResult::advance();
  });
  return outcome;
}
