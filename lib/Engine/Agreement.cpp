// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The facts that processes compare before they run a program together for the
// first time: a program in which they exchange messages. A rank may run any
// other one alone.
//
// Every process sends every other 16 bytes: a hash of all that must be equal,
// and its name. Where they differ, each says in text what it has, line by line,
// and all name the first line that is not the same. Programs are compared in
// the order of their first runs, so that a process that runs another one, or
// the same ones in another order, is found at the first difference.
#include "meshloom/Engine/Nodes.h"
#include "meshloom/Engine/Processes.h"
#include "meshloom/Engine/SharedValues.h"

#include "meshloom/Core/CustomCall.h"
#include "meshloom/Core/Hash.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <sstream>

namespace meshloom::detail {
namespace {

uint64_t hashOf(std::string_view text) {
  StableHash hash;
  hash.add(text);
  return hash.value();
}

std::string bufferText(const BufferDecl &buffer) {
  return fmt::format("{} {}", typeText(buffer.type, buffer.shape),
                     buffer.layout.spec_string());
}

std::string placeText(const SourceNote &note) {
  return note.location.empty() ? "" : fmt::format(" (at {})", note.location);
}

/// One line for each thing of a program that processes may have otherwise.
class Description {
public:
  Description(const Compiled &compiled,
              const std::vector<std::string> &details) {
    const Signature &signature = compiled.signature();
    lines.push_back(fmt::format("program '{}' on {}", signature.name,
                                signature.mesh.spec_string()));
    lines.push_back(fmt::format("machine model {}", compiled.machine()));
    for (const auto &[name, type, notes] : signature.arguments)
      lines.push_back(fmt::format("argument '{}': {}", name, type.to_string()));
    if (const CodedProgram *coded = compiled.coded())
      addSteps(coded->program, coded->program.steps);
    lines.insert(lines.end(), details.begin(), details.end());
    for (const auto &[name, type, alias] : signature.results)
      lines.push_back(fmt::format("result '{}': {}", name, type.to_string()));
    if (const CodedProgram *coded = compiled.coded())
      for (const ConstantData &constant : coded->program.constants)
        lines.push_back(fmt::format(
            "constant {} with hash {:016x}",
            bufferText(coded->program.buffers[constant.buffer]),
            hashOf({constant.bytes.data(), constant.bytes.size()})));
  }

  std::string text() const { return fmt::format("{}", fmt::join(lines, "\n")); }

private:
  void addSteps(const Program &program, const std::vector<Step> &steps) {
    for (const Step &step : steps) {
      std::visit([&](const auto &kind) { add(program, kind); }, step);
      for (const std::vector<Step> *inner : nestedLists(step))
        addSteps(program, *inner);
    }
  }
  void add(const Program &program, const KernelStep &step) {
    std::vector<std::string> outputs;
    for (const Operand &output : step.outputs)
      outputs.push_back(bufferText(program.buffers[output.buffer]));
    lines.push_back(fmt::format(
        "op {} -> {}{}", step.note.op.empty() ? step.library : step.note.op,
        fmt::join(outputs, ", "), placeText(step.note)));
  }
  void add(const Program &program, const DotStep &step) {
    lines.push_back(fmt::format("op {} -> {}{}", step.note.op,
                                bufferText(program.buffers[step.out.buffer]),
                                placeText(step.note)));
  }
  void add(const Program &program, const CollectiveStep &step) {
    std::vector<std::string> axes, moves;
    for (unsigned axis : step.axes)
      axes.push_back(program.mesh.axes()[axis].name);
    for (const auto &[from, to] : step.moves)
      moves.push_back(fmt::format("{} to {}", bufferText(program.buffers[from]),
                                  program.buffers[to].layout.spec_string()));
    lines.push_back(fmt::format("{} over [{}] of {}: {}{}", name(step.kind),
                                fmt::join(axes, ", "), fmt::join(moves, ", "),
                                step.reason, placeText(step.note)));
  }
  void add(const Program &, const LoopStep &step) {
    lines.push_back(
        fmt::format("loop {}{}", step.note.op, placeText(step.note)));
  }
  void add(const Program &, const BranchStep &step) {
    lines.push_back(
        fmt::format("branch {}{}", step.note.op, placeText(step.note)));
  }

  std::vector<std::string> lines;
};

/// The first line that two texts do not share, from each.
std::pair<std::string, std::string> difference(const std::string &one,
                                               const std::string &other) {
  std::istringstream first(one), second(other);
  for (;;) {
    std::string here, there;
    const bool hasHere(std::getline(first, here));
    const bool hasThere(std::getline(second, there));
    if (!hasHere && !hasThere)
      return {"", ""};
    if (here != there || hasHere != hasThere)
      return {hasHere ? here : "nothing more",
              hasThere ? there : "nothing more"};
  }
}

/// The number of the comparison of any program, so that programs that differ
/// are found by it, which can say how.
constexpr uint64_t FIRST_RUN = 0x6669727374;

/// See describeProgram.
struct ProgramText {
  std::string name;
  std::vector<std::string> details;
};

/// "'step' (at model.cpp:17)", for the first place that is known.
std::string placeOf(const Compiled &compiled, const ProgramText &description) {
  std::string place;
  if (const CodedProgram *coded = compiled.coded())
    for (const Step &step : coded->program.steps)
      if (place.empty())
        place = std::visit(
            [](const auto &kind) { return placeText(kind.note); }, step);
  return fmt::format("'{}'{}",
                     description.name.empty() ? compiled.signature().name
                                              : description.name,
                     place);
}

/// The words that all processes exchange.
struct Word {
  uint64_t hash;  ///< of the program and what it was made for
  uint64_t count; ///< of programs that were compared before
  bool operator==(const Word &) const = default;
};

/// The words of all ranks, in order.
Result<std::vector<Word>>
exchanged(const Processes &joined, const std::string &place, const Word &word) {
  auto received = exchangedBytes(
      joined, {reinterpret_cast<const char *>(&word), sizeof word},
      joined.communicator->calls().next(std::make_shared<const SharedCall>(
          SharedCall{FIRST_RUN, place + " for the first time"})));
  if (!received)
    return received.error();
  std::vector<Word> words(received->size());
  for (size_t rank = 0; rank < words.size(); ++rank)
    std::memcpy(&words[rank], (*received)[rank].data(), sizeof(Word));
  return words;
}

/// Says what each has, and how the first one that has not what rank 0 has
/// differs.
Error differenceOf(const Processes &joined, const std::string &description,
                   const std::vector<Word> &words) {
  const std::vector<std::string> texts =
      gatherTexts("agreement", description, /*timeoutSeconds=*/5);
  std::string message = "the processes run different programs";
  for (size_t rank = 1; rank < texts.size(); ++rank) {
    if (words[rank] == words.front())
      continue;
    auto [first, other] = difference(texts.front(), texts[rank]);
    if (first.empty())
      first = other = "the same steps, of kernels that differ inside";
    message = fmt::format(
        "{} runs another program than rank 0 as number {}: rank 0 has\n  {}\n"
        "where rank {} has\n  {}\nEvery process must call the same functions "
        "on the same shapes, in one order, and read the same settings",
        joined.rankText(int64_t(rank)), words.front().count + 1, first, rank,
        other);
    break;
  }
  // All have what they need before the first one ends.
  (void)joined.client->barrier("agreement", std::chrono::seconds(1));
  joined.communicator->abort(Error(message));
  return Error(message);
}

/// The facts about one program.
struct ComparedProgram {
  bool exchanges = false; ///< with other processes, or has the host do so
  bool callsTogether = false;
  bool isAgreed = false; ///< its first run has begun
  /// The origin of the results of one without messages, until that was
  /// compared.
  std::shared_ptr<ValueOrigin> origin;
  ProgramText description; ///< until all have agreed
};

/// Programs that all have agreed on, and those without messages.
struct Agreed {
  std::mutex mutex;
  /// Handles, so that a run costs one look; and by contents, as programs are
  /// made again when they were pushed out of the cache.
  std::map<std::weak_ptr<Executable>, ComparedProgram, std::owner_less<>>
      programs;
  std::set<uint64_t> hashes;
  std::map<uint64_t, std::shared_ptr<ValueOrigin>> local;
  uint64_t count = 0;
  int64_t runs = 0; ///< with messages, in the order of calls
};

bool callsTogether(const std::vector<Step> &steps) {
  return std::ranges::any_of(steps, [](const Step &step) {
    const auto *kernel = std::get_if<KernelStep>(&step);
    return (kernel && failsTogether(*kernel)) ||
           std::ranges::any_of(nestedLists(step),
                               [](const std::vector<Step> *inner) {
                                 return callsTogether(*inner);
                               });
  });
}

uint64_t contentOf(const Compiled &compiled) {
  StableHash content;
  content.add(compiled.contentHash());
  content.add(compiled.machine());
  return content.value();
}

Agreed &agreedPrograms() {
  static Agreed &agreed = *new Agreed;
  return agreed;
}

ComparedProgram &comparedProgramOf(Agreed &agreed,
                                   const std::shared_ptr<Executable> &program) {
  if (const auto found = agreed.programs.find(program);
      found != agreed.programs.end())
    return found->second;
  const CodedProgram *coded = program->compiled().coded();
  ComparedProgram created;
  created.callsTogether = coded && callsTogether(coded->program.steps);
  created.exchanges = created.callsTogether || needsAllProcesses(*program);
  std::erase_if(agreed.programs,
                [](const auto &entry) { return entry.first.expired(); });
  return agreed.programs.emplace(program, std::move(created)).first->second;
}

/// Finds the origin of the results of a program without messages, which is one
/// for all programs that are the same.
void findOrigin(Agreed &agreed, ComparedProgram &entry,
                const Compiled &compiled) {
  std::shared_ptr<ValueOrigin> &origin = agreed.local[contentOf(compiled)];
  if (!origin) {
    origin = std::make_shared<ValueOrigin>();
    origin->hash = contentOf(compiled);
    origin->place = placeOf(compiled, entry.description);
    // The first ones tell small programs apart.
    entry.description.details.resize(
        std::min<size_t>(entry.description.details.size(), 2));
    if (!entry.description.details.empty())
      origin->place +=
          fmt::format(" with {}", fmt::join(entry.description.details, ", "));
  }
  entry.origin = origin;
  entry.description = {};
}

/// Compares a program with messages before the first run of its content.
Status agreeOnFirst(Agreed &agreed, const Processes &joined, uint64_t hash,
                    const std::string &place,
                    const std::function<std::string()> &description) {
  if (!agreed.hashes.insert(hash).second)
    return Success();
  const Word word{hash, agreed.count++};
  Result<std::vector<Word>> words = exchanged(joined, place, word);
  if (!words)
    return words.error().withMessage(
        fmt::format("the processes could not compare the program "
                    "before its first run: {}",
                    words.error().message()));
  if (std::ranges::count(*words, word) != std::ssize(*words))
    return differenceOf(joined, description(), *words);
  return Success();
}

} // namespace

void describeProgram(const std::shared_ptr<Executable> &program,
                     std::string name, std::vector<std::string> details) {
  Agreed &agreed = agreedPrograms();
  std::lock_guard lock(agreed.mutex);
  ComparedProgram &entry = comparedProgramOf(agreed, program);
  entry.description = {std::move(name), std::move(details)};
}

/// Compares a program whose processes exchange messages.
static Status agreeOnText(Agreed &agreed, ComparedProgram &entry,
                          const Compiled &compiled) {
  const Processes &joined = processes("mesh");
  if (!joined.communicator)
    return Error("expected the other processes of the mesh, which this one has "
                 "left");
  if (!entry.isAgreed)
    if (Status ok = agreeOnFirst(
            agreed, joined, contentOf(compiled),
            placeOf(compiled, entry.description),
            [&] {
              return Description(compiled, entry.description.details).text();
            });
        !ok)
      return ok;
  entry.isAgreed = true;
  entry.description = {};
  return Success();
}

Status agreeOnParts(std::span<const std::shared_ptr<Executable>> parts,
                    std::string_view name) {
  const Processes &group = processes("mesh");
  if (!group.communicator)
    return Success();
  Agreed &agreed = agreedPrograms();
  std::lock_guard lock(agreed.mutex);
  StableHash hash;
  for (const std::shared_ptr<Executable> &part : parts)
    hash.add(contentOf(part->compiled()));
  auto description = [&] {
    std::vector<std::string> texts;
    for (const std::shared_ptr<Executable> &part : parts)
      texts.push_back(
          Description(part->compiled(),
                      comparedProgramOf(agreed, part).description.details)
              .text());
    return fmt::format("{}", fmt::join(texts, "\n"));
  };
  const ProgramText text{std::string(name), {}};
  return agreeOnFirst(agreed, group, hash.value(),
                      placeOf(parts.front()->compiled(), text), description);
}

Status mayAgreeOn(const std::shared_ptr<Executable> &program) {
  Agreed &agreed = agreedPrograms();
  std::lock_guard lock(agreed.mutex);
  ComparedProgram &entry = comparedProgramOf(agreed, program);
  return entry.exchanges ? agreeOnText(agreed, entry, program->compiled())
                         : Success();
}

Result<Agreement> agreeOn(const std::shared_ptr<Executable> &program,
                          std::span<const Array> arguments) {
  Agreed &agreed = agreedPrograms();
  std::lock_guard lock(agreed.mutex);
  ComparedProgram &entry = comparedProgramOf(agreed, program);
  if (!entry.exchanges) {
    if (!entry.isAgreed)
      findOrigin(agreed, entry, program->compiled());
    entry.isAgreed = true;
    Agreement agreement{.origins = originsOf(arguments)};
    if (entry.origin && entry.origin->isCompared)
      entry.origin = nullptr;
    if (entry.origin)
      agreement.origins.push_back(entry.origin);
    return agreement;
  }
  const Processes &joined = processes("mesh");
  if (joined.communicator)
    compareOrigins(joined, program->signature(), arguments);
  if (Status ok = agreeOnText(agreed, entry, program->compiled()); !ok)
    return ok.error();
  if (joined.comparesEvery > 0 && CallOrder::isOrdered() &&
      ++agreed.runs % joined.comparesEvery == 0)
    if (Status ok = compareReplicated(joined, program->signature(), arguments);
        !ok)
      return ok.error();
  return Agreement{.waits = entry.callsTogether, .origins = {}};
}

} // namespace meshloom::detail
