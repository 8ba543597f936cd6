// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "meshloom/Core/Compiled.h"

namespace meshloom {

Signature signatureOf(const Program &program) {
  Signature signature{program.name, program.mesh, {}, {}, program.deviceOrder};
  auto typeOf = [&](unsigned buffer, const std::optional<Layout> &written) {
    const BufferDecl &decl = program.buffers[buffer];
    return ArrayType{decl.type, decl.shape, written.value_or(decl.layout)};
  };
  // verify() may not have seen the program yet.
  auto exists = [&](unsigned buffer) {
    return buffer < program.buffers.size();
  };
  for (const Argument &argument : program.arguments)
    if (exists(argument.buffer))
      signature.arguments.push_back({argument.name,
                                     typeOf(argument.buffer, argument.written),
                                     argument.notes});
  for (const ProgramResult &result : program.results)
    if (exists(result.buffer))
      signature.results.push_back({result.name,
                                   typeOf(result.buffer, result.written),
                                   result.aliasedArgument});
  return signature;
}

static void collect(const Program &program, const std::vector<Step> &steps,
                    std::vector<CompiledCollective> &found) {
  for (const Step &step : steps) {
    auto *collective = std::get_if<CollectiveStep>(&step);
    if (collective && collective->kind != CollectiveKind::Slice)
      found.push_back({collective->kind, collective->axes,
                       transferBytes(program.buffers, *collective),
                       int64_t(collective->moves.size()), collective->reason,
                       collective->note});
    for (const std::vector<Step> *inner : nestedLists(step))
      collect(program, *inner, found);
  }
}

std::vector<CompiledCollective> collectivesOf(const Program &program) {
  std::vector<CompiledCollective> found;
  collect(program, program.steps, found);
  return found;
}

Compiled::Compiled(CodedProgram program, std::string machine)
    : type(signatureOf(program.program)), model(std::move(machine)),
      form(std::move(program)) {}

Compiled::Compiled(Signature signature,
                   std::vector<CompiledCollective> collectives,
                   StableHLOProgram program, std::string machine)
    : type(std::move(signature)), sent(std::move(collectives)),
      model(std::move(machine)), form(std::move(program)) {}

std::vector<CompiledCollective> Compiled::collectives() const {
  return coded() ? collectivesOf(program()) : sent;
}

} // namespace meshloom
