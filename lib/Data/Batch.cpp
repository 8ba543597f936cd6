// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Steps that join elements to larger ones, and cut them.
#include "BatchStep.h"
#include "Numbers.h"
#include "Steps.h"
#include "meshloom/API/Create.h"

#include <cstring>
#include <deque>

namespace meshloom::data::detail {

void checkAlike(std::string_view step, std::span<const Element> elements,
                int64_t first) {
  const Element &model = elements.front();
  for (size_t i = 1; i < elements.size(); ++i) {
    const Element &element = elements[i];
    const bool isAlike =
        element.values.size() == model.values.size() &&
        (element.skeleton == model.skeleton || element.key() == model.key());
    if (!isAlike)
      Error(fmt::format("[{}] elements {} and {} have different structures, or "
                        "numbers and "
                        "strings that differ: map them to tensors first",
                        step, first, first + int64_t(i)))
          .raise();
  }
}

HostArray stackedValue(std::string_view step, std::span<const Element> elements,
                       size_t v, int64_t first) {
  const HostArray &model = elements.front().values[v];
  Shape shape = model.shape();
  shape.insert(shape.begin(), int64_t(elements.size()));
  const int64_t width = model.byteCount();
  std::vector<char> bytes(size_t(width) * elements.size());
  for (size_t i = 0; i < elements.size(); ++i) {
    const HostArray &value = elements[i].values[v];
    if (value.dtype() != model.dtype() || value.shape() != model.shape())
      Error(fmt::format("[{}] expected tensors of one shape and type, got {} "
                        "in element {} "
                        "and {} in element {} (tensor {}): use padded_batch, "
                        "or map them to "
                        "one shape",
                        step, model.typeText(), first, value.typeText(),
                        first + int64_t(i), v))
          .raise();
    value.copyTo(bytes.data() + size_t(width) * i);
  }
  return HostArray(model.dtype(), std::move(shape), std::move(bytes));
}

namespace {

/// Returns the padding of `value`, tensor `index` of an element: `number` as
/// bytes of its type.
std::string padding(const HostArray &value, size_t index, double number) {
  std::string bytes;
  if (isComplex(value.dtype())) {
    meshloom::detail::HostScope host;
    const std::vector<char> element = meshloom::detail::bytesOf(
        full({}, number, value.dtype()), "padded_batch");
    bytes.assign(element.begin(), element.end());
  } else if (!appendNumber(bytes, value.dtype(), number)) {
    Error(fmt::format("[padded_batch] the padding value {} of tensor {}, {}, "
                      "is not of type {}",
                      number, index, value.typeText(), name(value.dtype())))
        .raise();
  }
  return bytes;
}

/// Copies `from` [shape] into the front corner of `to` [wide].
void copyCorner(const char *from, const Shape &shape, char *to,
                const Shape &wide, size_t dim, int64_t width) {
  if (dim == shape.size()) {
    std::memcpy(to, from, size_t(width));
    return;
  }
  int64_t fromStep = width, toStep = width;
  for (size_t d = dim + 1; d < shape.size(); ++d) {
    fromStep *= shape[d];
    toStep *= wide[d];
  }
  if (fromStep == toStep) { // the rest is as wide
    std::memcpy(to, from, size_t(fromStep * shape[dim]));
    return;
  }
  for (int64_t i = 0; i < shape[dim]; ++i)
    copyCorner(from + i * fromStep, shape, to + i * toStep, wide, dim + 1,
               width);
}

struct Padding {
  std::vector<Shape> shapes;
  std::vector<double> values;
};

Element padded(std::span<const Element> elements, int64_t first,
               const Padding &padding) {
  checkAlike("padded_batch", elements, first);
  const Element &model = elements.front();
  auto expectCount = [&](size_t actual, std::string_view part) {
    if (actual && actual != model.values.size())
      Error(fmt::format("[padded_batch] expected {} for each of the {} "
                        "tensors of an element, got {}",
                        part, model.values.size(), actual))
          .raise();
  };
  expectCount(padding.shapes.size(), "a shape");
  expectCount(padding.values.size(), "a padding value");
  Element joined;
  joined.skeleton = model.skeleton;
  for (size_t v = 0; v < model.values.size(); ++v) {
    const DType type = model.values[v].dtype();
    const size_t rank = model.values[v].shape().size();
    Shape wide = padding.shapes.empty() ? Shape(rank, -1) : padding.shapes[v];
    if (wide.size() != rank)
      Error(fmt::format("[padded_batch] expected a shape of rank {} for "
                        "tensor {}, {}, got rank {}",
                        rank, v, model.values[v].typeText(), wide.size()))
          .raise();
    const Shape asked = wide;
    for (size_t i = 0; i < elements.size(); ++i) {
      const HostArray &value = elements[i].values[v];
      if (value.dtype() != type || value.shape().size() != rank)
        Error(fmt::format("[padded_batch] expected tensors of one type and "
                          "rank, got {} in "
                          "element {} and {} in element {} (tensor {})",
                          model.values[v].typeText(), first, value.typeText(),
                          first + int64_t(i), v))
            .raise();
      for (size_t d = 0; d < rank; ++d) {
        if (asked[d] < 0)
          wide[d] = std::max(wide[d], value.shape()[d]);
        else if (value.shape()[d] > asked[d])
          Error(fmt::format(
                    "[padded_batch] tensor {} of element {} is {}, larger than "
                    "the "
                    "padded shape [{}]: -1 is the largest extent of the batch",
                    v, first + int64_t(i), value.typeText(),
                    fmt::join(asked, ", ")))
              .raise();
      }
    }
    const std::string pad = detail::padding(
        model.values[v], v, padding.values.empty() ? 0. : padding.values[v]);
    const int64_t count = elementCount(wide), width = int64_t(pad.size());
    std::vector<char> bytes(size_t(count * width) * elements.size());
    for (size_t offset = 0; offset < bytes.size(); offset += pad.size())
      std::memcpy(bytes.data() + offset, pad.data(), pad.size());
    for (size_t i = 0; i < elements.size(); ++i) {
      HostArray value = elements[i].values[v].inMemory();
      if (value.byteCount())
        copyCorner(value.data(), value.shape(),
                   bytes.data() + size_t(count * width) * i, wide, 0, width);
    }
    wide.insert(wide.begin(), int64_t(elements.size()));
    joined.values.emplace_back(type, std::move(wide), std::move(bytes));
  }
  return joined;
}

/// The elements stacked along a new first dim.
Element stacked(std::span<const Element> elements, int64_t first) {
  checkAlike("batch", elements, first);
  Element joined;
  joined.skeleton = elements.front().skeleton;
  for (size_t v = 0; v < elements.front().values.size(); ++v)
    joined.values.push_back(stackedValue("batch", elements, v, first));
  return joined;
}

/// Rows of an element; throws where it has none.
int64_t rowsOf(const Element &element, std::string_view step) {
  int64_t rows = -1;
  for (const HostArray &value : element.values) {
    if (value.shape().empty())
      Error(fmt::format("[{}] expected batches, got an element {}: batch "
                        "the dataset first",
                        step, element.typeText()))
          .raise();
    if (rows >= 0 && value.shape().front() != rows)
      Error(fmt::format("[{}] expected batches with equally many rows in every "
                        "tensor, got {}",
                        step, element.typeText()))
          .raise();
    rows = value.shape().front();
  }
  if (rows < 0)
    Error(fmt::format("[{}] expected elements with tensors", step)).raise();
  return rows;
}

Element inMemory(Element element) {
  for (HostArray &value : element.values)
    value = value.inMemory();
  return element;
}

class Unbatch : public Step<Unbatch> {
public:
  using Step::Step;
  std::string_view name() const override { return "unbatch"; }
  int64_t cardinality() const override {
    const int64_t inputs = input->cardinality();
    return inputs <= 0 ? inputs : unknown_cardinality;
  }
  std::unique_ptr<Cursor> open(const Opening &opening) const override {
    class Unbatching : public Cursor {
    public:
      explicit Unbatching(std::unique_ptr<Cursor> input)
          : input(std::move(input)) {}
      std::optional<Element> next() override {
        while (row == rows) {
          std::optional<Element> element = input->next();
          if (!element)
            return std::nullopt;
          rows = rowsOf(*element, "unbatch");
          whole = inMemory(*std::move(element));
          row = 0;
        }
        Element part;
        part.skeleton = whole.skeleton;
        part.values.reserve(whole.values.size());
        for (const HostArray &value : whole.values)
          part.values.push_back(value.row(row));
        ++row;
        return part;
      }

    private:
      std::unique_ptr<Cursor> input;
      Element whole;
      int64_t row = 0, rows = 0;
    };
    return std::make_unique<Unbatching>(input->open(opening));
  }
};

class Rebatch : public Step<Rebatch> {
public:
  Rebatch(SourcePtr input, std::vector<int64_t> sizes, bool dropRemainder)
      : Step(std::move(input)), sizes(std::move(sizes)),
        dropRemainder(dropRemainder) {}
  std::string_view name() const override { return "rebatch"; }
  std::optional<int64_t> batchSize() const override {
    for (int64_t size : sizes)
      if (size != sizes.front())
        return std::nullopt;
    return sizes.front();
  }
  int64_t cardinality() const override {
    const int64_t inputs = input->cardinality();
    return inputs <= 0 ? inputs : unknown_cardinality;
  }
  std::unique_ptr<Cursor> open(const Opening &opening) const override {
    return std::make_unique<Rebatching>(input->open(opening), sizes,
                                        dropRemainder);
  }

private:
  class Rebatching : public Cursor {
  public:
    Rebatching(std::unique_ptr<Cursor> input, std::vector<int64_t> sizes,
               bool dropRemainder)
        : input(std::move(input)), sizes(std::move(sizes)),
          dropRemainder(dropRemainder) {}
    std::optional<Element> next() override {
      const int64_t size = sizes[turn];
      std::vector<Element> parts;
      int64_t joined = 0;
      // A batch of no rows needs one to know what it would be of.
      while (joined < size || parts.empty()) {
        if (row == rows && (size > 0 || !whole || turn == 0))
          if (!pull())
            break;
        const int64_t n = std::min(size - joined, rows - row);
        Element part;
        part.skeleton = whole->skeleton;
        for (const HostArray &value : whole->values)
          part.values.push_back(value.rows(row, row + n));
        parts.push_back(std::move(part));
        joined += n;
        row += n;
      }
      if (parts.empty() || (dropRemainder && joined < size))
        return std::nullopt;
      turn = (turn + 1) % sizes.size();
      return parts.size() == 1 ? std::move(parts.front())
                               : glued(parts, joined);
    }

  private:
    /// Returns whether there are more rows.
    bool pull() {
      while (row == rows) {
        std::optional<Element> element = input->next();
        if (!element)
          return false;
        rows = rowsOf(*element, "rebatch");
        whole = inMemory(*std::move(element));
        row = 0;
      }
      return true;
    }
    static Element glued(std::span<const Element> parts, int64_t rows) {
      checkAlike("rebatch", parts, 0);
      Element element;
      element.skeleton = parts.front().skeleton;
      for (size_t v = 0; v < parts.front().values.size(); ++v) {
        const HostArray &model = parts.front().values[v];
        std::vector<char> bytes;
        for (const Element &part : parts) {
          const HostArray &value = part.values[v];
          if (!std::equal(value.shape().begin() + 1, value.shape().end(),
                          model.shape().begin() + 1, model.shape().end()) ||
              value.dtype() != model.dtype())
            Error(fmt::format("[rebatch] expected batches of one type, "
                              "got {} and {} (tensor {})",
                              model.typeText(), value.typeText(), v))
                .raise();
          bytes.insert(bytes.end(), value.data(),
                       value.data() + value.byteCount());
        }
        Shape shape = model.shape();
        shape.front() = rows;
        element.values.emplace_back(model.dtype(), std::move(shape),
                                    std::move(bytes));
      }
      return element;
    }

    std::unique_ptr<Cursor> input;
    std::vector<int64_t> sizes;
    bool dropRemainder;
    size_t turn = 0;
    std::optional<Element> whole;
    int64_t row = 0, rows = 0;
  };
  std::vector<int64_t> sizes;
  bool dropRemainder;
};

class Window : public Step<Window> {
public:
  Window(SourcePtr input, int64_t size, int64_t shift, int64_t stride,
         bool dropRemainder, MakeWindow make)
      : Step(std::move(input)), size(size), shift(shift), stride(stride),
        dropRemainder(dropRemainder), make(std::move(make)) {}
  std::string_view name() const override { return "window"; }
  int64_t cardinality() const override {
    return ofFinite(input->cardinality(), [&](int64_t n) -> int64_t {
      const int64_t span =
          dropRemainder ? capped(__int128(size - 1) * stride + 1) : 1;
      return n < span ? 0 : (n - span) / shift + 1;
    });
  }
  std::unique_ptr<Cursor> open(const Opening &opening) const override {
    class Windowing : public Cursor {
    public:
      Windowing(std::unique_ptr<Cursor> input, const Window &step)
          : input(std::move(input)), step(step) {}
      std::optional<Element> next() override {
        const auto span =
            size_t(capped(__int128(step.size - 1) * step.stride + 1));
        // Elements between two windows are passed over.
        while (behind > 0 && pull())
          if (behind > 0) {
            held.pop_front();
            --behind;
          }
        while (held.size() < span && pull())
          ;
        if (held.empty() || (step.dropRemainder && held.size() < span))
          return std::nullopt;
        std::vector<Element> elements;
        for (size_t i = 0; i < std::min(span, held.size());
             i += size_t(step.stride))
          elements.push_back(held[i]);
        const size_t gone = std::min(size_t(step.shift), held.size());
        held.erase(held.begin(), held.begin() + ptrdiff_t(gone));
        behind = step.shift - int64_t(gone);
        return step.make(fromElements(std::move(elements)));
      }

    private:
      bool pull() {
        std::optional<Element> element = input->next();
        if (!element)
          return false;
        held.push_back(*std::move(element));
        return true;
      }
      std::unique_ptr<Cursor> input;
      Window step;
      std::deque<Element> held;
      int64_t behind = 0;
    };
    return std::make_unique<Windowing>(input->open(opening), *this);
  }

private:
  int64_t size, shift, stride;
  bool dropRemainder;
  MakeWindow make;
};

constexpr const char *batchWords = "a batch of at least one element";

} // namespace

SourcePtr batch(SourcePtr input, int64_t size, bool dropRemainder) {
  expect(size >= 1, "batch", batchWords, size);
  return std::make_shared<BatchStep>(std::move(input), "batch", size,
                                     dropRemainder, stacked);
}
SourcePtr paddedBatch(SourcePtr input, int64_t size, bool dropRemainder,
                      std::vector<Shape> shapes, std::vector<double> values) {
  expect(size >= 1, "padded_batch", batchWords, size);
  return std::make_shared<BatchStep>(
      std::move(input), "padded_batch", size, dropRemainder,
      [padding = Padding{std::move(shapes), std::move(values)}](
          std::span<const Element> elements, int64_t first) {
        return padded(elements, first, padding);
      });
}
SourcePtr unbatch(SourcePtr input) {
  return std::make_shared<Unbatch>(std::move(input));
}
SourcePtr rebatch(SourcePtr input, std::vector<int64_t> sizes,
                  bool dropRemainder) {
  int64_t sum = 0;
  for (int64_t size : sizes) {
    expect(size >= 0, "rebatch", "sizes of at least 0", size);
    sum += size;
  }
  expect(sum >= 1, "rebatch", "sizes whose sum is at least 1", sum);
  return std::make_shared<Rebatch>(std::move(input), std::move(sizes),
                                   dropRemainder);
}
SourcePtr window(SourcePtr input, int64_t size, int64_t shift, int64_t stride,
                 bool dropRemainder, MakeWindow make) {
  expect(size >= 1, "window", "a size of at least 1", size);
  expect(shift >= 1, "window", "a shift of at least 1", shift);
  expect(stride >= 1, "window", "a stride of at least 1", stride);
  return std::make_shared<Window>(std::move(input), size, shift, stride,
                                  dropRemainder, std::move(make));
}

} // namespace meshloom::data::detail
