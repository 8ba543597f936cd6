// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The string forms of a Layout and the names of reductions: TensorFlow's
// "sharding_specs:x,unsharded, mesh:..." and the IR's "[x, *, {y, z}]".
#include "meshloom/Core/Layout.h"
#include "meshloom/Core/SubAxis.h"

#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace meshloom {

static constexpr std::array<std::string_view, 6> kindNames{"sum", "prod", "min",
                                                           "max", "and",  "or"};

std::string_view name(ReduceKind kind) {
  if (size_t(kind) >= kindNames.size())
    Error(fmt::format("[ReduceKind] expected one of {}, got the number "
                      "{}",
                      fmt::join(kindNames, ", "), unsigned(kind)))
        .raise();
  return kindNames[size_t(kind)];
}

std::optional<ReduceKind> parseReduceKind(std::string_view name) {
  for (size_t i = 0; i < kindNames.size(); ++i)
    if (kindNames[i] == name)
      return ReduceKind(i);
  return std::nullopt;
}

std::string Layout::to_string() const {
  std::string text = "sharding_specs:";
  for (const DimSpec &spec : sharding_specs()) {
    if (spec.axes.empty())
      text += "unsharded,";
    else if (spec.axes.size() == 1)
      text += spec.axes[0] + ",";
    else
      text += fmt::format("{{{}}},", fmt::join(spec.axes, ";"));
  }
  text += " ";
  for (const Partial &p : partial())
    text += fmt::format("{}{}={}", &p == &partial()[0] ? "partial:" : ",",
                        mesh().axes()[p.axis].name, meshloom::name(p.kind));
  if (is_partial())
    text += " ";
  return text + "mesh:" + mesh().to_string();
}

std::string Layout::spec_string() const {
  std::vector<std::string> dims, pending;
  for (const std::vector<unsigned> &axes : dim_axes()) {
    std::vector<std::string> names = mergedNames(mesh(), axes);
    if (names.empty())
      dims.push_back("*");
    else if (names.size() == 1)
      dims.push_back(names[0]);
    else
      dims.push_back(fmt::format("{{{}}}", fmt::join(names, ", ")));
  }
  std::vector<unsigned> pendingAxes;
  for (const Partial &p : partial())
    pendingAxes.push_back(p.axis);
  for (const std::string &axis : mergedNames(mesh(), pendingAxes))
    pending.push_back(
        fmt::format("{}: {}", axis, meshloom::name(partial()[0].kind)));
  std::string text = fmt::format("[{}]", fmt::join(dims, ", "));
  if (!pending.empty())
    text += fmt::format(" partial<{}>", fmt::join(pending, ", "));
  return text;
}

namespace {
/// Reads a layout string from the front; `remaining` is the text that is not
/// read yet.
struct LayoutReader {
  std::string_view whole, remaining;

  bool take(std::string_view prefix) {
    if (!remaining.starts_with(prefix))
      return false;
    remaining.remove_prefix(prefix.size());
    return true;
  }
  /// Up to the first of `stops`, which stays.
  std::string_view until(std::string_view stops) {
    std::string_view word = remaining.substr(0, remaining.find_first_of(stops));
    remaining.remove_prefix(word.size());
    return word;
  }
  Error error(std::string_view why) const {
    return Error(fmt::format("[Layout] cannot read '{}': {}; expected e.g. "
                             "'sharding_specs:x,unsharded, mesh:|x=2,y=4|*CPU'",
                             whole, why));
  }
};
} // namespace

Result<Layout> Layout::from_string(std::string_view text) {
  LayoutReader in{text, text};
  if (!in.take("sharding_specs:"))
    return in.error("it does not begin with 'sharding_specs:'");
  std::vector<DimSpec> specs;
  while (!in.take(" ")) {
    if (in.remaining.empty())
      return in.error("' mesh:' is missing");
    if (in.take("{")) {
      std::vector<std::string> axes;
      do
        axes.emplace_back(in.until(";},"));
      while (in.take(";"));
      if (!in.take("}"))
        return in.error("'}' is missing after several axes");
      specs.push_back(Axes(std::move(axes)));
    } else {
      std::string axis(in.until(", "));
      if (axis.empty())
        return in.error("a sharding spec is empty");
      specs.push_back(axis == "unsharded" ? DimSpec(UNSHARDED) : DimSpec(axis));
    }
    if (!in.take(","))
      return in.error("each sharding spec must end in ','");
  }
  std::vector<std::pair<std::string, ReduceKind>> partial;
  if (in.take("partial:")) {
    do {
      std::string axis(in.until("=, "));
      if (!in.take("="))
        return in.error("a partial axis needs a kind, e.g. partial:x=sum");
      std::string_view word = in.until(", ");
      auto kind = parseReduceKind(word);
      if (!kind)
        return in.error(fmt::format("'{}' is not a reduction ({})", word,
                                    fmt::join(kindNames, ", ")));
      partial.emplace_back(std::move(axis), *kind);
    } while (in.take(","));
    if (!in.take(" "))
      return in.error("' mesh:' is missing");
  }
  if (!in.take("mesh:"))
    return in.error("'mesh:' is missing");
  Result<Mesh> mesh = Mesh::from_string(in.remaining);
  if (!mesh)
    return mesh.error();
  return get(std::move(specs), std::move(*mesh), std::move(partial));
}

} // namespace meshloom
