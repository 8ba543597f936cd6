// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The three callbacks. Plug-ins fill in no size of their arguments' structures,
// so that nothing is asked of it here.
#include "meshloom/Runtime/Backends/PJRT/KeyValueCallbacks.h"

#include <fmt/format.h>

#include <algorithm>

using namespace meshloom;
using namespace meshloom::pjrt;
using capi::Handle;

namespace {
enum class Code : int32_t {
  InvalidArgument = 3,
  DeadlineExceeded = 4,
  NotFound = 5,
  Internal = 13,
  Unavailable = 14
};

/// The plug-in's function that makes an error; it copies the message.
using ErrorMaker = Handle (*)(int32_t code, const char *message, size_t size);

Handle makeError(ErrorMaker maker, Code code, const std::string &message) {
  return maker(int32_t(code), message.data(), message.size());
}

/// The store's keys are text.
std::string keyOf(std::string_view name) {
  std::string key;
  key.reserve(name.size());
  for (char letter : name)
    if (letter > ' ' && letter < 0x7f && letter != '%')
      key += letter;
    else
      key += fmt::format("%{:02X}", static_cast<unsigned char>(letter));
  return key;
}

void deleteValue(char *value) {
  delete[] value;
}

/// The structure of a call, `Args`, as C++; what the plug-in is given back.
template <typename Args> struct Call {
  explicit Call(void *arguments)
      : arguments(arguments),
        store(*static_cast<KeyValueStore *>(
            capi::read<void *>(arguments, Args::user_arg))),
        key(keyOf(bytesAt(Args::key, Args::key_size))),
        maker(
            *capi::read<const ErrorMaker *>(arguments, Args::callback_error)) {}

  std::string_view bytesAt(capi::Field<capi::Pointer> data,
                           capi::Field<size_t> size) const {
    return {capi::read<const char *>(arguments, data),
            capi::read<size_t>(arguments, size)};
  }

  /// Nothing may be thrown into a plug-in.
  template <typename Body> Handle answer(Body body) const {
    try {
      return body();
    } catch (const std::exception &error) {
      return makeError(maker, Code::Internal, error.what());
    }
  }

  /// The plug-in copies the value, and calls what deletes ours.
  Handle give(const std::string &value) const {
    char *copy = new char[std::max<size_t>(value.size(), 1)];
    std::ranges::copy(value, copy);
    capi::write(arguments, Args::value, copy);
    capi::write(arguments, Args::value_size, value.size());
    capi::write(arguments, Args::value_deleter_callback, &deleteValue);
    return nullptr;
  }

  void *const arguments;
  KeyValueStore &store;
  const std::string key;
  const ErrorMaker maker;
};
} // namespace

Handle KeyValueCallbacks::get(void *arguments) {
  using Args = capi::KeyValueGetCallback_Args;
  const Call<Args> call(arguments);
  return call.answer([&] {
    // An infinite time may come as one below zero.
    const int time = capi::read<int>(arguments, Args::timeout_in_ms);
    const auto timeout = time < 0 ? std::chrono::hours(24 * 365)
                                  : std::chrono::milliseconds(time);
    Result<std::string> value = call.store.get(call.key, timeout);
    if (value)
      return call.give(*value);
    // A store that answers has waited for nobody. It may have come by now.
    Result<std::optional<std::string>> late = call.store.find(call.key);
    if (late && *late)
      return call.give(**late);
    return makeError(call.maker,
                     late ? Code::DeadlineExceeded : Code::Unavailable,
                     value.error().message());
  });
}

Handle KeyValueCallbacks::tryGet(void *arguments) {
  using Args = capi::KeyValueTryGetCallback_Args;
  const Call<Args> call(arguments);
  return call.answer([&] {
    Result<std::optional<std::string>> value = call.store.find(call.key);
    if (!value)
      return makeError(call.maker, Code::Unavailable, value.error().message());
    if (!*value)
      return makeError(
          call.maker, Code::NotFound,
          fmt::format("[store] no process has set '{}'", call.key));
    return call.give(**value);
  });
}

Handle KeyValueCallbacks::put(void *arguments) {
  using Args = capi::KeyValuePutCallback_Args;
  const Call<Args> call(arguments);
  return call.answer([&]() -> Handle {
    const Status done =
        call.store.set(call.key, call.bytesAt(Args::value, Args::value_size));
    if (done)
      return nullptr;
    // A store that answers does not want the value.
    return makeError(call.maker,
                     call.store.find(call.key) ? Code::InvalidArgument
                                               : Code::Unavailable,
                     done.error().message());
  });
}

void KeyValueCallbacks::giveTo(capi::Block &arguments) {
  using Args = capi::Client_Create_Args;
  void *const user = store.get();
  arguments.set(Args::kv_get_callback, &get)
      .set(Args::kv_get_user_arg, user)
      .set(Args::kv_put_callback, &put)
      .set(Args::kv_put_user_arg, user)
      .set(Args::kv_try_get_callback, &tryGet)
      .set(Args::kv_try_get_user_arg, user);
}
