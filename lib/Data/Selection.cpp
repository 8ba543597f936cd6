// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Steps that choose and order elements, and leave them as they are.
#include "Random.h"
#include "Steps.h"

namespace meshloom::data::detail {

namespace {

class Take : public Step<Take> {
public:
  Take(SourcePtr input, int64_t count) : Step(std::move(input)), count(count) {}
  std::string_view name() const override { return "take"; }
  bool keepsBatches() const override { return true; }
  int64_t cardinality() const override {
    const int64_t inputs = input->cardinality();
    if (inputs == infinite_cardinality)
      return count;
    return ofFinite(inputs, [&](int64_t n) { return std::min(n, count); });
  }
  std::unique_ptr<Cursor> open(const Opening &opening) const override {
    class Taking : public Cursor {
    public:
      Taking(std::unique_ptr<Cursor> input, int64_t remaining)
          : input(std::move(input)), remaining(remaining) {}
      std::optional<Element> next() override {
        if (remaining == 0)
          return std::nullopt;
        --remaining;
        return input->next();
      }
      void skip(int64_t n) override {
        n = std::min(n, remaining);
        remaining -= n;
        input->skip(n);
      }

    private:
      std::unique_ptr<Cursor> input;
      int64_t remaining;
    };
    return std::make_unique<Taking>(input->open(opening), count);
  }

private:
  int64_t count;
};

class Skip : public Step<Skip> {
public:
  Skip(SourcePtr input, int64_t count) : Step(std::move(input)), count(count) {}
  std::string_view name() const override { return "skip"; }
  bool keepsBatches() const override { return true; }
  int64_t cardinality() const override {
    return ofFinite(input->cardinality(),
                    [&](int64_t n) { return std::max<int64_t>(n - count, 0); });
  }
  std::unique_ptr<Cursor> open(const Opening &opening) const override {
    class Skipping : public Cursor {
    public:
      Skipping(std::unique_ptr<Cursor> input, int64_t count)
          : input(std::move(input)), count(count) {}
      std::optional<Element> next() override {
        begin();
        return input->next();
      }
      void skip(int64_t n) override {
        begin();
        input->skip(n);
      }

    private:
      void begin() {
        if (int64_t n = std::exchange(count, 0))
          input->skip(n);
      }
      std::unique_ptr<Cursor> input;
      int64_t count;
    };
    return std::make_unique<Skipping>(input->open(opening), count);
  }

private:
  int64_t count;
};

class Shard : public Step<Shard> {
public:
  Shard(SourcePtr input, int64_t count, int64_t index)
      : Step(std::move(input)), count(count), index(index) {}
  std::string_view name() const override { return "shard"; }
  bool keepsBatches() const override { return true; }
  bool isShardHint() const override { return count == shard_hint; }
  int64_t cardinality() const override {
    if (isShardHint())
      return input->cardinality();
    return ofFinite(input->cardinality(),
                    [&](int64_t n) { return n / count + (index < n % count); });
  }
  std::unique_ptr<Cursor> open(const Opening &opening) const override {
    class Sharding : public Cursor {
    public:
      Sharding(std::unique_ptr<Cursor> input, int64_t count, int64_t index)
          : input(std::move(input)), count(count), before(index) {}
      std::optional<Element> next() override {
        input->skip(std::exchange(before, count - 1));
        return input->next();
      }
      void skip(int64_t n) override {
        if (n > 0)
          input->skip(capped(std::exchange(before, count - 1) + __int128(1) +
                             __int128(n - 1) * count));
      }

    private:
      std::unique_ptr<Cursor> input;
      int64_t count, before;
    };
    if (isShardHint())
      return input->open(opening);
    return std::make_unique<Sharding>(input->open(opening), count, index);
  }

private:
  int64_t count, index;
};

class Repeat : public Step<Repeat> {
public:
  Repeat(SourcePtr input, int64_t count)
      : Step(std::move(input)), count(count) {}
  std::string_view name() const override { return "repeat"; }
  bool keepsBatches() const override { return true; }
  int64_t cardinality() const override {
    const int64_t inputs = input->cardinality();
    if (inputs == 0 || count == 0)
      return 0;
    if (count < 0)
      return infinite_cardinality;
    return ofFinite(inputs, [&](int64_t n) {
      return n > std::numeric_limits<int64_t>::max() / count
                 ? std::numeric_limits<int64_t>::max()
                 : n * count;
    });
  }
  std::unique_ptr<Cursor> open(const Opening &opening) const override {
    return std::make_unique<Repeating>(input, opening, count);
  }

private:
  class Repeating : public Cursor {
  public:
    Repeating(SourcePtr source, const Opening &opening, int64_t count)
        : source(std::move(source)), opening(opening), count(count) {}
    std::optional<Element> next() override {
      while (turn != count) {
        if (!input)
          input = source->open(opening.nested(uint64_t(turn)));
        if (std::optional<Element> element = input->next()) {
          isEmpty = false;
          return element;
        }
        input.reset();
        // There is nothing to repeat of an empty input.
        turn = isEmpty ? count : turn + 1;
        isEmpty = true;
      }
      return std::nullopt;
    }
    void skip(int64_t n) override {
      // Whole turns need not be made.
      const int64_t perTurn = source->cardinality();
      if (perTurn > 0 && !input && n >= perTurn) {
        int64_t turns = n / perTurn;
        if (count >= 0)
          turns = std::min(turns, count - turn);
        turn += turns;
        n -= turns * perTurn;
      }
      if (perTurn > 0 && !input && n > 0 && turn != count) {
        input = source->open(opening.nested(uint64_t(turn)));
        input->skip(n);
        isEmpty = false;
        return;
      }
      Cursor::skip(n);
    }

  private:
    SourcePtr source;
    Opening opening;
    int64_t count, turn = 0;
    std::unique_ptr<Cursor> input;
    bool isEmpty = true; ///< this turn, so far
  };
  int64_t count;
};

class Concatenate : public Source {
public:
  Concatenate(SourcePtr first, SourcePtr second)
      : parts{std::move(first), std::move(second)} {}
  std::string_view name() const override { return "concatenate"; }
  bool keepsBatches() const override { return true; }
  std::vector<SourcePtr> inputs() const override { return parts; }
  SourcePtr over(std::vector<SourcePtr> inputs) const override {
    return std::make_shared<Concatenate>(inputs[0], inputs[1]);
  }
  int64_t cardinality() const override {
    const int64_t a = parts[0]->cardinality(), b = parts[1]->cardinality();
    if (a == infinite_cardinality || b == infinite_cardinality)
      return infinite_cardinality;
    return a < 0 || b < 0 ? unknown_cardinality : a + b;
  }
  std::unique_ptr<Cursor> open(const Opening &opening) const override {
    class Concatenating : public Cursor {
    public:
      Concatenating(std::vector<SourcePtr> parts, const Opening &opening)
          : parts(std::move(parts)), opening(opening) {}
      std::optional<Element> next() override {
        for (; part < parts.size(); ++part, input.reset()) {
          if (!input)
            input = parts[part]->open(opening);
          if (std::optional<Element> element = input->next())
            return element;
        }
        return std::nullopt;
      }

    private:
      std::vector<SourcePtr> parts;
      Opening opening;
      size_t part = 0;
      std::unique_ptr<Cursor> input;
    };
    return std::make_unique<Concatenating>(parts, opening);
  }

private:
  std::vector<SourcePtr> parts;
};

class Zip : public Source {
public:
  Zip(std::vector<SourcePtr> parts, Join join)
      : parts(std::move(parts)), join(std::move(join)) {}
  std::string_view name() const override { return "zip"; }
  bool keepsBatches() const override { return true; }
  std::vector<SourcePtr> inputs() const override { return parts; }
  SourcePtr over(std::vector<SourcePtr> inputs) const override {
    return std::make_shared<Zip>(std::move(inputs), join);
  }
  int64_t cardinality() const override {
    int64_t least = infinite_cardinality;
    for (const SourcePtr &part : parts) {
      const int64_t n = part->cardinality();
      if (n == unknown_cardinality)
        return n;
      if (n >= 0)
        least = least < 0 ? n : std::min(least, n);
    }
    return least;
  }
  std::unique_ptr<Cursor> open(const Opening &opening) const override {
    class Zipping : public Cursor {
    public:
      std::optional<Element> next() override {
        std::vector<Element> elements;
        elements.reserve(inputs.size());
        for (auto &input : inputs) {
          std::optional<Element> element = input->next();
          if (!element)
            return std::nullopt;
          elements.push_back(*std::move(element));
        }
        Element joined;
        joined.skeleton = join(elements);
        for (Element &element : elements)
          for (HostArray &value : element.values)
            joined.values.push_back(std::move(value));
        return joined;
      }
      void skip(int64_t n) override {
        for (auto &input : inputs)
          input->skip(n);
      }
      std::vector<std::unique_ptr<Cursor>> inputs;
      Join join;
    };
    auto cursor = std::make_unique<Zipping>();
    cursor->inputs.reserve(parts.size());
    for (const SourcePtr &part : parts)
      cursor->inputs.push_back(part->open(opening));
    cursor->join = join;
    return cursor;
  }

private:
  std::vector<SourcePtr> parts;
  Join join;
};

class Filter : public Step<Filter> {
public:
  Filter(SourcePtr input, ElementPredicate predicate)
      : Step(std::move(input)), predicate(std::move(predicate)) {}
  std::string_view name() const override { return "filter"; }
  bool keepsBatches() const override { return true; }
  int64_t cardinality() const override {
    const int64_t inputs = input->cardinality();
    return inputs == 0 ? 0 : unknown_cardinality;
  }
  std::unique_ptr<Cursor> open(const Opening &opening) const override {
    class Filtering : public Cursor {
    public:
      Filtering(std::unique_ptr<Cursor> input, ElementPredicate predicate)
          : input(std::move(input)), predicate(std::move(predicate)) {}
      std::optional<Element> next() override {
        while (std::optional<Element> element = input->next()) {
          meshloom::detail::HostScope host;
          const int64_t index = seen++;
          if (naming("filter", index, [&] { return predicate(*element); }))
            return element;
        }
        return std::nullopt;
      }

    private:
      std::unique_ptr<Cursor> input;
      ElementPredicate predicate;
      int64_t seen = 0;
    };
    return std::make_unique<Filtering>(input->open(opening), predicate);
  }

private:
  ElementPredicate predicate;
};

class Shuffle : public Step<Shuffle> {
public:
  Shuffle(SourcePtr input, int64_t buffer, uint64_t seed, bool reshuffle)
      : Step(std::move(input)), buffer(buffer), seed(seed),
        reshuffle(reshuffle) {}
  std::string_view name() const override { return "shuffle"; }
  bool keepsBatches() const override { return true; }
  std::unique_ptr<Cursor> open(const Opening &opening) const override {
    return std::make_unique<Shuffling>(
        input->open(opening), buffer,
        reshuffle ? Random(seed, opening.iteration) : Random(seed));
  }

private:
  /// Draws from a buffer that is filled up again. Where all elements fit, they
  /// are put in order before the first is given.
  class Shuffling : public Cursor {
  public:
    Shuffling(std::unique_ptr<Cursor> input, int64_t limit, Random random)
        : input(std::move(input)), limit(size_t(limit)), random(random) {}
    std::optional<Element> next() override {
      if (input && !isFilled)
        fill();
      if (!input)
        return delivered < held.size()
                   ? std::optional(std::move(held[delivered++]))
                   : std::nullopt;
      // May throw: before anything is taken out.
      std::optional<Element> more = input->next();
      const size_t drawn = random.below(held.size());
      std::optional<Element> element = std::move(held[drawn]);
      held[drawn] = *std::exchange(ahead, std::move(more));
      if (!ahead)
        order();
      return element;
    }

  private:
    void fill() {
      while (held.size() < limit) {
        std::optional<Element> element = input->next();
        if (!element)
          return order();
        held.push_back(*std::move(element));
      }
      ahead = input->next();
      isFilled = true;
      if (!ahead)
        order();
    }
    /// There are no more than `held`.
    void order() {
      input.reset();
      for (size_t i = held.size(); i > 1; --i)
        std::swap(held[i - 1], held[random.below(i)]);
    }

    std::unique_ptr<Cursor> input; ///< null: all that is left is held, in order
    std::optional<Element> ahead;  ///< the next of the input
    bool isFilled = false;
    size_t limit;
    Random random;
    std::vector<Element> held;
    size_t delivered = 0;
  };
  int64_t buffer;
  uint64_t seed;
  bool reshuffle;
};

class WithOptions : public Step<WithOptions> {
public:
  WithOptions(SourcePtr input, Options chosen)
      : Step(std::move(input)), chosen(chosen) {}
  std::string_view name() const override { return "options"; }
  bool keepsBatches() const override { return true; }
  const Options *options() const override { return &chosen; }
  std::unique_ptr<Cursor> open(const Opening &opening) const override {
    return input->open(opening);
  }

private:
  Options chosen;
};

} // namespace

SourcePtr take(SourcePtr input, int64_t count) {
  expect(count >= -1, "take", "a number of elements, or -1 for all", count);
  if (count == -1)
    return input;
  return std::make_shared<Take>(std::move(input), count);
}
SourcePtr skip(SourcePtr input, int64_t count) {
  expect(count >= 0, "skip", "a number of elements", count);
  return std::make_shared<Skip>(std::move(input), count);
}
SourcePtr shard(SourcePtr input, int64_t count, int64_t index) {
  if (count != shard_hint || index != shard_hint) {
    expect(count >= 1, "shard", "at least one shard", count);
    expect(index >= 0 && index < count, "shard",
           fmt::format("an index in [0, {})", count), index);
  }
  return std::make_shared<Shard>(std::move(input), count, index);
}
SourcePtr repeat(SourcePtr input, int64_t count) {
  expect(count >= -1, "repeat", "a number of times, or -1 for ever", count);
  return std::make_shared<Repeat>(std::move(input), count);
}
SourcePtr concatenate(SourcePtr first, SourcePtr second) {
  return std::make_shared<Concatenate>(std::move(first), std::move(second));
}
SourcePtr zip(std::vector<SourcePtr> inputs, Join join) {
  return std::make_shared<Zip>(std::move(inputs), std::move(join));
}
SourcePtr filter(SourcePtr input, ElementPredicate predicate) {
  return std::make_shared<Filter>(std::move(input), std::move(predicate));
}
SourcePtr shuffle(SourcePtr input, int64_t buffer, uint64_t seed,
                  bool reshuffle) {
  expect(buffer >= 1, "shuffle", "a buffer of at least one element", buffer);
  return std::make_shared<Shuffle>(std::move(input), buffer, seed, reshuffle);
}
SourcePtr withOptions(SourcePtr input, Options options) {
  return std::make_shared<WithOptions>(std::move(input), options);
}

} // namespace meshloom::data::detail
