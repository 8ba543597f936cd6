// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exported functions: a folder of tensors that has programs as tensors of
// bytes.
#include "meshloom/NN/State/ExportedFunctions.h"

#include "FolderErrors.h"

#include "meshloom/API/Distribute.h"
#include "meshloom/API/MovedFrom.h"
#include "meshloom/API/NameScope.h"
#include "meshloom/API/Processes.h"
#include "meshloom/API/Shards.h"
#include "meshloom/NN/Config.h"
#include "meshloom/Support/ContentSignature.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <mutex>
#include <set>

namespace meshloom {

namespace {
constexpr char signaturesNote[] = "signatures";
constexpr char programPrefix[] = "programs/";
/// "variables/kernel", and "constants/0" of tensors.
constexpr char variablePrefix[] = "variables/";
constexpr char constantPrefix[] = "constants/";
/// The signature of a folder is that of a file of this name in it.
constexpr char signedName[] = "contents";

/// The bytes of a tensor's values.
std::string bytesOf(const Tensor &tensor) {
  std::string bytes(size_t(tensor.size()) * byteWidth(tensor.dtype()), '\0');
  // Elements need not lie where their type may be written.
  std::vector<uint64_t> aligned(bytes.size() / 8 + 1);
  detail::readValue(tensor, tensor.dtype(), aligned.data(), tensor.size(),
                    "export_functions", std::source_location::current());
  std::memcpy(bytes.data(), aligned.data(), bytes.size());
  return bytes;
}

/// The tensors of a folder as its files have them, whatever their layouts.
std::map<std::string, Tensor> wholeTensors(const data::TensorFolder &folder) {
  std::map<std::string, Tensor> tensors;
  for (const auto &[name, stored] : folder.tensors())
    tensors.emplace(name, folder.read(name));
  return tensors;
}

/// All that decides what loading a folder gives, as text.
std::string contentsOf(const data::TensorFolder &folder,
                       const std::map<std::string, Tensor> &tensors) {
  // With lengths, so that no name can look like what follows it.
  auto counted = [](const std::string &text) {
    return fmt::format("{}:{}", text.size(), text);
  };
  std::string text;
  for (const auto &[name, note] : folder.notes())
    text += fmt::format("note {} {}\n", counted(name), counted(note));
  for (const auto &[name, tensor] : tensors)
    text += fmt::format(
        "tensor {} {} [{}] {} {}\n", counted(name),
        meshloom::name(tensor.dtype()), fmt::join(tensor.shape(), ", "),
        counted(folder.tensors().at(name).layout), sha256(bytesOf(tensor)));
  return text;
}

Error keyError(std::string_view function, const Status &failed) {
  return failed.error().withMessage(
      fmt::format("[{}] {}", function, failed.error().message()));
}
} // namespace

void export_functions(const std::filesystem::path &path,
                      const std::map<std::string, ConcreteFunction> &functions,
                      const std::filesystem::path &sign_key) {
  if (functions.empty())
    Error("[export_functions] expected functions by the names of their "
          "signatures, got none")
        .raise();
  data::FolderContents contents;
  std::map<int64_t, std::string> variables; // their tensors
  auto freeName = [&](const std::string &wish) {
    std::string name = wish;
    for (int64_t i = 1; contents.tensors.contains(name); ++i)
      name = fmt::format("{}_{}", wish, i);
    return name;
  };
  Config signatures{Config::Map()};
  for (const auto &[signature, function] : functions) {
    const std::string program = function.serialize();
    contents.tensors.emplace(
        programPrefix + signature,
        detail::hostTensorOf(DType::UI8, {int64_t(program.size())}, program));
    const std::vector<detail::CapturedValue> captured =
        detail::capturedValues(function);
    const std::vector<ValueInfo> arguments = function.arguments();
    Config::List names;
    for (size_t i = 0; i < captured.size(); ++i) {
      std::string name;
      if (auto known = variables.find(captured[i].variable);
          captured[i].variable && known != variables.end()) {
        name = known->second;
      } else if (captured[i].variable) {
        const size_t place = arguments.size() - captured.size() + i;
        name = freeName(variablePrefix + arguments[place].name);
        variables.emplace(captured[i].variable, name);
        contents.tensors.emplace(name, captured[i].value);
      } else {
        name = freeName(fmt::format("{}{}", constantPrefix, i));
        contents.tensors.emplace(name, captured[i].value);
      }
      names.emplace_back(name);
    }
    signatures[signature] = std::move(names);
  }
  contents.notes[signaturesNote] = signatures.to_json();
  data::write_tensor_folder(path, contents);
  // Of several processes that write one folder, the first signs it.
  if (sign_key.empty() || client_id() != 0)
    return;
  const data::TensorFolder folder(path);
  if (Status done = signContent((path / signedName).string(),
                                contentsOf(folder, wholeTensors(folder)),
                                sign_key.string());
      !done)
    keyError("export_functions", done).raise();
}

struct ExportedFunctions::State {
  struct Signature {
    SavedFunction function;
    /// Of the arguments after the explicit ones: the index of a variable, or a
    /// constant.
    std::vector<std::variant<size_t, Tensor>> captured;
    size_t explicitArguments() const {
      return function.arguments().size() - captured.size();
    }
  };
  const Signature &find(const std::string &name) const {
    if (auto found = signatures.find(name); found != signatures.end())
      return found->second;
    std::vector<std::string> names;
    for (const auto &[known, signature] : signatures)
      names.push_back(known);
    Error(fmt::format("[ExportedFunctions] expected the name of a "
                      "signature, got '{}'; there are '{}'",
                      name, fmt::join(names, "', '")),
          ErrorCode::NOT_FOUND)
        .raise();
  }

  std::map<std::string, Signature> signatures;
  std::vector<DVariable> variables;
  mutable std::mutex mutex;
};

ExportedFunctions load_functions(const std::filesystem::path &path,
                                 const std::optional<Mesh> &mesh,
                                 const std::filesystem::path &verify_key,
                                 std::source_location where) {
  return detail::atLine(where, [&]() -> ExportedFunctions {
    const data::TensorFolder folder =
        detail::openFolder("load_functions", path);
    // What is checked is what is used: a file that is replaced meanwhile is not
    // read again.
    std::map<std::string, Tensor> checked;
    if (!verify_key.empty()) {
      checked = wholeTensors(folder);
      if (Status done =
              verifyContent((path / signedName).string(),
                            contentsOf(folder, checked), verify_key.string());
          !done)
        keyError("load_functions", done).raise();
    }
    auto read = [&](const std::string &name,
                    const std::optional<Layout> &layout = std::nullopt) {
      if (checked.empty())
        return folder.read(name, layout);
      auto found = checked.find(name);
      if (found == checked.end())
        return folder.read(name, layout); // which says that there is none
      return layout ? distribute(found->second, *layout) : found->second;
    };
    auto note = folder.notes().find(signaturesNote);
    if (note == folder.notes().end())
      Error(fmt::format("[load_functions] '{}' has no functions: it was not "
                        "written by export_functions",
                        path.string()),
            ErrorCode::NOT_FOUND)
          .raise();
    auto state = std::make_shared<ExportedFunctions::State>();
    std::map<std::string, size_t> variables; // by the names of their tensors
    const Config signatures = Config::parse(note->second);
    for (const auto &[name, captured] : signatures.as_map()) {
      const std::vector<uint8_t> program =
          read(programPrefix + name).to_vector<uint8_t>();
      ExportedFunctions::State::Signature signature{
          parse_function(
              {reinterpret_cast<const char *>(program.data()), program.size()},
              fmt::format("{}' of '{}", name, path.string()), mesh),
          {}};
      const std::vector<ValueInfo> arguments = signature.function.arguments();
      const size_t count = captured.as_list().size();
      if (count > arguments.size())
        Error(fmt::format("[load_functions] '{}' is damaged: signature "
                          "'{}' captures more than it takes",
                          path.string(), name),
              ErrorCode::DATA_LOSS)
            .raise();
      for (size_t i = 0; i < count; ++i) {
        const std::string &tensor = captured.as_list()[i].as_string();
        const ValueInfo &argument = arguments[arguments.size() - count + i];
        auto known = variables.find(tensor);
        if (known != variables.end()) {
          signature.captured.emplace_back(known->second);
          continue;
        }
        const auto stored = folder.tensors().find(tensor);
        if (stored == folder.tensors().end())
          Error(fmt::format("[load_functions] '{}' is damaged: signature "
                            "'{}' captures '{}', which the folder does not "
                            "have",
                            path.string(), name, tensor),
                ErrorCode::DATA_LOSS)
              .raise();
        // What was on the host is, where there is one device.
        const bool isOnHost = stored->second.layout.empty() &&
                              argument.layout.mesh().is_single_device();
        Tensor value = read(tensor, isOnHost ? std::nullopt
                                             : std::optional(argument.layout));
        if (!tensor.starts_with(variablePrefix)) {
          signature.captured.emplace_back(std::move(value));
          continue;
        }
        variables.emplace(tensor, state->variables.size());
        signature.captured.emplace_back(state->variables.size());
        state->variables.emplace_back(
            value,
            VariableOptions{.name = tensor.substr(sizeof(variablePrefix) - 1)});
      }
      state->signatures.emplace(name, std::move(signature));
    }
    return ExportedFunctions(std::move(state));
  });
}

std::vector<std::string> ExportedFunctions::signatures() const {
  detail::expectNotMovedFrom(state, "ExportedFunctions");
  std::vector<std::string> names;
  names.reserve(state->signatures.size());
  for (const auto &[name, signature] : state->signatures)
    names.push_back(name);
  return names;
}

std::vector<ValueInfo>
ExportedFunctions::arguments(const std::string &signature) const {
  detail::expectNotMovedFrom(state, "ExportedFunctions");
  const State::Signature &found = state->find(signature);
  std::vector<ValueInfo> infos = found.function.arguments();
  infos.erase(infos.begin() + int64_t(found.explicitArguments()), infos.end());
  return infos;
}

std::vector<ValueInfo>
ExportedFunctions::results(const std::string &signature) const {
  detail::expectNotMovedFrom(state, "ExportedFunctions");
  const SavedFunction &function = state->find(signature).function;
  std::vector<ValueInfo> infos = function.results();
  infos.erase(infos.end() - int64_t(function.assigned_arguments().size()),
              infos.end());
  return infos;
}

const std::vector<DVariable> &ExportedFunctions::variables() const {
  detail::expectNotMovedFrom(state, "ExportedFunctions");
  return state->variables;
}

std::vector<Tensor>
ExportedFunctions::operator()(const std::string &signature,
                              const std::vector<Tensor> &arguments) const {
  detail::expectNotMovedFrom(state, "ExportedFunctions");
  const State::Signature &found = state->find(signature);
  const size_t own = found.explicitArguments();
  if (arguments.size() != own)
    Error(fmt::format("[ExportedFunctions] signature '{}' takes {} "
                      "arguments, got {}",
                      signature, own, arguments.size()))
        .raise();
  std::lock_guard lock(state->mutex);
  std::vector<Tensor> all = arguments;
  for (const auto &captured : found.captured)
    all.push_back(
        std::holds_alternative<Tensor>(captured)
            ? std::get<Tensor>(captured)
            : state->variables[std::get<size_t>(captured)].read_value());
  std::vector<Tensor> results = found.function(all);
  const std::vector<int64_t> assigned = found.function.assigned_arguments();
  const size_t given = results.size() - assigned.size();
  for (size_t i = 0; i < assigned.size(); ++i) {
    const auto &captured = found.captured.at(size_t(assigned[i]) - own);
    state->variables[std::get<size_t>(captured)].assign(results[given + i]);
  }
  results.resize(given);
  return results;
}

} // namespace meshloom
