// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plugin: a shared library that speaks the PJRT C API (XLA's for CPU, GPU and
// TPU), found and loaded at run time. Nothing of it is needed to build
// Meshloom.
#pragma once

#include "meshloom/Core/Result.h"
#include "meshloom/Runtime/Backends/PJRT/Abi.h"

#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace meshloom::pjrt {

/// A value that a plug-in reports about itself or a device, or that a client is
/// created with.
using AttributeValue =
    std::variant<std::string, int64_t, std::vector<int64_t>, float, bool>;
using Attributes = std::map<std::string, AttributeValue, std::less<>>;

/// A plug-in that an environment variable names.
struct NamedPlugin {
  std::string name; ///< "cpu"
  std::string path;
  std::string variable; ///< which names it
};

/// The plug-ins of PJRT_NAMES_AND_LIBRARY_PATHS ("cpu:/a/cpu.so,gpu:/b/gpu.so")
/// and, as "tpu", of TPU_LIBRARY_PATH. Fails on an entry that is not
/// `name:path`, and on a name that is there twice.
Result<std::vector<NamedPlugin>> namedPlugins();

/// The path of a plug-in: what holds a '/' or ends in ".so" is one, anything
/// else is a name to look up among the known plug-ins. An empty name means the
/// only one there is. The error says what was looked for, and where.
Result<std::string> findPlugin(std::string_view nameOrPath);

/// Returns the options from MESHLOOM_PJRT_OPTIONS that clients of plug-ins are
/// created with, as in
/// "preallocate=false,memory_fraction=0.5,visible_devices=[0,1]". A value has
/// the first kind that it can be read as: true or false, an integer, a list of
/// integers, a number, text. Fails on an entry that is not `name=value`, and on
/// a name that is there twice.
Result<Attributes> clientOptions();

/// A loaded plug-in. It is never unloaded: pointers to it stay valid. Safe to
/// use from any thread.
class Plugin {
public:
  /// The version of the C API, "0.81".
  struct Version {
    int major, minor;
    std::string to_string() const;
  };
  /// The oldest version whose table of functions is the one we know.
  static constexpr int OLDEST_MINOR = 68;

  /// Loads and initialises the library, once a process: the same file gives the
  /// same plug-in. Before one of TPUs is loaded, TPU_SKIP_MDS_QUERY is set to
  /// 1, so that it never asks a metadata service over the network. Fails where
  /// there is no such file, it is not a library or not a plug-in, its version
  /// is too old, or its table is not that of its version.
  static Result<const Plugin *> load(const std::string &path);

  Plugin(const Plugin &) = delete;
  const std::string &path() const { return file; }
  Version version() const { return apiVersion; }
  /// "xla_version", "stablehlo_current_version", ...
  Result<Attributes> attributes() const;

  bool has(capi::Slot slot) const;
  /// Returns whether it learns from the machine which processes there are: TPUs
  /// do. Others are told when a client is made.
  bool findsProcesses() const;
  /// Calls a function of the table. `action` is what it is called for, as in
  /// "cannot `action`". Fails where the plug-in lacks the function, or returns
  /// an error: its code and message are in ours.
  Status call(capi::Slot slot, capi::Block &arguments,
              std::string_view action) const;
  /// The same for a function of one thing, `subject`: the first field of its
  /// structure, at SUBJECT.
  Status call(capi::Slot slot, capi::Block &arguments, capi::Handle subject,
              std::string_view action) const {
    return call(slot, arguments.set(SUBJECT, subject), action);
  }
  static constexpr capi::Field<capi::Pointer> SUBJECT{16};
  /// Destroys an error that a plug-in gave us; what it says.
  Status take(capi::Handle error, std::string_view action) const;

private:
  explicit Plugin(std::string path) : file(std::move(path)) {}
  static Result<const Plugin *> open(const std::string &path);
  Status checkTable();
  Error refuse(std::string_view action, std::string_view why,
               ErrorCode code = ErrorCode::FAILED_PRECONDITION) const;
  capi::Function function(capi::Slot slot) const;

  std::string file;
  const void *table = nullptr;
  size_t slots = 0;
  Version apiVersion{};
};

/// Attributes as the C API passes them. The block points into `attributes`.
class NamedValues {
public:
  explicit NamedValues(const Attributes &attributes);
  void *data() { return memory.data(); }
  size_t size() const;

private:
  std::vector<char> memory;
};
/// Fails where the entries have a different size than Meshloom knows. `source`
/// is who gave them, for the message: "the PJRT plug-in '/a/b.so'".
Result<Attributes> readNamedValues(std::string_view source, const void *first,
                                   size_t count);
Result<Attributes> readNamedValues(const Plugin &plugin, const void *first,
                                   size_t count);

/// "INVALID_ARGUMENT".
std::string_view errorCodeName(int32_t code);

} // namespace meshloom::pjrt
