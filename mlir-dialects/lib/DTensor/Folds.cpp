#include "meshloom/Dialect/DTensor/DTensor.h"
namespace meshloom::dtensor {
mlir::OpFoldResult AbsOp::fold(FoldAdaptor) {
  return {};
}
mlir::OpFoldResult NegateOp::fold(FoldAdaptor) {
  return {};
}
mlir::OpFoldResult SignOp::fold(FoldAdaptor) {
  return {};
}
mlir::OpFoldResult ExpOp::fold(FoldAdaptor) {
  return {};
}
mlir::OpFoldResult Expm1Op::fold(FoldAdaptor) {
  return {};
}
mlir::OpFoldResult LogOp::fold(FoldAdaptor) {
  return {};
}
mlir::OpFoldResult Log1pOp::fold(FoldAdaptor) {
  return {};
}
mlir::OpFoldResult SqrtOp::fold(FoldAdaptor) {
  return {};
}
mlir::OpFoldResult RsqrtOp::fold(FoldAdaptor) {
  return {};
}
mlir::OpFoldResult CbrtOp::fold(FoldAdaptor) {
  return {};
}
mlir::OpFoldResult TanhOp::fold(FoldAdaptor) {
  return {};
}
mlir::OpFoldResult LogisticOp::fold(FoldAdaptor) {
  return {};
}
mlir::OpFoldResult SineOp::fold(FoldAdaptor) {
  return {};
}
mlir::OpFoldResult CosineOp::fold(FoldAdaptor) {
  return {};
}
mlir::OpFoldResult ErfOp::fold(FoldAdaptor) {
  return {};
}
mlir::OpFoldResult FloorOp::fold(FoldAdaptor) {
  return {};
}
mlir::OpFoldResult CeilOp::fold(FoldAdaptor) {
  return {};
}
mlir::OpFoldResult RoundOp::fold(FoldAdaptor) {
  return {};
}
mlir::OpFoldResult NotOp::fold(FoldAdaptor) {
  return {};
}
mlir::OpFoldResult IsFiniteOp::fold(FoldAdaptor) {
  return {};
}
mlir::OpFoldResult AddOp::fold(FoldAdaptor) {
  return {};
}
mlir::OpFoldResult SubtractOp::fold(FoldAdaptor) {
  return {};
}
mlir::OpFoldResult MultiplyOp::fold(FoldAdaptor) {
  return {};
}
mlir::OpFoldResult DivideOp::fold(FoldAdaptor) {
  return {};
}
mlir::OpFoldResult RemainderOp::fold(FoldAdaptor) {
  return {};
}
mlir::OpFoldResult PowerOp::fold(FoldAdaptor) {
  return {};
}
mlir::OpFoldResult MaximumOp::fold(FoldAdaptor) {
  return {};
}
mlir::OpFoldResult MinimumOp::fold(FoldAdaptor) {
  return {};
}
mlir::OpFoldResult AndOp::fold(FoldAdaptor) {
  return {};
}
mlir::OpFoldResult OrOp::fold(FoldAdaptor) {
  return {};
}
mlir::OpFoldResult XorOp::fold(FoldAdaptor) {
  return {};
}
mlir::OpFoldResult CompareOp::fold(FoldAdaptor) {
  return {};
}
mlir::OpFoldResult SelectOp::fold(FoldAdaptor) {
  return {};
}
mlir::OpFoldResult ClampOp::fold(FoldAdaptor) {
  return {};
}
mlir::OpFoldResult ConvertOp::fold(FoldAdaptor) {
  return {};
}
mlir::OpFoldResult ConstantOp::fold(FoldAdaptor) {
  return {};
}
mlir::OpFoldResult IotaOp::fold(FoldAdaptor) {
  return {};
}
mlir::OpFoldResult BroadcastInDimOp::fold(FoldAdaptor) {
  return {};
}
mlir::OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  return {};
}
mlir::OpFoldResult TransposeOp::fold(FoldAdaptor) {
  return {};
}
mlir::OpFoldResult SliceOp::fold(FoldAdaptor) {
  return {};
}
mlir::OpFoldResult ConcatenateOp::fold(FoldAdaptor) {
  return {};
}
mlir::OpFoldResult ReverseOp::fold(FoldAdaptor) {
  return {};
}
mlir::OpFoldResult RelayoutOp::fold(FoldAdaptor) {
  return {};
}
void BroadcastInDimOp::getCanonicalizationPatterns(mlir::RewritePatternSet &,
                                                   MLIRContext *) {}
void ReshapeOp::getCanonicalizationPatterns(mlir::RewritePatternSet &,
                                            MLIRContext *) {}
void TransposeOp::getCanonicalizationPatterns(mlir::RewritePatternSet &,
                                              MLIRContext *) {}
void SliceOp::getCanonicalizationPatterns(mlir::RewritePatternSet &,
                                          MLIRContext *) {}
void ConcatenateOp::getCanonicalizationPatterns(mlir::RewritePatternSet &,
                                                MLIRContext *) {}
void MatMulOp::getCanonicalizationPatterns(mlir::RewritePatternSet &,
                                           MLIRContext *) {}
void ReduceOp::getCanonicalizationPatterns(mlir::RewritePatternSet &,
                                           MLIRContext *) {}
void RelayoutOp::getCanonicalizationPatterns(mlir::RewritePatternSet &,
                                             MLIRContext *) {}
} // namespace meshloom::dtensor
