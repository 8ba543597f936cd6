// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Puts facts and page together, and writes the file.
#include "meshloom/Explain/Explain.h"

#include "Facts.h"
#include "Page.h"
#include "Sources.h"

#include "meshloom/Predict/Predict.h"
#include "meshloom/Support/File.h"
#include "meshloom/Support/MachineModelFile.h"

#include <fmt/format.h>

using namespace meshloom;
using Json = nlohmann::ordered_json;

namespace {
Result<Json> factsOf(std::span<const ExplainedProgram> programs,
                     const Profile *measured) {
  Json list = Json::array();
  SourceLines sources;
  for (const ExplainedProgram &explained : programs) {
    Result<MachineModel> machine =
        loadMachineModel(explained.compiled.machine());
    if (!machine)
      return machine.error();
    Result<Prediction> prediction = predict(explained.compiled, *machine);
    if (!prediction)
      return prediction.error();
    // A traced function is called main, whatever its name.
    prediction->program = explained.explanation.function;
    Json facts = programFacts(explained, *prediction, measured);
    for (const Json &step : facts["steps"])
      sources.add(step["source"]);
    list.push_back(std::move(facts));
  }
  return Json{{"version", 1},
              {"programs", std::move(list)},
              {"sources", sources.read()}};
}

/// Puts `text` where the document has the comment `place`.
void fill(std::string &document, std::string_view place,
          std::string_view text) {
  document.replace(document.find(place), place.size(), text);
}

/// The facts as a part of the page, in which no "<" may end a script.
std::string factsScript(const std::string &facts) {
  std::string text;
  for (char letter : facts)
    if (letter == '<')
      text += "\\u003c";
    else
      text += letter;
  return text;
}

std::string pageOf(const std::string &facts) {
  const PageFiles &files = pageFiles();
  std::string scripts;
  for (std::string_view script : files.scripts)
    scripts += script;
  std::string page(files.document);
  fill(page, "/*style*/", files.style);
  fill(page, "/*script*/", scripts);
  fill(page, "{/*facts*/}", factsScript(facts));
  return page;
}
} // namespace

Status meshloom::checkExplanationPath(const std::string &path) {
  if (path.ends_with(".html") || path.ends_with(".json"))
    return Success();
  return Error(fmt::format("cannot write an explanation to '{}': expected a "
                           "file that ends in .html, for a page, or in .json, "
                           "for its facts",
                           path));
}

Status meshloom::writeExplanation(const std::string &path,
                                  std::span<const ExplainedProgram> programs,
                                  const Profile *measured) {
  if (Status ok = checkExplanationPath(path); !ok)
    return ok;
  Result<Json> facts = factsOf(programs, measured);
  if (!facts)
    return facts.error();
  // Names of the user may hold any bytes.
  auto textOf = [&](int indent) {
    return facts->dump(indent, ' ', false, Json::error_handler_t::replace);
  };
  return writeFile(path, path.ends_with(".json") ? textOf(1) + "\n"
                                                 : pageOf(textOf(-1)));
}
