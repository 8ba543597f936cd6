// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What processes compare before they run a program together for the first time:
// one in which they exchange messages. A rank may run any other one alone.
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
    const Signature &own = compiled.signature();
    lines.push_back(
        fmt::format("program '{}' on {}", own.name, own.mesh.spec_string()));
    lines.push_back(fmt::format("machine model {}", compiled.machine()));
    for (const auto &[name, type, notes] : own.arguments)
      lines.push_back(fmt::format("argument '{}': {}", name, type.to_string()));
    if (const CodedProgram *coded = compiled.coded())
      addSteps(coded->program, coded->program.steps);
    lines.insert(lines.end(), details.begin(), details.end());
    for (const auto &[name, type, alias] : own.results)
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
      std::visit([&](const auto &own) { add(program, own); }, step);
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

/// Of the comparison of any program, so that programs that differ are found by
/// it, which can say how.
constexpr uint64_t FIRST_RUN = 0x6669727374;

/// See describeProgram.
struct ProgramText {
  std::string name;
  std::vector<std::string> details;
};

/// "'step' (at model.cpp:17)", for the first place that is known.
std::string placeOf(const Compiled &compiled, const ProgramText &said) {
  std::string place;
  if (const CodedProgram *coded = compiled.coded())
    for (const Step &step : coded->program.steps)
      if (place.empty())
        place = std::visit([](const auto &own) { return placeText(own.note); },
                           step);
  return fmt::format("'{}'{}",
                     said.name.empty() ? compiled.signature().name : said.name,
                     place);
}

/// What all processes say.
struct Word {
  uint64_t hash;  ///< of the program and what it was made for
  uint64_t count; ///< of programs that were compared before
  bool operator==(const Word &) const = default;
};

/// The words of all ranks, in order.
Result<std::vector<Word>> exchanged(const Processes &all,
                                    const std::string &place, const Word &own) {
  auto said = exchangedBytes(
      all, {reinterpret_cast<const char *>(&own), sizeof own},
      all.communicator->calls().next(std::make_shared<const SharedCall>(
          SharedCall{FIRST_RUN, place + " for the first time"})));
  if (!said)
    return said.error();
  std::vector<Word> words(said->size());
  for (size_t rank = 0; rank < words.size(); ++rank)
    std::memcpy(&words[rank], (*said)[rank].data(), sizeof(Word));
  return words;
}

/// Says what each has, and how the first one that has not what rank 0 has
/// differs.
Error differenceOf(const Processes &all, const std::string &description,
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
        all.rankText(int64_t(rank)), words.front().count + 1, first, rank,
        other);
    break;
  }
  // All have what they need before the first one ends.
  (void)all.client->barrier("agreement", std::chrono::seconds(1));
  all.communicator->abort(Error(message));
  return Error(message);
}

/// What is known of a program.
struct KnownProgram {
  bool exchanges = false; ///< with other processes, or has the host do so
  bool callsTogether = false;
  bool isAgreed = false; ///< its first run has begun
  /// Of the results of one without messages, until that was compared.
  std::shared_ptr<ValueOrigin> origin;
  ProgramText said; ///< until all have agreed
};

/// Programs that all have agreed on, and those without messages.
struct Agreed {
  std::mutex mutex;
  /// Handles, so that a run costs one look; and by contents, as programs are
  /// made again when they were pushed out of the cache.
  std::map<std::weak_ptr<Executable>, KnownProgram, std::owner_less<>> programs;
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

KnownProgram &knownOf(Agreed &agreed,
                      const std::shared_ptr<Executable> &program) {
  if (const auto found = agreed.programs.find(program);
      found != agreed.programs.end())
    return found->second;
  const CodedProgram *coded = program->compiled().coded();
  KnownProgram known;
  known.callsTogether = coded && callsTogether(coded->program.steps);
  known.exchanges = known.callsTogether || needsAllProcesses(*program);
  std::erase_if(agreed.programs,
                [](const auto &entry) { return entry.first.expired(); });
  return agreed.programs.emplace(program, std::move(known)).first->second;
}

/// Of a program without messages: the origin of its results, which is one for
/// all programs that are the same.
void findOrigin(Agreed &agreed, KnownProgram &known, const Compiled &compiled) {
  std::shared_ptr<ValueOrigin> &origin = agreed.local[contentOf(compiled)];
  if (!origin) {
    origin = std::make_shared<ValueOrigin>();
    origin->hash = contentOf(compiled);
    origin->place = placeOf(compiled, known.said);
    // The first ones tell small programs apart.
    known.said.details.resize(std::min<size_t>(known.said.details.size(), 2));
    if (!known.said.details.empty())
      origin->place +=
          fmt::format(" with {}", fmt::join(known.said.details, ", "));
  }
  known.origin = origin;
  known.said = {};
}

/// Compares a program with messages before the first run of its content.
Status agreeOnFirst(Agreed &agreed, const Processes &all, uint64_t hash,
                    const std::string &place,
                    const std::function<std::string()> &description) {
  if (!agreed.hashes.insert(hash).second)
    return Success();
  const Word own{hash, agreed.count++};
  Result<std::vector<Word>> words = exchanged(all, place, own);
  if (!words)
    return words.error().withMessage(
        fmt::format("the processes could not compare the program "
                    "before its first run: {}",
                    words.error().message()));
  if (std::ranges::count(*words, own) != std::ssize(*words))
    return differenceOf(all, description(), *words);
  return Success();
}

} // namespace

void describeProgram(const std::shared_ptr<Executable> &program,
                     std::string name, std::vector<std::string> details) {
  Agreed &agreed = agreedPrograms();
  std::lock_guard lock(agreed.mutex);
  KnownProgram &known = knownOf(agreed, program);
  known.said = {std::move(name), std::move(details)};
}

/// Of a program whose processes exchange messages.
static Status agreeOnText(Agreed &agreed, KnownProgram &known,
                          const Compiled &compiled) {
  const Processes &all = processes("mesh");
  if (!all.communicator)
    return Error("expected the other processes of the mesh, which this one has "
                 "left");
  if (!known.isAgreed)
    if (Status ok = agreeOnFirst(
            agreed, all, contentOf(compiled), placeOf(compiled, known.said),
            [&] { return Description(compiled, known.said.details).text(); });
        !ok)
      return ok;
  known.isAgreed = true;
  known.said = {};
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
          Description(part->compiled(), knownOf(agreed, part).said.details)
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
  KnownProgram &known = knownOf(agreed, program);
  return known.exchanges ? agreeOnText(agreed, known, program->compiled())
                         : Success();
}

Result<Agreement> agreeOn(const std::shared_ptr<Executable> &program,
                          std::span<const Array> arguments) {
  Agreed &agreed = agreedPrograms();
  std::lock_guard lock(agreed.mutex);
  KnownProgram &known = knownOf(agreed, program);
  if (!known.exchanges) {
    if (!known.isAgreed)
      findOrigin(agreed, known, program->compiled());
    known.isAgreed = true;
    Agreement own{.origins = originsOf(arguments)};
    if (known.origin && known.origin->isCompared)
      known.origin = nullptr;
    if (known.origin)
      own.origins.push_back(known.origin);
    return own;
  }
  const Processes &all = processes("mesh");
  if (all.communicator)
    compareOrigins(all, program->signature(), arguments);
  if (Status ok = agreeOnText(agreed, known, program->compiled()); !ok)
    return ok.error();
  if (all.comparesEvery > 0 && CallOrder::isOrdered() &&
      ++agreed.runs % all.comparesEvery == 0)
    if (Status ok = compareReplicated(all, program->signature(), arguments);
        !ok)
      return ok.error();
  return Agreement{.waits = known.callsTogether, .origins = {}};
}

} // namespace meshloom::detail
