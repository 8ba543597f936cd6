// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The plug-in for tests in several processes: what it says by the callbacks of
// whoever makes its client. It looks at all that it is given back.
#include "FaultyPlugin.h"

#include <memory>

namespace faulty {
namespace {
/// Errors are made as XLA does it: sizes of structures are not filled in, nor
/// are results, and a pointer leads to the function that makes errors.
using ErrorMaker = Handle (*)(int32_t code, const char *text, size_t size);
const ErrorMaker errorMaker = [](int32_t code, const char *text,
                                 size_t size) -> Handle {
  return new Failure(code, std::string(text, size));
};

struct Garbage : Block {
  Garbage() { std::memset(data(), 0x5a, SIZE); }
};

/// A callback of Client_Create_Args, and its argument.
struct Callback {
  Callback(const void *arguments, Field<Pointer> function,
           Field<Pointer> argument)
      : function(read<Function>(arguments, function)),
        argument(read<void *>(arguments, argument)) {}
  Function function;
  void *argument;
};

Handle put(const Callback &callback, const std::string &key,
           const std::string &value) {
  using Args = KeyValuePutCallback_Args;
  Garbage block;
  block.set(Args::key, key.data())
      .set(Args::key_size, key.size())
      .set(Args::value, value.data())
      .set(Args::value_size, value.size())
      .set(Args::callback_error, &errorMaker)
      .set(Args::user_arg, callback.argument);
  return callback.function(block.data());
}

/// `Args` is of one of the two callbacks that give a value.
template <typename Args>
Handle take(const Callback &callback, Garbage &block, const std::string &key,
            std::string &value) {
  block.set(Args::key, key.data())
      .set(Args::key_size, key.size())
      .set(Args::callback_error, &errorMaker)
      .set(Args::user_arg, callback.argument);
  if (Handle error = callback.function(block.data()))
    return error;
  auto *bytes = block.template get<char *>(Args::value);
  value.assign(bytes, block.template get<size_t>(Args::value_size));
  block.template get<void (*)(char *)>(Args::value_deleter_callback)(bytes);
  return nullptr;
}

Handle get(const Callback &callback, const std::string &key, int milliseconds,
           std::string &value) {
  using Args = KeyValueGetCallback_Args;
  Garbage block;
  block.set(Args::timeout_in_ms, milliseconds);
  return take<Args>(callback, block, key, value);
}

Handle tryGet(const Callback &callback, const std::string &key,
              std::string &value) {
  Garbage block;
  return take<KeyValueTryGetCallback_Args>(callback, block, key, value);
}

std::string keyOf(int64_t node) {
  return "devices of\n" + std::to_string(node);
}

/// Zeros first, last and in between.
std::string valueOf(int64_t devices) {
  std::string value("\0devices\0", 9);
  return value + char(devices) + '\0';
}
} // namespace

Handle exchangeDevices(const void *arguments, const Node &node, int64_t devices,
                       int64_t silent, std::vector<int64_t> &counts) {
  using Args = Client_Create_Args;
  const Callback getting(arguments, Args::kv_get_callback,
                         Args::kv_get_user_arg),
      trying(arguments, Args::kv_try_get_callback, Args::kv_try_get_user_arg),
      putting(arguments, Args::kv_put_callback, Args::kv_put_user_arg);
  if (!getting.function || !trying.function || !putting.function)
    return fail(Invalid, "several processes need a key-value store");

  std::string value;
  std::unique_ptr<Failure> missing(
      static_cast<Failure *>(tryGet(trying, keyOf(node.id), value)));
  if (!missing)
    return fail(Internal, "a key is there that nobody has set");
  if (missing->code != NotFound)
    return missing.release();
  if (node.id != silent) {
    if (Handle error = put(putting, keyOf(node.id), valueOf(devices)))
      return error;
    if (Handle error = tryGet(trying, keyOf(node.id), value))
      return error;
    if (value != valueOf(devices))
      return fail(Internal, "a value is not what was set");
  }
  for (int64_t other = 0; other < node.count; ++other) {
    if (other == node.id) {
      counts.push_back(devices);
      continue;
    }
    if (Handle error =
            get(getting, keyOf(other), other == silent ? 1 : 600000, value))
      return error;
    if (value.size() != 11 || valueOf(value[9]) != value)
      return fail(Internal, "a value of another process is damaged");
    counts.push_back(value[9]);
  }
  return nullptr;
}
} // namespace faulty
