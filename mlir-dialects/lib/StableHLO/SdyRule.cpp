// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The text of Shardy's sharding rules: `<([i, k], [k, j])->([i, j]) {i=8,
// ...}>`.
//
// Factor 0 is written i, factor 17 z, and the ones after it z_1, z_2 and so on;
// the factors of a dim are written without anything between them, so `zz_1` is
// the factors 17 and 18.

#include "SdyText.h"

using namespace meshloom;
using namespace meshloom::sdy;
using llvm::SMLoc;
using mlir::AsmParser;
using mlir::AsmPrinter;
using mlir::ParseResult;

static constexpr int64_t numLetters = 'z' - 'i' + 1;

static std::string factorName(int64_t factor) {
  if (factor < numLetters)
    return std::string(1, char('i' + factor));
  return "z_" + std::to_string(factor - numLetters + 1);
}

/// Takes one factor off the front of `text`.
static std::optional<int64_t> consumeFactor(StringRef &text) {
  if (text.empty() || text.front() < 'i' || text.front() > 'z')
    return std::nullopt;
  int64_t factor = text.front() - 'i';
  text = text.drop_front();
  uint32_t number;
  if (factor == numLetters - 1 && text.consume_front("_")) {
    if (text.consumeInteger(10, number) || number == 0)
      return std::nullopt;
    factor += number;
  }
  return factor;
}

/// `ij`, several factors.
static ParseResult parseFactors(AsmParser &parser,
                                SmallVector<int64_t> &factors) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef text;
  if (parser.parseKeyword(&text))
    return failure();
  for (StringRef remaining = text; !remaining.empty();) {
    auto factor = consumeFactor(remaining);
    if (!factor)
      return parser.emitError(loc)
             << "expected factors i to z, z_1, ..., but got " << text;
    factors.push_back(*factor);
  }
  return success();
}

/// One factor.
static ParseResult parseFactor(AsmParser &parser, int64_t &factor) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> factors;
  if (parseFactors(parser, factors))
    return failure();
  if (factors.size() != 1)
    return parser.emitError(loc) << "expected one factor";
  factor = factors[0];
  return success();
}

Attribute DimMappingAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> factors;
  if (parseFactors(parser, factors))
    return {};
  return get(parser.getContext(), factors);
}

void DimMappingAttr::print(AsmPrinter &printer) const {
  for (int64_t factor : getFactorIndices())
    printer << factorName(factor);
}

Attribute TensorMappingAttr::parse(AsmParser &parser, Type) {
  SmallVector<DimMappingAttr> dims;
  if (parseList(parser, dims))
    return {};
  return get(parser.getContext(), dims);
}

void TensorMappingAttr::print(AsmPrinter &printer) const {
  printList(printer, getDimMappings());
}

/// `{i=8, j=2}`
static ParseResult parseFactorSizes(AsmParser &parser,
                                    SmallVector<int64_t> &sizes) {
  auto size = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    int64_t factor;
    if (parseFactor(parser, factor))
      return failure();
    if (factor != int64_t(sizes.size()))
      return parser.emitError(loc)
             << "expected the size of factor " << factorName(sizes.size())
             << ", but got that of " << factorName(factor);
    return failure(parser.parseEqual() ||
                   parser.parseInteger(sizes.emplace_back()));
  };
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::OptionalBraces,
                                        size);
}

Attribute OpShardingRuleAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<TensorMappingAttr> operands, results;
  SmallVector<int64_t> sizes;
  if (parser.parseLess() ||
      parseList(parser, operands, AsmParser::Delimiter::Paren) ||
      parser.parseArrow() ||
      parseList(parser, results, AsmParser::Delimiter::Paren) ||
      parseFactorSizes(parser, sizes))
    return {};
  SmallVector<int64_t> reduction, replication, permutation, blocked;
  std::pair<StringRef, SmallVector<int64_t> *> sets[] = {
      {"reduction", &reduction},
      {"need_replication", &replication},
      {"permutation", &permutation},
      {"blocked_propagation", &blocked}};
  for (auto [name, factors] : sets)
    if (succeeded(parser.parseOptionalKeyword(name)))
      if (parser.parseEqual() ||
          parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, [&] {
            return parseFactor(parser, factors->emplace_back());
          }))
        return {};
  bool custom = succeeded(parser.parseOptionalComma());
  if ((custom && parser.parseKeyword("custom")) || parser.parseGreater())
    return {};
  auto areInRange = [&](ArrayRef<int64_t> factors) {
    return llvm::all_of(factors, [&](int64_t factor) {
      return factor < int64_t(sizes.size());
    });
  };
  bool allInRange = areInRange(reduction) && areInRange(replication) &&
                    areInRange(permutation) && areInRange(blocked);
  for (ArrayRef<TensorMappingAttr> tensors :
       {ArrayRef(operands), ArrayRef(results)})
    for (TensorMappingAttr tensor : tensors)
      for (DimMappingAttr dim : tensor.getDimMappings())
        allInRange &= areInRange(dim.getFactorIndices());
  if (!allInRange) {
    parser.emitError(loc) << "the rule uses a factor whose size it does not "
                             "give";
    return {};
  }
  return get(parser.getContext(), sizes, operands, results, reduction,
             replication, permutation, blocked, custom);
}

void OpShardingRuleAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printList(printer, getOperandMappings(), '(', ')');
  printer << "->";
  printList(printer, getResultMappings(), '(', ')');
  if (!getFactorSizes().empty()) {
    printer << " {";
    for (auto [factor, size] : llvm::enumerate(getFactorSizes()))
      printer << (factor ? ", " : "") << factorName(factor) << '=' << size;
    printer << '}';
  }
  auto set = [&](StringRef name, ArrayRef<int64_t> factors) {
    if (factors.empty())
      return;
    printer << ' ' << name << "={";
    llvm::interleaveComma(factors, printer.getStream(), [&](int64_t factor) {
      printer << factorName(factor);
    });
    printer << '}';
  };
  set("reduction", getReductionFactors());
  set("need_replication", getNeedReplicationFactors());
  set("permutation", getPermutationFactors());
  set("blocked_propagation", getBlockedPropagationFactors());
  if (getIsCustomRule())
    printer << ", custom";
  printer << '>';
}
