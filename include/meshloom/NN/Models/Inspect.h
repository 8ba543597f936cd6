// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of a model, its drawing, and the layouts of its weights.
#pragma once

#include "meshloom/NN/Models/Model.h"

#include <filesystem>
#include <iosfwd>

namespace meshloom {

/// Layouts by the paths of weights, in which '*' stands for any letters. Where
/// several fit a path the last one counts.
using LayoutPatterns = std::vector<std::pair<std::string, Layout>>;

/// Lays the weights of a model out by their paths; values stay, and what was
/// compiled is compiled again:
///
///   set_layouts(model, {{"*/kernel", Layout({"x", UNSHARDED}, mesh)},
///                       {"dense_1/kernel", Layout({UNSHARDED, "x"}, mesh)}});
///
/// Throws meshloom::Error if a pattern fits no path, listing them, if a rank
/// differs, or if the model is not built: nothing has then changed.
void set_layouts(const Layer &model, const LayoutPatterns &patterns,
                 std::source_location where = std::source_location::current());
/// By a function of path and weight; none: it stays. Everything cut over the
/// batch's axis:
///
///   set_layouts(model, [&](const std::string &, const DVariable &v) {
///     return Layout::batch_sharded(mesh, "batch", v.rank());
///   });
void set_layouts(const Layer &model,
                 const std::function<std::optional<Layout>(
                     const std::string &path, const DVariable &weight)> &choose,
                 std::source_location where = std::source_location::current());

/// Keras's table of a model: its layers with what they give, their numbers of
/// parameters, where inputs come from, and the layouts of weights that are cut.
[[nodiscard]] std::string summary(const Layer &model);

/// Draws a model's graph as SVG: a box for each layer with its result.
[[nodiscard]] std::string plot_model(const Model &model);
/// Into a file. Throws meshloom::Error if it cannot be written.
void plot_model(const Model &model, const std::filesystem::path &path,
                std::source_location where = std::source_location::current());

} // namespace meshloom
