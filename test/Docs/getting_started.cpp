// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The programs of docs/GettingStarted.md, in its order.
#include <meshloom/Meshloom.h>

#include <iostream>

using namespace meshloom;

int main() {
  Mesh mesh = create_mesh({{"x", 2}, {"y", 4}}, virtual_cpus(8));
  Layout whole = Layout::replicated(mesh, 2);
  Layout rows({"x", UNSHARDED}, mesh);
  Layout both({"x", "y"}, mesh);
  Layout fine({Axes{"x", "y"}, UNSHARDED}, mesh);

  Tensor x = distribute(reshape(range(35, DType::F32), {7, 5}), both);
  std::cout << visualize(x);
  std::vector<Tensor> components = unpack(x); // the shard of each device
  Tensor again = pack(components, both);

  Tensor gram = matmul(x, transpose(x));
  Tensor sum = relayout(reduce_sum(gram, 1), Layout({"x"}, mesh));
  std::cout << sum << '\n';

  Tensor inner = x(range(1, -1), all); // x[1:-1, :]
  Tensor column = x(ellipsis, -1), evens = x(range(0, {}, 2));
  Tensor changed = index_update(x, {0, range(2, 4)}, 7); // x[0, 2:4] = 7
  Tensor same = einsum("ij,kj->ik", x, x);
  Tensor flat = rearrange(x, "row column -> (column row)");
  Tensor safe = where(x == 0, 1, x); // elementwise, as % and < are
  if (!allclose(same, gram))
    std::cout << "they differ\n";

  auto normalise = function([](const Tensor &t) {
    Tensor centred = t - reduce_mean(t, 0, true);
    return centred / sqrt(reduce_mean(square(centred), 0, true) + 1e-6);
  });
  Tensor normal = normalise(x);
  ConcreteFunction compiled = normalise.get_concrete_function(x);
  std::cout << compiled.collectives() << compiled.explain();

  DVariable w(distribute(zeros({5, 1}), Layout({"y", UNSHARDED}, mesh)));
  optimizers::SGD sgd(0.1);
  auto step = function([&](const Tensor &input, const Tensor &target) {
    GradientTape tape;
    Tensor loss = reduce_mean(square(matmul(input, w) - target));
    sgd.apply_gradients(tape.gradient(loss, {w}));
    return loss;
  });
  Tensor target = reduce_sum(normal, 1, true);
  float first = step(normal, target).item<float>(), last = first;
  for (int i = 0; i < 20; ++i)
    last = step(normal, target).item<float>();

  DVariable rate(tensor(0.1f));
  optimizers::SGD decaying({.learning_rate = rate, .momentum = 0.9});
  auto noisy = function([&](const Tensor &input, const Tensor &seed) {
    GradientTape tape;
    Tensor thinned = nn::dropout(input, 0.2, seed);
    Tensor loss = reduce_mean(square(matmul(thinned, w) - target));
    auto [clipped, length] = clip_by_global_norm(tape.gradient(loss, {w}), 1);
    decaying.apply_gradients(clipped);
    return loss;
  });
  for (int i = 0; i < 4; ++i) { // traced once
    noisy(normal, random::fold_in(Seed{1, 2}, i));
    rate.assign(rate.read_value() * 0.5f);
  }

  optimizers::AdamW adam({.learning_rate = 1e-3,
                          .common = {.weight_decay = 0.01,
                                     .global_clip_norm = 1,
                                     .state_layout = [&](const DVariable &v) {
                                       return Layout::batch_sharded(mesh, "x",
                                                                    v.rank());
                                     }}});
  adam.apply_gradients({{w.read_value(), w}});
  if (adam.variables()[1].layout().is_fully_replicated())
    return 1;

  struct Net : Module {
    layers::Dense hidden, out;
    layers::LayerNormalization norm;
    explicit Net(const Mesh &mesh)
        : hidden(16, {.common = {.layouts = {{"kernel",
                                              Layout({UNSHARDED, "y"}, mesh)},
                                             {"bias", Layout({"y"}, mesh)}}}}),
          out(1, {.common = {.layouts = {{"kernel",
                                          Layout({"y", UNSHARDED}, mesh)}}}}),
          norm({.common = {.layouts = {{"gamma", Layout({"y"}, mesh)},
                                       {"beta", Layout({"y"}, mesh)}}}}) {
      track(this, hidden, norm, out);
    }
    Tensor operator()(const Tensor &x) const {
      auto scope = name_scope("net");
      return out(nn::silu(norm(hidden(x))));
    }
  } net(mesh);
  auto predict = function([&](const Tensor &x) { return net(x); });
  Tensor predicted = predict(normal);

  predict.get_concrete_function(normal).save("predict.mlprog");
  SavedFunction loaded = load_function("predict.mlprog", mesh);
  for (const ValueInfo &argument : loaded.arguments())
    std::cout << argument.name << ' ' << argument.layout.spec_string() << '\n';

  try {
    Layout({"z"}, mesh);
  } catch (const Error &error) {
    std::cout << error.what() << '\n';
  }

  bool right = again.to_vector<float>() == x.to_vector<float>() &&
               fetch_layout(relayout(x, fine)) == fine &&
               relayout(x, rows).to_vector<float>() ==
                   relayout(x, whole).to_vector<float>() &&
               last < first / 2 && inner.shape() == (Shape{5, 5}) &&
               column.shape() == (Shape{7}) && evens.shape() == (Shape{4, 5}) &&
               changed(0, 3).item<float>() == 7 &&
               same.to_vector<float>() == gram.to_vector<float>() &&
               noisy.trace_count() == 1 && predicted.shape() == (Shape{7, 1}) &&
               loaded.arguments().size() == 7;
  std::cout << "loss " << first << " -> " << last << '\n';
  return right ? 0 : 1;
}
