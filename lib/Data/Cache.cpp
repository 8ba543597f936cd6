// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A dataset that keeps what was made of it, in memory.
#include "Steps.h"

#include <mutex>

namespace meshloom::data::detail {

namespace {

using StoredElements = std::shared_ptr<const std::vector<Element>>;

/// The state that the iterations over one cache share.
struct SharedElements {
  std::mutex mutex;
  StoredElements elements; ///< null: no iteration has taken all
};

/// Keeps what it gives, and leaves it for others when it is exhausted.
class Recording : public Cursor {
public:
  Recording(std::unique_ptr<Cursor> input,
            std::shared_ptr<SharedElements> shared)
      : input(std::move(input)), shared(std::move(shared)) {}
  std::optional<Element> next() override {
    std::optional<Element> element = input->next();
    if (element) {
      recorded.push_back(*element);
    } else if (shared) {
      // Nobody else may have it any more: it outlives the lock.
      const std::shared_ptr<SharedElements> last = std::move(shared);
      std::lock_guard lock(last->mutex);
      if (!last->elements)
        last->elements =
            std::make_shared<const std::vector<Element>>(std::move(recorded));
    }
    return element;
  }

private:
  std::unique_ptr<Cursor> input;
  std::shared_ptr<SharedElements> shared;
  std::vector<Element> recorded;
};

class Cache : public Step<Cache> {
public:
  explicit Cache(SourcePtr input)
      : Step(std::move(input)), shared(std::make_shared<SharedElements>()) {}
  std::string_view name() const override { return "cache"; }
  bool keepsBatches() const override { return true; }
  SourcePtr over(std::vector<SourcePtr> inputs) const override {
    return std::make_shared<Cache>(std::move(inputs.front())); // other elements
  }
  std::unique_ptr<Cursor> open(const Opening &opening) const override {
    StoredElements elements;
    {
      std::lock_guard lock(shared->mutex);
      elements = shared->elements;
    }
    if (!elements)
      return std::make_unique<Recording>(input->open(opening), shared);
    return cursorOver(int64_t(elements->size()),
                      [elements](int64_t i) { return (*elements)[size_t(i)]; });
  }

private:
  std::shared_ptr<SharedElements> shared;
};

} // namespace

SourcePtr cache(SourcePtr input) {
  return std::make_shared<Cache>(std::move(input));
}

} // namespace meshloom::data::detail
