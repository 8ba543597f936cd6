// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The code of docs/SparseAndRagged.md.
#include <meshloom/Meshloom.h>

#include <iostream>

using namespace meshloom;

namespace {

void raggedTensors() {
  RaggedTensor words = ragged::constant({{3, 1}, {}, {4, 1, 5}});
  std::cout << reduce_sum(words, 1) << '\n';   // 4, 0, 10
  std::cout << words.to_tensor(-1, 3) << '\n'; // rows that end in -1

  RaggedTensor same = RaggedTensor::from_row_lengths(
      tensor({3, 1, 4, 1, 5, 0, 0, 0}), tensor({2, 0, 3}));
  std::cout << same.row_lengths() << '\n';
}

void embeddings() {
  Mesh mesh = create_mesh({{"batch", 2}, {"model", 4}}, virtual_cpus(8));
  DVariable table(call_with_layout(
      [] { return random::stateless_uniform({100, 16}, {1, 2}); },
      Layout({"model", UNSHARDED}, mesh)));
  auto step = function([&](const RaggedTensor &ids, const Tensor &targets) {
    GradientTape tape;
    Tensor vectors =
        nn::embedding_lookup_sparse(table, ids, Combiner::Mean); // [rows, 16]
    Tensor loss = reduce_mean(square(reduce_sum(vectors, 1) - targets));
    table.assign_sub(0.01f * tape.gradient(loss, table));
    return loss;
  });

  RaggedTensor sentences = ragged::constant({{3, 1}, {7}, {4, 1, 5}, {9, 2}});
  Tensor targets = tensor({1.f, 2.f, 3.f, 4.f});
  auto batches = data::ragged_batch(
      data::from_tensor_slices(sentences, targets), 2, {.capacity = 8});
  for (auto [ids, target] : batches)
    std::cout << step(ids, target) << '\n';
  std::cout << step.trace_count() << '\n'; // 1: all batches have one shape
}

void sparseTensors() {
  Tensor x = tensor({{0.f, 2.f, 0.f}, {3.f, 0.f, 4.f}});
  SparseTensor a = sparse::from_dense(x);
  Tensor y = sparse::sparse_dense_matmul(a, ones({3, 2}));
  CSRMatrix rows = sparse::to_csr(a);
  Tensor sums = sparse::reduce_sum(a, 0);
  std::cout << a << '\n' << y << '\n' << rows.row_splits << sums << '\n';
}

void sizes() {
  auto largest = function([](const Tensor &x) {
    Tensor selected = boolean_mask(x, x > 0.5f, 16); // the first 16, then zeros
    Unique ids = unique(cast(10.f * x, DType::I32), 10);
    return std::pair(reduce_sum(selected), ids.count);
  });
  auto [sum, different] = largest(random::stateless_uniform({20}, {1, 2}));
  std::cout << sum << different << '\n';
}

} // namespace

int main() {
  raggedTensors();
  embeddings();
  sparseTensors();
  sizes();
}
