// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// einsum and unary_einsum: sums of products by letters, as dot_general with
// what is diagonal or in one operand only dealt with before.
#include "Importer.h"

#include "meshloom/Math/FloatMath.h"

using namespace meshloom;
using namespace meshloom::importer;

namespace {
/// A value and the letter of each of its dims. The dims that `...` stands for
/// have digits, the last one '0'.
struct Lettered {
  Value value;
  std::string letters;
};

/// Reads and carries out one einsum.
class Einsum {
public:
  Einsum(Importer &im, Operation *op, StringRef config)
      : im(im), b(im.b), op(op), config(config) {}

  FailureOr<Value> run() {
    auto [sources, target] = config.split("->");
    if (!config.contains("->"))
      return wrong("has no '->'");
    SmallVector<StringRef> texts;
    sources.split(texts, ',');
    SmallVector<Value> values = im.get(op->getOperands());
    if (texts.size() != values.size())
      return wrong("is about another number of operands");
    SmallVector<Lettered> operands;
    for (auto [text, value] : llvm::zip_equal(texts, values)) {
      auto letters = lettersOf(text, b.rankOf(value));
      if (failed(letters))
        return failure();
      operands.push_back({value, *letters});
    }
    RankedTensorType type = Importer::typeOf(op->getResult(0));
    auto result = lettersOf(target, type.getRank());
    if (failed(result) || failed(checkExtents(operands, *result)))
      return failure();
    for (auto [i, operand] : llvm::enumerate(operands)) {
      takeDiagonals(operand);
      sumOut(operand, *result + (operands.size() > 1 ? operands[1 - i].letters
                                                     : std::string()));
    }
    Lettered product = operands[0];
    if (operands.size() == 2) {
      auto joined =
          multiply(operands[0], operands[1], *result, type.getElementType());
      if (failed(joined))
        return failure();
      product = *joined;
    }
    SmallVector<int64_t> order;
    for (char letter : *result)
      order.push_back(int64_t(product.letters.find(letter)));
    return b.transpose(product.value, order);
  }

private:
  InFlightDiagnostic wrong(const Twine &why) {
    return im.error("the einsum '") << config << "' " << why;
  }

  /// "ab...c" with a letter for each of `rank` dims.
  FailureOr<std::string> lettersOf(StringRef text, int64_t rank) {
    std::string letters;
    for (text = text.trim(); !text.empty();) {
      if (text.consume_front("...")) {
        int64_t count = int64_t(letters.size());
        for (char c : text)
          count += llvm::isAlpha(c);
        if (rank - count > 10)
          return wrong("leaves more than 10 dims to '...'");
        for (int64_t i = rank - count; i-- > 0;)
          letters += char('0' + i);
        continue;
      }
      char c = text.front();
      text = text.drop_front().ltrim();
      if (!llvm::isAlpha(c))
        return wrong("has '" + Twine(c) + "' where a letter belongs");
      letters += c;
    }
    if (int64_t(letters.size()) != rank)
      return wrong("names ")
             << letters.size() << " dims of a tensor of rank " << rank;
    return letters;
  }

  LogicalResult checkExtents(ArrayRef<Lettered> operands,
                             const std::string &result) {
    llvm::SmallDenseMap<char, int64_t> extents;
    for (const Lettered &operand : operands)
      for (auto [letter, extent] :
           llvm::zip_equal(operand.letters, b.shapeOf(operand.value)))
        if (int64_t size = extents.try_emplace(letter, extent).first->second;
            size != extent)
          return wrong("gives '" + Twine(letter) + "' the extents ")
                 << size << " and " << extent;
    for (auto [i, letter] : llvm::enumerate(result))
      if (!extents.count(letter) || result.find(letter) != i)
        return wrong("has '" + Twine(letter) +
                     "' in its result, but not in an operand, or twice");
    return success();
  }

  /// A letter that is there twice: where both indices are equal.
  void takeDiagonals(Lettered &operand) {
    for (size_t position = 0; position < operand.letters.size(); ++position) {
      size_t twin =
          operand.letters.find(operand.letters[position], position + 1);
      if (twin == std::string::npos)
        continue;
      auto type = b.typeOf(operand.value).clone(b.getI32Type());
      Value isSame = b.compare(dtensor::ComparisonDirection::EQ,
                               b.iota(type, int64_t(position)),
                               b.iota(type, int64_t(twin)));
      Value only = FloatMath(b).select(isSame, operand.value, 0.0);
      operand.value = b.reduce(ReduceKind::Sum, only, int64_t(twin));
      operand.letters.erase(twin, 1);
      --position; // there may be a third one
    }
  }

  /// Sums over the letters that nobody else names.
  void sumOut(Lettered &operand, const std::string &others) {
    SmallVector<int64_t> dims;
    std::string remaining;
    for (auto [dim, letter] : llvm::enumerate(operand.letters)) {
      if (others.find(letter) == std::string::npos)
        dims.push_back(int64_t(dim));
      else
        remaining += letter;
    }
    if (!dims.empty())
      operand = {b.reduce(ReduceKind::Sum, operand.value, dims), remaining};
  }

  FailureOr<Lettered> multiply(const Lettered &lhs, const Lettered &rhs,
                               const std::string &result, Type element) {
    SmallVector<int64_t> lhsBatching, rhsBatching, lhsContracting,
        rhsContracting;
    std::string batch, lhsLeft, rhsLeft;
    for (auto [dim, letter] : llvm::enumerate(lhs.letters)) {
      size_t other = rhs.letters.find(letter);
      if (other == std::string::npos) {
        lhsLeft += letter;
        continue;
      }
      bool isInResult = result.find(letter) != std::string::npos;
      (isInResult ? lhsBatching : lhsContracting).push_back(int64_t(dim));
      (isInResult ? rhsBatching : rhsContracting).push_back(int64_t(other));
      batch += isInResult ? std::string(1, letter) : "";
    }
    for (char letter : rhs.letters)
      if (lhs.letters.find(letter) == std::string::npos)
        rhsLeft += letter;
    auto product = importDot(im, lhs.value, rhs.value, lhsBatching, rhsBatching,
                             lhsContracting, rhsContracting, element);
    if (failed(product))
      return failure();
    return Lettered{*product, batch + lhsLeft + rhsLeft};
  }

  Importer &im;
  LaneBuilder &b;
  Operation *op;
  StringRef config;
};
} // namespace

void importer::addEinsums(Handlers &handlers) {
  handlers.add<stablehlo::EinsumOp>([](Importer &im, stablehlo::EinsumOp op) {
    return Einsum(im, op, op.getEinsumConfig()).run();
  });
  handlers.add<stablehlo::UnaryEinsumOp>(
      [](Importer &im, stablehlo::UnaryEinsumOp op) {
        return Einsum(im, op, op.getEinsumConfig()).run();
      });
}
