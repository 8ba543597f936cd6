// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attributes and types of the dtensor dialect: syntax, verification, and the
// way from and to Core's Mesh and Layout.

#include "meshloom/Dialect/DTensor/DTensor.h"

#include "meshloom/Core/SubAxis.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace meshloom;
using namespace meshloom::dtensor;

#include "meshloom/Dialect/DTensor/DTensorEnums.cpp.inc"
#include "meshloom/Dialect/DTensor/LayoutEncodingInterface.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "meshloom/Dialect/DTensor/DTensorAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "meshloom/Dialect/DTensor/DTensorTypes.cpp.inc"

void DTensorDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "meshloom/Dialect/DTensor/DTensorAttrs.cpp.inc"
      >();
}

void DTensorDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "meshloom/Dialect/DTensor/DTensorTypes.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// MeshAttr
//===----------------------------------------------------------------------===//

MeshAttr MeshAttr::get(MLIRContext *context, const Mesh &mesh) {
  SmallVector<StringAttr> names;
  SmallVector<int64_t> sizes;
  for (const MeshAxis &axis : mesh.axes()) {
    names.push_back(StringAttr::get(context, axis.name));
    sizes.push_back(axis.size);
  }
  return get(context, names, sizes);
}

Mesh MeshAttr::getMesh() const {
  return getContext()->getLoadedDialect<DTensorDialect>()->meshOf(*this);
}

LogicalResult MeshAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<StringAttr> names,
                               ArrayRef<int64_t> sizes) {
  std::vector<MeshAxis> axes;
  for (auto [name, size] : llvm::zip_equal(names, sizes))
    axes.push_back({name.str(), size});
  if (auto mesh = Mesh::get(std::move(axes)); !mesh)
    return emitError() << "violates constraint C1 of #dtensor.mesh: "
                       << mesh.error().message();
  return success();
}

/// The name of an axis, or of a part of one: `x:(2)4`. With `colon`, a colon
/// that something else follows is taken too, and reported there.
static mlir::ParseResult parseAxisName(mlir::AsmParser &parser,
                                       std::string &name,
                                       bool *colon = nullptr) {
  if (failed(parser.parseKeywordOrString(&name)))
    return failure();
  bool found = succeeded(parser.parseOptionalColon());
  if (colon)
    *colon = found;
  if (!found)
    return success();
  if (failed(colon ? parser.parseOptionalLParen() : parser.parseLParen()))
    return mlir::ParseResult(success(colon != nullptr));
  if (colon)
    *colon = false;
  int64_t before = 0, size = 0;
  if (parser.parseInteger(before) || parser.parseRParen() ||
      parser.parseInteger(size))
    return failure();
  name = SubAxis{name, before, size}.to_string();
  return success();
}

Attribute MeshAttr::parse(mlir::AsmParser &parser, Type) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  SmallVector<StringAttr> names;
  SmallVector<int64_t> sizes;
  auto parseAxis = [&]() -> mlir::ParseResult {
    std::string name;
    if (parseAxisName(parser, name) || parser.parseEqual() ||
        parser.parseInteger(sizes.emplace_back()))
      return failure();
    names.push_back(StringAttr::get(parser.getContext(), name));
    return success();
  };
  if (parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::LessGreater,
                                     parseAxis))
    return {};
  return parser.getChecked<MeshAttr>(loc, parser.getContext(), names, sizes);
}

void MeshAttr::print(mlir::AsmPrinter &printer) const {
  printer << '<';
  llvm::interleaveComma(llvm::zip_equal(getNames(), getSizes()), printer,
                        [&](auto axis) {
                          auto [name, size] = axis;
                          printer << name.getValue() << " = " << size;
                        });
  printer << '>';
}

//===----------------------------------------------------------------------===//
// LayoutAttr
//===----------------------------------------------------------------------===//

LayoutAttr LayoutAttr::get(MLIRContext *context, const Layout &layout) {
  SmallVector<unsigned> counts, axes;
  for (const std::vector<unsigned> &dim : layout.dim_axes()) {
    counts.push_back(dim.size());
    axes.append(dim.begin(), dim.end());
  }
  return get(
      context, MeshAttr::get(context, layout.mesh()), counts, axes,
      ArrayRef<Partial>(layout.partial().data(), layout.partial().size()));
}

LayoutAttr LayoutAttr::replicated(MeshAttr mesh, unsigned rank) {
  return get(mesh.getContext(), mesh, SmallVector<unsigned>(rank, 0), {}, {});
}

Layout LayoutAttr::getLayout() const {
  return getContext()->getLoadedDialect<DTensorDialect>()->layoutOf(*this);
}

LogicalResult LayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 MeshAttr mesh, ArrayRef<unsigned> counts,
                                 ArrayRef<unsigned> axes,
                                 ArrayRef<Partial> partial) {
  Layout::DimAxes dims;
  for (unsigned count : counts) {
    dims.emplace_back(axes.begin(), axes.begin() + count);
    axes = axes.drop_front(count);
  }
  auto layout = Layout::get(mesh.getMesh(), std::move(dims), partial.vec());
  if (!layout)
    return emitError() << "violates constraint C1 of #dtensor.layout: "
                       << layout.error().message();
  return success();
}

Attribute LayoutAttr::getEncodedLayout() const {
  return *this;
}
SmallVector<int64_t> LayoutAttr::getGlobalShape(RankedTensorType type) const {
  return SmallVector<int64_t>(type.getShape());
}
bool LayoutAttr::isShard() const {
  return false;
}

LogicalResult
LayoutAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                           function_ref<InFlightDiagnostic()> emitError) const {
  if (shape.size() == getRank())
    return success();
  return emitError() << "violates constraint C2 of #dtensor.layout: "
                     << getLayout().spec_string() << " has " << getRank()
                     << " dims, but the tensor has " << shape.size();
}

/// Appends what the axis that comes next stands for in `mesh`: an axis, or its
/// parts. `colon`: see parseAxisName.
static mlir::ParseResult parseAxis(mlir::AsmParser &parser, MeshAttr mesh,
                                   SmallVectorImpl<unsigned> &axes,
                                   bool *colon = nullptr) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  std::string name;
  if (parseAxisName(parser, name, colon))
    return failure();
  if (auto found = axesNamed(mesh.getMesh(), name)) {
    axes.append(found->begin(), found->end());
    return success();
  }
  InFlightDiagnostic error = parser.emitError(loc);
  error << "violates constraint C1 of #dtensor.layout: axis '" << name
        << "' is not in the mesh, which has ";
  llvm::interleaveComma(mesh.getNames(), error, [&](StringAttr candidate) {
    error << "'" << candidate.getValue() << "'";
  });
  return error;
}

Attribute LayoutAttr::parse(mlir::AsmParser &parser, Type) {
  using Delimiter = mlir::AsmParser::Delimiter;
  llvm::SMLoc loc = parser.getCurrentLocation();
  MeshAttr mesh;
  SmallVector<unsigned> counts, axes;
  SmallVector<Partial> partial;
  auto parseDim = [&]() -> mlir::ParseResult {
    unsigned before = axes.size();
    if (failed(parser.parseOptionalStar())) {
      auto next = [&] { return parseAxis(parser, mesh, axes); };
      if (succeeded(parser.parseOptionalLBrace())) {
        if (parser.parseCommaSeparatedList(next) || parser.parseRBrace())
          return failure();
      } else if (next()) {
        return failure();
      }
    }
    counts.push_back(axes.size() - before);
    return success();
  };
  auto parsePartial = [&]() -> mlir::ParseResult {
    SmallVector<unsigned> pending;
    bool colon = false;
    StringRef kindName;
    if (parseAxis(parser, mesh, pending, &colon) ||
        (!colon && parser.parseColon()))
      return failure();
    llvm::SMLoc kindLoc = parser.getCurrentLocation();
    if (parser.parseKeyword(&kindName))
      return failure();
    auto kind = meshloom::parseReduceKind(kindName);
    if (!kind)
      return parser.emitError(kindLoc, "unknown kind of reduction '")
             << kindName << "'; expected sum, prod, min, max, and, or";
    for (unsigned axis : pending)
      partial.push_back({axis, *kind});
    return success();
  };
  if (parser.parseLess() || parser.parseAttribute(mesh) ||
      parser.parseComma() ||
      parser.parseCommaSeparatedList(Delimiter::Square, parseDim))
    return {};
  if (succeeded(parser.parseOptionalKeyword("partial")) &&
      parser.parseCommaSeparatedList(Delimiter::LessGreater, parsePartial))
    return {};
  if (parser.parseGreater())
    return {};
  llvm::sort(partial);
  return parser.getChecked<LayoutAttr>(loc, parser.getContext(), mesh, counts,
                                       axes, partial);
}

void LayoutAttr::print(mlir::AsmPrinter &printer) const {
  printer << '<' << getMeshAttr() << ", " << getLayout().spec_string() << '>';
}

//===----------------------------------------------------------------------===//
// ReduceKindAttr
//===----------------------------------------------------------------------===//

Attribute ReduceKindAttr::parse(mlir::AsmParser &parser, Type) {
  StringRef name;
  if (parser.parseLess())
    return {};
  llvm::SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&name) || parser.parseGreater())
    return {};
  if (auto kind = meshloom::parseReduceKind(name))
    return get(parser.getContext(), *kind);
  parser.emitError(loc, "unknown kind of reduction '")
      << name << "'; expected sum, prod, min, max, and, or";
  return {};
}

void ReduceKindAttr::print(mlir::AsmPrinter &printer) const {
  printer << '<' << meshloom::name(getValue()) << '>';
}
