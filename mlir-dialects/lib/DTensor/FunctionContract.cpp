// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Contracts as attributes.
#include "meshloom/Dialect/DTensor/FunctionContract.h"

#include "mlir/IR/Builders.h"

using namespace meshloom;
using namespace meshloom::dtensor;

static constexpr llvm::StringLiteral kindKey = "collective", axesKey = "axes",
                                     countKey = "count", bytesKey = "bytes";

/// One entry of the attribute; reports an entry that is none.
static FailureOr<Allowance> allowanceOf(mlir::func::FuncOp function,
                                        Attribute entry) {
  auto wrong = [&](const Twine &why) {
    return function.emitError("has a 'dtensor.contract' with the entry ")
           << entry << ", " << why
           << "; an entry is like {collective = \"all_reduce\", axes = "
              "[\"batch\"], count = 1, bytes = 4096}";
  };
  auto fields = dyn_cast<DictionaryAttr>(entry);
  if (!fields)
    return wrong("which is no dictionary");
  for (NamedAttribute field : fields)
    if (!llvm::is_contained({kindKey, axesKey, countKey, bytesKey},
                            field.getName().getValue()))
      return wrong("which has the unknown field '" +
                   field.getName().getValue() + "'");
  Allowance allowance;
  auto kind = fields.getAs<StringAttr>(kindKey);
  std::optional<CollectiveKind> parsed =
      kind ? parseCollectiveKind(kind.getValue()) : std::nullopt;
  if (!parsed)
    return wrong("which names no kind of collective");
  allowance.kind = *parsed;
  auto axes = fields.getAs<mlir::ArrayAttr>(axesKey);
  if (!axes || !llvm::all_of(axes, llvm::IsaPred<StringAttr>))
    return wrong("whose axes are no list of names");
  for (auto axis : axes.getAsRange<StringAttr>())
    allowance.axes.push_back(axis.str());
  for (auto [key, limit] : {std::pair(countKey, &allowance.count),
                            std::pair(bytesKey, &allowance.bytes)}) {
    Attribute field = fields.get(key);
    auto number = llvm::dyn_cast_or_null<IntegerAttr>(field);
    if (field && (!number || !number.getType().isSignlessInteger(64)))
      return wrong("whose " + key + " is no i64");
    if (number)
      *limit = number.getInt();
  }
  return allowance;
}

FailureOr<std::optional<Contract>>
meshloom::dtensor::contractOf(mlir::func::FuncOp function) {
  Attribute attribute = function->getAttr(contractAttr);
  if (!attribute)
    return std::optional<Contract>();
  auto entries = dyn_cast<mlir::ArrayAttr>(attribute);
  if (!entries)
    return function.emitError("has a 'dtensor.contract' that is no list of "
                              "entries");
  Contract contract;
  for (Attribute entry : entries) {
    FailureOr<Allowance> allowance = allowanceOf(function, entry);
    if (failed(allowance))
      return failure();
    contract.push_back(std::move(*allowance));
  }
  Result<Contract> result = normalized(std::move(contract));
  if (!result)
    return function.emitError() << result.error().message();
  return std::optional(std::move(*result));
}

void meshloom::dtensor::setContract(mlir::func::FuncOp function,
                                    const Contract &contract) {
  mlir::Builder builder(function.getContext());
  SmallVector<Attribute> entries;
  for (const Allowance &allowance : contract) {
    SmallVector<NamedAttribute> fields{
        {builder.getStringAttr(kindKey),
         builder.getStringAttr(name(allowance.kind))},
        {builder.getStringAttr(axesKey),
         builder.getStrArrayAttr(SmallVector<StringRef>(
             allowance.axes.begin(), allowance.axes.end()))}};
    if (allowance.count)
      fields.emplace_back(builder.getStringAttr(countKey),
                          builder.getI64IntegerAttr(*allowance.count));
    if (allowance.bytes)
      fields.emplace_back(builder.getStringAttr(bytesKey),
                          builder.getI64IntegerAttr(*allowance.bytes));
    entries.push_back(builder.getDictionaryAttr(fields));
  }
  function->setAttr(contractAttr, builder.getArrayAttr(entries));
}
