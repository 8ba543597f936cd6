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

  try {
    Layout({"z"}, mesh);
  } catch (const Error &error) {
    std::cout << error.what() << '\n';
  }

  bool right = again.to_vector<float>() == x.to_vector<float>() &&
               fetch_layout(relayout(x, fine)) == fine &&
               relayout(x, rows).to_vector<float>() ==
                   relayout(x, whole).to_vector<float>() &&
               last < first / 2;
  std::cout << "loss " << first << " -> " << last << '\n';
  return right ? 0 : 1;
}
