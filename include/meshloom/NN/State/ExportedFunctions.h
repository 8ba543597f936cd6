// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exporting compiled functions with the variables that they use, and running
// them where there is no source.
#pragma once

#include "meshloom/API/FreeBatch.h"
#include "meshloom/API/SavedFunction.h"
#include "meshloom/API/Variable.h"

#include <filesystem>
#include <map>
#include <string>

namespace meshloom {

/// Writes compiled functions, by the names of their signatures, and the values
/// of what they capture, with their layouts, into a folder. Replaces what
/// export_functions wrote there; after a crash it is the old folder or the new
/// one.
///
/// `sign_key` names a file of at least 16 secret bytes, as of 'head -c 32
/// /dev/urandom': the folder's contents are signed with it (HMAC-SHA256, in
/// contents.sig), which load_functions checks.
///
///   export_functions("digits", {{"serving_default",
///                                predict.get_concrete_function(images)}});
///
/// Throws meshloom::Error if there is no function, if something else has that
/// name, if it cannot be written, or if the key cannot be used.
void export_functions(const std::filesystem::path &path,
                      const std::map<std::string, ConcreteFunction> &functions,
                      const std::filesystem::path &sign_key = {},
                      Where where = Where::current());

/// The options of export_functions for functions of any size of batch.
struct FreeBatchExportOptions {
  /// The sizes whose programs are stored. None: those that each function has
  /// compiled, or 1.
  std::vector<int64_t> sizes = {};
  /// Says whether a program that loads the folder compiles further sizes when
  /// it calls them. The folder then has the function as a text from which the
  /// program of any size follows; else it has the programs of `sizes` alone.
  bool compile_new_sizes = true;
  /// See export_functions.
  std::filesystem::path sign_key = {};
};

namespace detail {
/// Does the work of export_functions for functions for any size of batch.
void exportFreeBatch(const std::filesystem::path &path,
                     const std::map<std::string, FreeBatchFunction> &functions,
                     const FreeBatchExportOptions &options, const Where &where);
} // namespace detail

/// Writes functions for any size of batch. -1 stands for the size in the
/// arguments and results of a loaded function, which keeps 16 sizes beside the
/// stored ones.
///
///   export_functions("digits", {{"serving_default", predict}},
///                    {.sizes = {1, 32}});
///
/// Throws meshloom::Error as above, and if the program of a function does not
/// follow from the size of its batch, as that of one which computes with the
/// square of the size does not.
template <typename = void>
void export_functions(const std::filesystem::path &path,
                      const std::map<std::string, FreeBatchFunction> &functions,
                      const FreeBatchExportOptions &options = {},
                      Where where = Where::current()) {
  detail::exportFreeBatch(path, functions, options, where);
}

/// The folder that export_functions wrote. A handle: a copy has the same
/// variables. May be used from any thread; calls run one at a time.
class ExportedFunctions {
public:
  /// The names of the signatures.
  std::vector<std::string> signatures() const;
  /// The arguments of a signature's function, by its own names. Throws
  /// meshloom::Error that lists the signatures if there is none of that name.
  std::vector<ValueInfo> arguments(const std::string &signature,
                                   Where where = Where::current()) const;
  /// The results of a signature's function.
  std::vector<ValueInfo> results(const std::string &signature,
                                 Where where = Where::current()) const;
  /// Returns the batch sizes for which the signature already has a compiled
  /// program, in rising order; empty if its batch size is fixed.
  std::vector<int64_t> batch_sizes(const std::string &signature,
                                   Where where = Where::current()) const;
  /// The variables of all functions: one that several use is there once.
  const std::vector<DVariable> &variables() const;

  /// Runs the function of a signature; variables that it assigns have their new
  /// values then. A size of batch that has no program is compiled, where the
  /// folder allows it. Throws meshloom::Error if there is no such signature, if
  /// arguments do not fit, or if a size cannot be compiled.
  std::vector<Tensor> operator()(const std::string &signature,
                                 const std::vector<Tensor> &arguments,
                                 Where where = Where::current()) const;

  struct State;
  /// For load_functions, which makes them.
  explicit ExportedFunctions(std::shared_ptr<const State> state)
      : state(std::move(state)) {}

private:
  std::shared_ptr<const State> state;
};

/// Loads what export_functions wrote. Runs on `mesh`, whose axes are those of
/// the functions; default: on virtual CPUs. Variables are on it in the layouts
/// that the functions were compiled for: these are code, for that many devices,
/// so that another number of devices needs the source.
///
/// Exported functions are native code that runs when it is called: load only
/// what you trust as you would a library, or what was signed with a key that
/// only those you trust have: `verify_key` names its file. Code and values are
/// then checked before any of them is used.
///
/// Throws meshloom::Error if there is no such folder, if it is damaged, if it
/// was compiled for what this machine lacks, if the mesh has other axes, or if
/// the folder is not signed with the key.
ExportedFunctions
load_functions(const std::filesystem::path &path,
               const std::optional<Mesh> &mesh = std::nullopt,
               const std::filesystem::path &verify_key = {},
               std::source_location where = std::source_location::current());

} // namespace meshloom
