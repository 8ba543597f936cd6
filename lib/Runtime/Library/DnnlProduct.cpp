// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "DnnlProduct.h"

#include "OneDnn.h"
#include "ThreadScratch.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <mutex>

using namespace meshloom;
using namespace meshloom::library;
using dnnl::memory;

static DnnlProduct makeProduct(const ProductShape &shape) {
  auto strides = [](MatrixStrides matrix) {
    return memory::dims{matrix.rowStride, matrix.columnStride};
  };
  DnnlProduct product;
  product.lhs = {{shape.m, shape.k}, shape.lhsType, strides(shape.lhs)};
  product.rhs = {{shape.k, shape.n}, shape.rhsType, strides(shape.rhs)};
  product.result = {
      {shape.m, shape.n}, shape.resultType, strides(shape.result)};
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (shape.adds) {
    dnnl::post_ops after;
    after.append_sum();
    attributes.set_post_ops(after);
  }
  dnnl::matmul::primitive_desc desc({product.lhs, product.rhs, product.result},
                                    attributes, engine());
  product.good = takeGood(desc);
  if (product.good) {
    product.primitive = dnnl::matmul(desc);
    product.scratchpad = desc.scratchpad_desc();
  }
  return product;
}

const DnnlProduct &library::productOf(const ProductShape &shape) {
  // Never destroyed: threads may multiply until the process ends.
  static std::mutex &mutex = *new std::mutex;
  static auto &products = *new std::map<decltype(shape.key()), DnnlProduct>;
  std::lock_guard lock(mutex);
  auto [entry, isNew] = products.try_emplace(shape.key());
  if (isNew)
    entry->second = makeProduct(shape);
  return entry->second;
}

Error library::productError(std::string_view type, const Contraction &c,
                            const dnnl::error &error) {
  return Error(fmt::format(
      "oneDNN's matrix product of {} [{}, {}] x [{}, {}] failed: {}", type,
      c.row.count, c.sum.count, c.sum.count, c.column.count, error.what()));
}

bool library::isPlain(MatrixStrides &matrix, int64_t rows, int64_t columns) {
  if (columns == 1 && matrix.rowStride != 1)
    matrix.columnStride = 1;
  if (rows == 1)
    matrix.rowStride =
        matrix.columnStride == 1 ? columns : std::min<int64_t>(1, columns);
  return (matrix.columnStride == 1 && matrix.rowStride >= columns) ||
         (matrix.rowStride == 1 && matrix.columnStride >= rows);
}

void DnnlProduct::multiply(const void *lhsData, const void *rhsData,
                           void *out) const {
  auto asMemory = [&](const memory::desc &desc, const void *data) {
    return memory(desc, engine(), const_cast<void *>(data));
  };
  dnnl::stream &stream = streamOfThread();
  const memory scratch(scratchpad, engine(),
                       threadScratch(3, scratchpad.get_size() + 64));
  primitive.execute(stream, {{DNNL_ARG_SRC, asMemory(lhs, lhsData)},
                             {DNNL_ARG_WEIGHTS, asMemory(rhs, rhsData)},
                             {DNNL_ARG_DST, asMemory(result, out)},
                             {DNNL_ARG_SCRATCHPAD, scratch}});
}
