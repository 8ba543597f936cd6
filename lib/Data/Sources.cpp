// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements that are in memory or made by functions of the user's.
#include "Steps.h"

#include <fmt/format.h>

#include <cstring>

namespace meshloom::data::detail {

namespace {

class ElementSource : public Source {
public:
  explicit ElementSource(std::vector<Element> elements)
      : elements(
            std::make_shared<const std::vector<Element>>(std::move(elements))) {
  }
  int64_t cardinality() const override { return int64_t(elements->size()); }
  std::string_view name() const override { return "from_tensors"; }
  std::unique_ptr<Cursor> open(const Opening &) const override {
    return cursorOver(
        int64_t(elements->size()),
        [elements = elements](int64_t i) { return (*elements)[size_t(i)]; });
  }

private:
  std::shared_ptr<const std::vector<Element>> elements;
};

class Slices : public Source {
public:
  Slices(Element whole, int64_t rows)
      : whole(std::make_shared<const Element>(std::move(whole))), rows(rows) {}
  int64_t cardinality() const override { return rows; }
  std::string_view name() const override { return "from_tensor_slices"; }
  std::unique_ptr<Cursor> open(const Opening &) const override {
    return cursorOver(rows, [whole = whole](int64_t i) {
      Element row;
      row.skeleton = whole->skeleton;
      row.values.reserve(whole->values.size());
      for (const HostArray &value : whole->values)
        row.values.push_back(value.row(i));
      return row;
    });
  }

private:
  std::shared_ptr<const Element> whole;
  int64_t rows;
};

class Range : public Source {
public:
  Range(int64_t start, int64_t step, int64_t count)
      : start(start), step(step), count(count) {}
  int64_t cardinality() const override { return count; }
  std::string_view name() const override { return "range"; }
  std::unique_ptr<Cursor> open(const Opening &) const override {
    return cursorOver(count, [start = start, step = step](int64_t i) {
      const int64_t number = start + i * step;
      std::vector<char> bytes(sizeof number);
      std::memcpy(bytes.data(), &number, sizeof number);
      return Element{{HostArray(DType::I64, {}, std::move(bytes))}, nullptr};
    });
  }

private:
  int64_t start, step, count;
};

class Generated : public Source {
public:
  explicit Generated(std::function<ElementGenerator()> make)
      : make(std::move(make)) {}
  int64_t cardinality() const override { return unknown_cardinality; }
  std::string_view name() const override { return "from_generator"; }
  std::unique_ptr<Cursor> open(const Opening &) const override {
    class Generating : public Cursor {
    public:
      explicit Generating(ElementGenerator generator)
          : generator(std::move(generator)) {}
      std::optional<Element> next() override {
        if (!generator)
          return std::nullopt;
        meshloom::detail::HostScope host;
        std::optional<Element> element =
            naming("from_generator", calls, [&] { return generator(); });
        ++calls;
        if (!element)
          generator = nullptr;
        return element;
      }

    private:
      ElementGenerator generator;
      int64_t calls = 0;
    };
    meshloom::detail::HostScope host;
    return std::make_unique<Generating>(make());
  }

private:
  std::function<ElementGenerator()> make;
};

} // namespace

SourcePtr fromElements(std::vector<Element> elements) {
  return std::make_shared<ElementSource>(std::move(elements));
}

SourcePtr fromSlices(const Element &element) {
  Element whole;
  whole.skeleton = element.skeleton;
  if (element.values.empty())
    Error("[from_tensor_slices] expected tensors, got none").raise();
  for (size_t i = 0; i < element.values.size(); ++i) {
    const HostArray &value = element.values[i];
    if (value.shape().empty())
      Error(fmt::format("[from_tensor_slices] expected tensors with a first "
                        "dim, got {} as "
                        "tensor {}: from_tensors makes one element of it",
                        value.typeText(), i))
          .raise();
    if (value.shape().front() != element.values.front().shape().front())
      Error(fmt::format("[from_tensor_slices] expected tensors with equally "
                        "many rows, got {} as tensor 0 and {} as tensor {}",
                        element.values.front().typeText(), value.typeText(), i))
          .raise();
    whole.values.push_back(value.inMemory());
  }
  const int64_t rows = whole.values.front().shape().front();
  return std::make_shared<Slices>(std::move(whole), rows);
}

SourcePtr fromGenerator(std::function<ElementGenerator()> make) {
  return std::make_shared<Generated>(std::move(make));
}

SourcePtr fromRange(int64_t start, int64_t stop, int64_t step) {
  if (step == 0)
    Error("[range] expected a step other than 0").raise();
  // In 128 bits: the ends may be as far apart as there are numbers.
  __int128 distance =
      step > 0 ? __int128(stop) - start : __int128(start) - stop;
  __int128 width = step > 0 ? __int128(step) : -__int128(step);
  __int128 count = distance <= 0 ? 0 : (distance + width - 1) / width;
  return std::make_shared<Range>(
      start, step,
      int64_t(std::min<__int128>(count, std::numeric_limits<int64_t>::max())));
}

} // namespace meshloom::data::detail
