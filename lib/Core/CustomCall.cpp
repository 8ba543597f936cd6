// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The process's table of custom call targets.
#include "meshloom/Core/CustomCall.h"

#include "meshloom/Core/Program.h"
#include "meshloom/Core/ShardingRule.h"

#include <fmt/format.h>
#include <map>
#include <mutex>

namespace meshloom {

namespace {
struct Targets {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<const CustomTarget>, std::less<>>
      byName;
};

Targets &targets() {
  static auto &instance = *new Targets;
  return instance;
}
} // namespace

Status register_custom_call(std::string name, CustomTarget target) {
  if (name.empty())
    return Error("a custom call target needs a name");
  auto wrong = [&](std::string_view why) {
    return Error(fmt::format("custom call target '{}': {}", name, why));
  };
  if (!target.run)
    return wrong("it has no function");
  if (!target.rule.empty()) {
    Result<ShardingRule> rule = ShardingRule::parse(target.rule);
    if (!rule)
      return wrong(rule.error().message());
  }
  Targets &table = targets();
  std::lock_guard lock(table.mutex);
  table.byName[std::move(name)] =
      std::make_shared<const CustomTarget>(std::move(target));
  return Success();
}

std::shared_ptr<const CustomTarget> find_custom_call(std::string_view name) {
  Targets &table = targets();
  std::lock_guard lock(table.mutex);
  auto entry = table.byName.find(name);
  return entry == table.byName.end() ? nullptr : entry->second;
}

bool failsTogether(const KernelStep &step) {
  const auto option = step.options.find("call_target_name");
  const auto *target = option == step.options.end()
                           ? nullptr
                           : std::get_if<std::string>(&option->second);
  const auto found = target ? find_custom_call(*target) : nullptr;
  return found && found->fails_together;
}

} // namespace meshloom
