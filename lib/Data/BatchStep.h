// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The common part of the steps that join elements to batches.
#pragma once

#include "Steps.h"

namespace meshloom::data::detail {

/// `elements` are what one batch is made of: their structures must agree.
void checkAlike(std::string_view step, std::span<const Element> elements,
                int64_t first);

/// Tensor `v` of the elements, stacked along a new first dim. Throws, naming
/// the step, where types or shapes differ.
HostArray stackedValue(std::string_view step, std::span<const Element> elements,
                       size_t v, int64_t first);

/// Makes one element of several, the first of which is element `first`.
using Joiner = std::function<Element(std::span<const Element>, int64_t first)>;

class BatchStep : public Step<BatchStep> {
public:
  BatchStep(SourcePtr input, std::string_view step, int64_t size,
            bool dropRemainder, Joiner join)
      : Step(std::move(input)), step(step), size(size),
        dropRemainder(dropRemainder), join(std::move(join)) {}
  std::string_view name() const override { return step; }
  std::optional<int64_t> batchSize() const override { return size; }
  int64_t cardinality() const override {
    return ofFinite(input->cardinality(), [&](int64_t n) {
      return n / size + (!dropRemainder && n % size != 0);
    });
  }
  std::unique_ptr<Cursor> open(const Opening &opening) const override {
    class Batching : public Cursor {
    public:
      Batching(std::unique_ptr<Cursor> input, const BatchStep &step)
          : input(std::move(input)), size(step.size),
            dropRemainder(step.dropRemainder), join(step.join) {}
      std::optional<Element> next() override {
        std::vector<Element> elements;
        elements.reserve(size_t(std::min<int64_t>(size, 1 << 16)));
        const int64_t first = taken;
        while (int64_t(elements.size()) < size) {
          std::optional<Element> element = input->next();
          if (!element)
            break;
          ++taken;
          elements.push_back(*std::move(element));
        }
        if (elements.empty() ||
            (dropRemainder && int64_t(elements.size()) < size))
          return std::nullopt;
        return join(elements, first);
      }
      void skip(int64_t n) override {
        if (n > 0) {
          const int64_t elements = capped(__int128(n) * size);
          taken = capped(__int128(taken) + elements);
          input->skip(elements);
        }
      }

    private:
      std::unique_ptr<Cursor> input;
      int64_t size, taken = 0;
      bool dropRemainder;
      Joiner join;
    };
    return std::make_unique<Batching>(input->open(opening), *this);
  }

private:
  std::string_view step;
  int64_t size;
  bool dropRemainder;
  Joiner join;
};

} // namespace meshloom::data::detail
