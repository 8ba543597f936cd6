// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// f32 convolutions by oneDNN. A convolution whose lhs is dilated is the data
// gradient of another one, and one whose kernel is larger than its result the
// weight gradient: oneDNN has a primitive for each. Activations are given to it
// channels last, where they lie so in memory, else as copies; kernels in the
// form it likes best, and activations, too, where it has no good channels-last
// code and many features. Primitives are kept for every shape.
#include "Convolution.h"
#include "OneDnn.h"
#include "PairwiseSums.h"
#include "ThreadScratch.h"
#include "meshloom/Core/ThreadLocal.h"
#include "meshloom/Runtime/Library/HostCall.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <mutex>
#include <tuple>

using namespace meshloom;
using namespace meshloom::library;
using dnnl::memory;

namespace {

enum class Way : uint8_t { Forward, DataGradient, WeightGradient };

/// The three arrays by their roles in the forward convolution.
struct Strided {
  float *data;
  memory::dims dims, strides;
};

memory::desc plainDesc(const Strided &array) {
  return {array.dims, memory::data_type::f32, array.strides};
}

/// Strides of [n, c, spatial...] with channels last.
memory::dims channelsLast(const memory::dims &dims) {
  memory::dims strides(dims.size());
  int64_t step = dims[1];
  strides[1] = 1;
  for (size_t d = dims.size(); d-- > 2;) {
    strides[d] = step;
    step *= dims[d];
  }
  strides[0] = step;
  return strides;
}

/// Whether the strides that matter are those of channels last.
bool isChannelsLast(const Strided &array) {
  const memory::dims wanted = channelsLast(array.dims);
  for (size_t d = 0; d < wanted.size(); ++d)
    if (array.dims[d] != 1 && array.strides[d] != wanted[d])
      return false;
  return true;
}

memory::desc channelsLastDesc(const memory::dims &dims) {
  return {dims, memory::data_type::f32, channelsLast(dims)};
}

/// The primitive for one shape, and how it wants its arrays.
struct Plan {
  dnnl::primitive primitive;
  memory::desc source, weights, destination, scratchpad;
  bool good = false, isBatchReduced = false;
};

struct ConvolutionShape {
  Way way = Way::Forward;
  memory::dims source, weights, destination; ///< weights: [g,] oc, ic, k...
  memory::dims strides, dilations, low, high;

  std::vector<int64_t> key() const {
    std::vector<int64_t> values{int64_t(way), int64_t(weights.size())};
    for (const memory::dims *dims :
         {&source, &weights, &destination, &strides, &dilations, &low, &high})
      values.insert(values.end(), dims->begin(), dims->end());
    return values;
  }
};

/// oneDNN's AVX2 code for blocks of eight channels is up to twice as fast as
/// that for channels last (measured on Zen 3: forward 1.1 to 1.3 times, weight
/// gradients 0.7 to 2.1), which pays for copies where every element is used
/// often.
bool isWorthCopying(const ConvolutionShape &shape) {
  const bool grouped = shape.weights.size() > shape.source.size();
  int64_t places = 1;
  for (size_t d = 2; d < shape.weights.size(); ++d)
    places *= shape.weights[d];
  const int64_t in = shape.source[1], out = shape.destination[1];
  return !grouped && places >= 4 && in >= 64 && out >= 64 && in % 8 == 0 &&
         out % 8 == 0;
}

/// The plan for activations that are channels last, or as oneDNN likes best.
Plan makePlan(const ConvolutionShape &shape, bool blocked) {
  const auto any = memory::format_tag::any;
  auto activations = [&](const memory::dims &dims) {
    return blocked ? memory::desc(dims, memory::data_type::f32, any)
                   : channelsLastDesc(dims);
  };
  const memory::desc source = activations(shape.source),
                     destination = activations(shape.destination),
                     weights(shape.weights, memory::data_type::f32, any);
  const auto algorithm = dnnl::algorithm::convolution_direct;
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  dnnl::convolution_forward::primitive_desc forward(
      {dnnl::prop_kind::forward_training, algorithm, source, weights,
       destination, shape.strides, shape.dilations, shape.low, shape.high},
      attributes, engine());
  auto finish = [](const auto &desc, dnnl::primitive primitive,
                   memory::desc source, memory::desc weights,
                   memory::desc destination) {
    return Plan{std::move(primitive),
                source,
                weights,
                destination,
                desc.scratchpad_desc(),
                true,
                std::string_view(desc.impl_info_str()).starts_with("brg")};
  };
  switch (shape.way) {
  case Way::Forward:
    if (!takeGood(forward))
      return {};
    return finish(forward, dnnl::convolution_forward(forward),
                  forward.src_desc(), forward.weights_desc(),
                  forward.dst_desc());
  case Way::DataGradient: {
    dnnl::convolution_backward_data::primitive_desc desc(
        {algorithm, source, weights, destination, shape.strides,
         shape.dilations, shape.low, shape.high},
        attributes, engine(), forward);
    if (!takeGood(desc))
      return {};
    return finish(desc, dnnl::convolution_backward_data(desc),
                  desc.diff_src_desc(), desc.weights_desc(),
                  desc.diff_dst_desc());
  }
  case Way::WeightGradient: {
    dnnl::convolution_backward_weights::primitive_desc desc(
        {algorithm, source, weights, destination, shape.strides,
         shape.dilations, shape.low, shape.high},
        attributes, engine(), forward);
    if (!takeGood(desc))
      return {};
    return finish(desc, dnnl::convolution_backward_weights(desc),
                  desc.src_desc(), desc.diff_weights_desc(),
                  desc.diff_dst_desc());
  }
  }
  return {};
}

/// AVX-512 has good code for channels last, by its name.
Plan makePlan(const ConvolutionShape &shape) {
  Plan plan = makePlan(shape, /*blocked=*/false);
  if (plan.good && !plan.isBatchReduced && isWorthCopying(shape))
    return makePlan(shape, /*blocked=*/true);
  return plan;
}

/// Plans are made once a shape and process.
const Plan &planFor(const ConvolutionShape &shape) {
  static std::mutex mutex;
  static auto &plans =
      *new std::map<std::vector<int64_t>, std::unique_ptr<const Plan>>;
  std::vector<int64_t> key = shape.key();
  {
    std::lock_guard lock(mutex);
    if (auto entry = plans.find(key); entry != plans.end())
      return *entry->second;
  }
  auto plan = std::make_unique<const Plan>([&] {
    try {
      return makePlan(shape);
    } catch (const dnnl::error &) {
      return Plan(); // it does not do this shape
    }
  }());
  std::lock_guard lock(mutex);
  return *plans.try_emplace(std::move(key), std::move(plan)).first->second;
}

void reorder(memory &from, memory &to, dnnl::stream &stream) {
  dnnl::reorder(from, to).execute(stream, from, to);
}

/// Whether oneDNN takes the array as it is. Steps of dims of one element differ
/// without meaning.
bool fits(const Strided &array, const memory::desc &desc) {
  if (desc == plainDesc(array))
    return true;
  return isChannelsLast(array) && desc == channelsLastDesc(array.dims);
}

/// Scratch of which one call makes something that its next ones in the same
/// CallScope find there again.
enum CacheSlot : unsigned { FlippedKernel = 8, PackedKernel = 9 };

/// Whether this thread's `slot` holds what `call` made of `data` by `plan` and
/// `sizes` in this scope. If not, it is about to: what is made of it in turn
/// must then be made again, too.
bool isCached(CacheSlot slot, const void *call, const void *data,
              const void *plan, std::vector<int64_t> sizes = {}) {
  using Key = std::tuple<uint64_t, const void *, const void *, const void *,
                         std::vector<int64_t>>;
  auto &keys = threadLocal<std::array<Key, 2>>();
  Key now{CallScope::current(), call, data, plan, std::move(sizes)};
  Key &previous = keys[slot - FlippedKernel];
  const bool isSame = std::get<0>(now) != 0 && call && previous == now;
  previous = std::move(now);
  if (!isSame && slot == FlippedKernel)
    keys[PackedKernel - FlippedKernel] = {};
  return isSame;
}

/// Runs the plan: copies what is read into the form it wants, and what is
/// written back. `inLibraryForm`: where the result goes in the plan's form
/// instead.
void execute(const Plan &plan, Way way, Strided source, Strided weights,
             Strided destination, const void *call, float *inLibraryForm) {
  dnnl::stream &stream = streamOfThread();
  Strided *arrays[3] = {&source, &weights, &destination};
  const memory::desc *descs[3] = {&plan.source, &plan.weights,
                                  &plan.destination};
  const unsigned written = way == Way::Forward        ? 2
                           : way == Way::DataGradient ? 0
                                                      : 1;
  memory used[3], own[3];
  for (unsigned i = 0; i < 3; ++i) {
    own[i] = memory(plainDesc(*arrays[i]), engine(), arrays[i]->data);
    const bool direct = fits(*arrays[i], *descs[i]);
    const bool isKernel = i == 1 && i != written;
    used[i] = memory(*descs[i], engine(),
                     i == written && inLibraryForm ? inLibraryForm
                     : direct                      ? arrays[i]->data
                              : threadScratch(isKernel ? PackedKernel : i,
                                              descs[i]->get_size()));
    if (!direct && i != written &&
        !(isKernel && isCached(PackedKernel, call, arrays[i]->data, &plan)))
      reorder(own[i], used[i], stream);
  }
  memory scratchpad(plan.scratchpad, engine(),
                    threadScratch(3, plan.scratchpad.get_size() + 64));
  const int names[3][3] = {
      {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST},
      {DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_DST},
      {DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST}};
  plan.primitive.execute(stream, {{names[int(way)][0], used[0]},
                                  {names[int(way)][1], used[1]},
                                  {names[int(way)][2], used[2]},
                                  {DNNL_ARG_SCRATCHPAD, scratchpad}});
  if (!inLibraryForm &&
      used[written].get_data_handle() != arrays[written]->data)
    reorder(used[written], own[written], stream);
  stream.wait();
}

/// A contiguous copy of the kernel read backwards where it must be, its dims in
/// the order that they have in memory.
float *flipped(const Convolution &c, const std::vector<bool> &flip,
               const float *rhs, Convolution &changed) {
  const bool outputsInside = c.rhsOutputStep <= c.rhsInputStep;
  const int64_t rows = outputsInside ? c.input : c.output,
                row = outputsInside ? c.output : c.input,
                rowStep = outputsInside ? c.rhsInputStep : c.rhsOutputStep,
                step = outputsInside ? c.rhsOutputStep : c.rhsInputStep;
  changed.rhsOutputStep = outputsInside ? 1 : c.input;
  changed.rhsInputStep = outputsInside ? c.output : 1;
  int64_t steps = rows * row;
  for (size_t d = c.dims.size(); d-- > 0;) {
    changed.dims[d].rhsStep = steps;
    steps *= c.dims[d].kernel;
  }
  changed.groupStep[1] = steps;
  auto *copy = static_cast<float *>(
      threadScratch(FlippedKernel, size_t(steps * c.groups) * sizeof(float)));
  // Tasks of one call may read other parts of a kernel from one place on.
  std::vector<int64_t> sizes{c.groups, rows, row};
  for (size_t d = 0; d < c.dims.size(); ++d)
    sizes.insert(sizes.end(), {c.dims[d].kernel, flip[d]});
  if (isCached(FlippedKernel, c.call, rhs, nullptr, std::move(sizes)))
    return copy;
  int64_t places = 1;
  for (const ConvolutionDim &dim : c.dims)
    places *= dim.kernel;
  float *to = copy;
  for (int64_t g = 0; g < c.groups; ++g)
    for (int64_t p = 0; p < places; ++p) {
      int64_t remaining = p, from = g * c.groupStep[1];
      for (size_t d = c.dims.size(); d-- > 0;) {
        const int64_t k = remaining % c.dims[d].kernel;
        remaining /= c.dims[d].kernel;
        from += (flip[d] ? c.dims[d].kernel - 1 - k : k) * c.dims[d].rhsStep;
      }
      for (int64_t r = 0; r < rows; ++r, to += row) {
        const float *source = rhs + from + r * rowStep;
        if (step == 1)
          std::copy_n(source, row, to);
        else
          for (int64_t i = 0; i < row; ++i)
            to[i] = source[i * step];
      }
    }
  return copy;
}

/// lhs with its zeros written out.
const float *dilate(Convolution &c, const float *lhs) {
  Convolution dense = c;
  int64_t step = c.input * c.groups;
  dense.lhsInputStep = 1;
  dense.groupStep[0] = c.input;
  for (size_t d = c.dims.size(); d-- > 0;) {
    ConvolutionDim &dim = dense.dims[d];
    dim.lhsStep = step;
    dim.in = (c.dims[d].in - 1) * c.dims[d].lhsDilation + 1;
    dim.lhsDilation = 1;
    step *= dim.in;
  }
  dense.lhsBatchStep = step;
  const size_t bytes = size_t(step * c.batch) * sizeof(float);
  auto *to = static_cast<float *>(threadScratch(6, bytes));
  std::memset(to, 0, bytes);
  std::vector<int64_t> index(c.dims.size(), 0);
  while (true) {
    int64_t from = 0, target = 0;
    for (size_t d = 0; d < index.size(); ++d) {
      from += index[d] * c.dims[d].lhsStep;
      target += index[d] * c.dims[d].lhsDilation * dense.dims[d].lhsStep;
    }
    for (int64_t n = 0; n < c.batch; ++n)
      for (int64_t g = 0; g < c.groups; ++g)
        for (int64_t i = 0; i < c.input; ++i)
          to[target + n * dense.lhsBatchStep + g * dense.groupStep[0] + i] =
              lhs[from + n * c.lhsBatchStep + g * c.groupStep[0] +
                  i * c.lhsInputStep];
    size_t d = 0;
    while (d < index.size() && ++index[d] == c.dims[d].in)
      index[d++] = 0;
    if (d == index.size())
      break;
  }
  c = dense;
  return to;
}

/// Elements at the ends that nothing meets, and padding that is taken away.
const float *cropDense(Convolution &c, const float *lhs) {
  for (ConvolutionDim &dim : c.dims) {
    if (dim.low < 0) {
      lhs += -dim.low * dim.lhsStep;
      dim.in += dim.low;
      dim.low = 0;
    }
    const int64_t last = (dim.out - 1) * dim.stride - dim.low +
                         (dim.kernel - 1) * dim.rhsDilation;
    dim.in = std::min(dim.in, last + 1);
  }
  return lhs;
}

Way wayOf(const Convolution &c) {
  bool dilated = false, strided = false, reversed = false, large = false;
  bool within = true;
  for (const ConvolutionDim &dim : c.dims) {
    dilated |= dim.lhsDilation > 1;
    strided |= dim.stride > 1;
    reversed |= dim.reversed;
    large |= dim.hasLargeKernel;
    // The padding of the convolution that this is the gradient of.
    const int64_t low = (dim.kernel - 1) * dim.rhsDilation - dim.low;
    const int64_t high = dim.out + low - (dim.kernel - 1) * dim.rhsDilation - 1;
    within &= low >= 0 && high < dim.in * dim.lhsDilation;
  }
  if (dilated)
    return !strided && within ? Way::DataGradient : Way::Forward;
  return large && !reversed ? Way::WeightGradient : Way::Forward;
}

/// The plan of a convolution, and its arrays by their roles.
struct Prepared {
  const Plan *plan;
  Strided source, weights, destination;
};

/// One convolution whose groups, if there are several, are consecutive features
/// of lhs and out.
Prepared prepare(const Convolution &c, Way way, const float *lhs,
                 const float *rhs, float *out) {
  // Roles: forward (lhs, rhs, out), data gradient (out, rhs, lhs), weight
  // gradient (lhs, out, rhs) as source, weights and destination.
  Strided source, weights, destination;
  ConvolutionShape shape;
  shape.way = way;
  auto spatial = [&](Strided &array, auto extent, auto step) {
    for (const ConvolutionDim &dim : c.dims) {
      array.dims.push_back(extent(dim));
      array.strides.push_back(step(dim));
    }
    if (c.dims.empty()) {
      array.dims.push_back(1);
      array.strides.push_back(1);
    }
  };
  auto in = [](const ConvolutionDim &d) { return d.in; };
  auto kernel = [](const ConvolutionDim &d) { return d.kernel; };
  auto place = [](const ConvolutionDim &d) { return d.out; };
  auto lhsStep = [](const ConvolutionDim &d) { return d.lhsStep; };
  auto rhsStep = [](const ConvolutionDim &d) { return d.rhsStep; };
  auto outStep = [](const ConvolutionDim &d) { return d.outStep; };
  auto *from = const_cast<float *>(lhs), *by = const_cast<float *>(rhs);
  auto grouped = [&](Strided &array, int64_t step) {
    if (c.groups > 1) {
      array.dims.insert(array.dims.begin(), c.groups);
      array.strides.insert(array.strides.begin(), step);
    }
  };
  switch (way) {
  case Way::Forward:
    source = {
        from, {c.batch, c.groups * c.input}, {c.lhsBatchStep, c.lhsInputStep}};
    spatial(source, in, lhsStep);
    weights = {by, {c.output, c.input}, {c.rhsOutputStep, c.rhsInputStep}};
    spatial(weights, kernel, rhsStep);
    grouped(weights, c.groupStep[1]);
    destination = {
        out, {c.batch, c.groups * c.output}, {c.outBatchStep, c.outOutputStep}};
    spatial(destination, place, outStep);
    break;
  case Way::DataGradient:
    source = {
        out, {c.batch, c.groups * c.output}, {c.outBatchStep, c.outOutputStep}};
    spatial(source, place, outStep);
    weights = {by, {c.input, c.output}, {c.rhsInputStep, c.rhsOutputStep}};
    spatial(weights, kernel, rhsStep);
    grouped(weights, c.groupStep[1]);
    destination = {
        from, {c.batch, c.groups * c.input}, {c.lhsBatchStep, c.lhsInputStep}};
    spatial(destination, in, lhsStep);
    break;
  case Way::WeightGradient:
    source = {from, {c.input, c.batch}, {c.lhsInputStep, c.lhsBatchStep}};
    spatial(source, in, lhsStep);
    weights = {out, {c.output, c.batch}, {c.outOutputStep, c.outBatchStep}};
    spatial(weights, place, outStep);
    destination = {by, {c.input, c.output}, {c.rhsInputStep, c.rhsOutputStep}};
    spatial(destination, kernel, rhsStep);
    break;
  }
  for (const ConvolutionDim &dim : c.dims) {
    // These are the extents, stride, dilation and padding of the forward
    // convolution.
    int64_t extent = dim.in, window = dim.kernel, places = dim.out;
    int64_t stride = dim.stride, dilation = dim.rhsDilation, low = dim.low;
    if (way == Way::DataGradient) {
      extent = dim.out;
      places = dim.in;
      stride = dim.lhsDilation;
      low = (dim.kernel - 1) * dim.rhsDilation - dim.low;
    } else if (way == Way::WeightGradient) {
      window = dim.out;
      places = dim.kernel;
      stride = dim.rhsDilation;
      dilation = dim.stride;
    }
    shape.strides.push_back(stride);
    shape.dilations.push_back(dilation - 1);
    shape.low.push_back(low);
    shape.high.push_back(std::max<int64_t>(
        0, (places - 1) * stride + (window - 1) * dilation + 1 - extent - low));
  }
  if (c.dims.empty()) {
    shape.strides = {1};
    shape.dilations = shape.low = shape.high = {0};
  }
  shape.source = source.dims;
  shape.weights = weights.dims;
  shape.destination = destination.dims;
  return {&planFor(shape), std::move(source), std::move(weights),
          std::move(destination)};
}

/// False where oneDNN has nothing good.
bool run(const Convolution &c, Way way, const float *lhs, const float *rhs,
         float *out) {
  Prepared ready = prepare(c, way, lhs, rhs, out);
  if (!ready.plan->good)
    return false;
  execute(*ready.plan, way, std::move(ready.source), std::move(ready.weights),
          std::move(ready.destination), c.call, nullptr);
  return true;
}

/// A weight gradient as the sum of those of `pieces` of the batch, in pairs and
/// in the form that oneDNN gives them. False where it has nothing good, or
/// other forms for pieces of other sizes.
bool sumWeightGradients(const Convolution &c, const float *lhs,
                        const float *rhs, float *out, int64_t pieces) {
  constexpr Way way = Way::WeightGradient;
  auto &sums = threadLocal<PairwiseSums<float>>();
  auto piece = [&](int64_t p) {
    Convolution part = c;
    const int64_t begin = c.input * p / pieces;
    part.input = c.input * (p + 1) / pieces - begin;
    return prepare(part, way, lhs + begin * c.lhsInputStep,
                   rhs + begin * c.rhsInputStep, out);
  };
  const Prepared first = piece(0), last = piece(pieces - 1);
  if (!first.plan->good || !last.plan->good ||
      first.plan->weights != last.plan->weights)
    return false;
  const memory::desc &form = first.plan->weights;
  const int64_t count = int64_t(form.get_size() / sizeof(float));
  auto *sum =
      static_cast<float *>(threadScratch(1, size_t(count) * sizeof(float)));
  sums.start(count);
  for (int64_t p = 0; p < pieces; ++p) {
    Prepared ready = piece(p);
    execute(*ready.plan, way, std::move(ready.source), std::move(ready.weights),
            std::move(ready.destination), nullptr, sum);
    sums.push(sum);
  }
  std::fill_n(sum, count, 0.f);
  sums.addTo(sum);
  dnnl::stream &stream = streamOfThread();
  memory from(form, engine(), sum), to(plainDesc(first.weights), engine(), out);
  reorder(from, to, stream);
  stream.wait();
  return true;
}

/// Calls body(offset, offset in a dense copy) for each element of the result.
template <typename Body>
void forEachResult(const Convolution &c, const Body &body) {
  std::vector<int64_t> index(c.dims.size(), 0);
  int64_t place = 0, to = 0;
  while (true) {
    for (int64_t n = 0; n < c.batch; ++n)
      for (int64_t o = 0; o < c.output; ++o)
        body(place + n * c.outBatchStep + o * c.outOutputStep, to++);
    size_t d = index.size();
    while (d-- > 0) {
      place += c.dims[d].outStep;
      if (++index[d] < c.dims[d].out)
        break;
      place -= c.dims[d].outStep * c.dims[d].out;
      index[d] = 0;
    }
    if (d == size_t(-1))
      return;
  }
}

/// Copies of activations should be in cache when they are read.
bool runInPieces(const Convolution &c, Way way, const float *lhs,
                 const float *rhs, float *out) {
  constexpr int64_t most = 1 << 20; // elements
  int64_t in = c.groups * c.input, places = c.groups * c.output;
  for (const ConvolutionDim &dim : c.dims) {
    in *= dim.in;
    places *= dim.out;
  }
  const int64_t samples = std::max<int64_t>(4, most / std::max(in, places));
  if (way == Way::WeightGradient || c.batch <= samples)
    return run(c, way, lhs, rhs, out);
  const int64_t pieces = (c.batch + samples - 1) / samples;
  Convolution piece = c;
  for (int64_t p = 0; p < pieces; ++p) {
    const int64_t begin = c.batch * p / pieces;
    piece.batch = c.batch * (p + 1) / pieces - begin;
    if (!run(piece, way, lhs + begin * c.lhsBatchStep, rhs,
             out + begin * c.outBatchStep))
      return false;
  }
  return true;
}

/// oneDNN adds the terms of a long contraction, the places of a weight gradient
/// above all, one after the other into each element. They are cut, as oneDNN
/// sees it along the batch (or the input features), into pieces that are summed
/// in pairs: long enough that this takes little of the time.
bool runInSums(const Convolution &c, Way way, const float *lhs,
               const float *rhs, float *out) {
  int64_t places = 1, results = c.batch * c.output;
  for (const ConvolutionDim &dim : c.dims) {
    places *= dim.kernel;
    results *= dim.out;
  }
  if (results == 0)
    return runInPieces(c, way, lhs, rhs, out);
  constexpr int64_t products = 1 << 20; // that are worth a call
  const int64_t terms = std::max<int64_t>(
      way == Way::WeightGradient ? 1024 : 8192, products / results);
  const int64_t features = std::max<int64_t>(1, terms / places);
  if (c.groups != 1 || c.input < 2 * features)
    return runInPieces(c, way, lhs, rhs, out);
  const int64_t pieces = (c.input + features - 1) / features;
  if (way == Way::WeightGradient &&
      sumWeightGradients(c, lhs, rhs, out, pieces))
    return true;
  Convolution piece = c;
  piece.outOutputStep = 1;
  piece.outBatchStep = c.output;
  int64_t step = c.batch * c.output;
  for (size_t d = c.dims.size(); d-- > 0;) {
    piece.dims[d].outStep = step;
    step *= c.dims[d].out;
  }
  auto &sum = threadLocal<std::vector<float>>();
  auto &sums = threadLocal<PairwiseSums<float>>();
  sum.resize(size_t(results));
  sums.start(results);
  for (int64_t p = 0; p < pieces; ++p) {
    const int64_t begin = c.input * p / pieces;
    piece.input = c.input * (p + 1) / pieces - begin;
    if (!runInPieces(piece, way, lhs + begin * c.lhsInputStep,
                     rhs + begin * c.rhsInputStep, sum.data()))
      return false;
    sums.push(sum.data());
  }
  std::fill(sum.begin(), sum.end(), 0.f);
  sums.addTo(sum.data());
  forEachResult(c,
                [&](int64_t to, int64_t from) { out[to] = sum[size_t(from)]; });
  return true;
}

} // namespace

bool library::convolveByOneDNN(const Convolution &convolution, const float *lhs,
                               const float *rhs, float *out) {
  Convolution c = convolution;
  if (c.dims.size() > 3)
    return false;
  const Way way = wayOf(c);
  if (way == Way::Forward) {
    bool dilated = false;
    for (const ConvolutionDim &dim : c.dims)
      dilated |= dim.lhsDilation > 1;
    if (dilated)
      lhs = cropDense(c, dilate(c, lhs));
    for (const ConvolutionDim &dim : c.dims)
      if (dim.in <= 0)
        return false;
  }
  // The data gradient meets the kernel's elements in the opposite order.
  std::vector<bool> flip;
  for (ConvolutionDim &dim : c.dims) {
    flip.push_back(dim.kernel > 1 &&
                   dim.reversed != (way == Way::DataGradient));
    dim.reversed = false;
  }
  if (std::find(flip.begin(), flip.end(), true) != flip.end()) {
    const Convolution before = c;
    rhs = flipped(before, flip, rhs, c);
  }
  const bool together = way != Way::WeightGradient &&
                        c.groupStep[0] == c.input * c.lhsInputStep &&
                        c.groupStep[2] == c.output * c.outOutputStep;
  if (c.groups == 1 || together)
    return runInSums(c, way, lhs, rhs, out);
  // Many small groups are better off with loops.
  if (c.output == 1 && (c.input == 1 || c.batch == 1))
    return false;
  Convolution oneGroup = c;
  oneGroup.groups = 1;
  for (int64_t g = 0; g < c.groups; ++g)
    if (!runInSums(oneGroup, way, lhs + g * c.groupStep[0],
                   rhs + g * c.groupStep[1], out + g * c.groupStep[2]))
      return false;
  return true;
}
