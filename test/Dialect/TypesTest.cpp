// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests types in their three states, attributes against Core's values, and
// builders that find out result types.

#include "DialectTest.h"

#include <thread>

namespace meshloom {
namespace {

using dtensor::LayoutAttr, dtensor::MeshAttr;

struct TypesTest : DialectTest {
  Mesh mesh = *Mesh::get({{"x", 2}, {"y", 4}});
  OpBuilder builder{&context};
  Location loc = builder.getUnknownLoc();

  LayoutAttr layout(std::vector<DimSpec> specs) {
    return LayoutAttr::get(&context, Layout(std::move(specs), mesh));
  }
  /// A value of an unknown op.
  Value value(Type type) {
    mlir::OperationState state(loc, "test.value");
    state.addTypes(type);
    context.allowUnregisteredDialects();
    ops.push_back(Operation::create(state));
    return ops.back()->getResult(0);
  }
  RankedTensorType f32(ArrayRef<int64_t> shape, Attribute encoding = {}) {
    return RankedTensorType::get(shape, builder.getF32Type(), encoding);
  }
  void TearDown() override {
    for (Operation *op : llvm::reverse(ops))
      op->destroy();
  }
  std::vector<Operation *> ops;
};

TEST_F(TypesTest, AttributesAndCoreValuesAreTheSame) {
  EXPECT_EQ(MeshAttr::get(&context, mesh).getMesh(), mesh);
  Layout value({Axes{"x", "y"}, UNSHARDED}, mesh);
  LayoutAttr attr = LayoutAttr::get(&context, value);
  EXPECT_EQ(attr.getLayout(), value);
  EXPECT_EQ(attr.getMesh(), mesh);
  Layout partial({UNSHARDED}, mesh, {{"y", ReduceKind::Max}});
  EXPECT_EQ(LayoutAttr::get(&context, partial).getLayout(), partial);
  EXPECT_EQ(LayoutAttr::replicated(MeshAttr::get(&context, mesh), 2),
            layout({UNSHARDED, UNSHARDED}));
}

TEST_F(TypesTest, CoreValuesAreMadeOnceFromManyThreads) {
  LayoutAttr attr = layout({"x", "y"});
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 1000; ++round)
        ASSERT_EQ(attr.getLayout().num_shards(1), 4);
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST_F(TypesTest, GlobalShapeInAllThreeStates) {
  LayoutAttr rows = layout({"y", UNSHARDED});
  RankedTensorType shard = spmd::shardType({5, 3}, builder.getF32Type(), rows);
  EXPECT_EQ(shard.getShape(), ArrayRef<int64_t>({2, 3}));
  for (Type type : {Type(f32({5, 3})), Type(f32({5, 3}, rows)), Type(shard)}) {
    EXPECT_EQ(dtensor::globalShape(type), (SmallVector<int64_t>{5, 3}));
    EXPECT_EQ(dtensor::undecided(type), f32({5, 3}));
  }
  EXPECT_FALSE(dtensor::layoutAttrOf(f32({5, 3})));
  EXPECT_EQ(dtensor::layoutAttrOf(f32({5, 3}, rows)), rows);
  EXPECT_EQ(dtensor::layoutAttrOf(shard), rows);
  EXPECT_FALSE(dtensor::isShard(f32({5, 3}, rows)));
  EXPECT_TRUE(dtensor::isShard(shard));
  EXPECT_EQ(spmd::layoutOf(shard), rows.getLayout());
}

TEST_F(TypesTest, ElementTypesRoundTrip) {
  for (int i = 0; i <= int(lastDType); ++i)
    EXPECT_EQ(dtensor::dtypeOf(dtensor::typeOf(&context, DType(i))), DType(i));
  EXPECT_EQ(dtensor::dtypeOf(builder.getF80Type()), std::nullopt);
  EXPECT_EQ(dtensor::dtypeOf(builder.getIntegerType(4)), std::nullopt);
  EXPECT_EQ(dtensor::dtypeOf(builder.getIndexType()), std::nullopt);
}

TEST_F(TypesTest, ModuleMeshComesFromLayoutsThenTheAttributeThenOneDevice) {
  auto meshOf = [&](const std::string &text) {
    return dtensor::meshOf(*parse(text)).getMesh();
  };
  EXPECT_EQ(meshOf("module {}"), *Mesh::get({{"d", 1}}));
  std::string withAttr =
      "module attributes {dtensor.mesh = #dtensor.mesh<a = 3>} {";
  EXPECT_EQ(meshOf(withAttr + "}"), *Mesh::get({{"a", 3}}));
  std::string layout = "#dtensor.layout<#dtensor.mesh<b = 2>, [b]>";
  EXPECT_EQ(meshOf(withAttr + "func.func @f(%x: tensor<4xf32, " + layout +
                   ">) { return } }"),
            *Mesh::get({{"b", 2}}));
  EXPECT_EQ(meshOf("func.func private @f() -> tensor<4xf32, " + layout + ">"),
            *Mesh::get({{"b", 2}}));
}

TEST_F(TypesTest, BuildersFindResultTypes) {
  Value x = value(f32({8, 4}, layout({"x", UNSHARDED})));
  Value y = value(f32({4, 5}));
  auto typeOf = [&](auto op) {
    ops.push_back(op);
    return op->getResult(0).getType();
  };
  // Results have no layout: that is for propagation to decide.
  EXPECT_EQ(typeOf(builder.create<dtensor::ExpOp>(loc, x)), f32({8, 4}));
  EXPECT_EQ(typeOf(builder.create<dtensor::AddOp>(loc, x, x)), f32({8, 4}));
  EXPECT_EQ(typeOf(builder.create<dtensor::MatMulOp>(loc, x, y)), f32({8, 5}));
  EXPECT_EQ(typeOf(builder.create<dtensor::TransposeOp>(
                loc, x, ArrayRef<int64_t>{1, 0})),
            f32({4, 8}));
  EXPECT_EQ(typeOf(builder.create<dtensor::ReduceOp>(
                loc, ReduceKind::Sum, ValueRange{x}, ArrayRef<int64_t>{0})),
            f32({4}));
  EXPECT_EQ(typeOf(builder.create<dtensor::SliceOp>(
                loc, x, ArrayRef<int64_t>{0, 1}, ArrayRef<int64_t>{8, 4},
                ArrayRef<int64_t>{1, 2})),
            f32({8, 2}));
  EXPECT_EQ(typeOf(builder.create<dtensor::ConcatenateOp>(loc, ValueRange{x, x},
                                                          int64_t(1))),
            f32({8, 8}));
  EXPECT_EQ(typeOf(builder.create<dtensor::DotGeneralOp>(
                loc, x, x, ArrayRef<int64_t>{}, ArrayRef<int64_t>{},
                ArrayRef<int64_t>{1}, ArrayRef<int64_t>{1})),
            f32({8, 8}));
  EXPECT_EQ(typeOf(builder.create<dtensor::ArgMaxOp>(loc, x, int64_t(1),
                                                     builder.getI64Type())),
            RankedTensorType::get({8}, builder.getI64Type()));
  EXPECT_EQ(typeOf(builder.create<dtensor::CompareOp>(
                loc, dtensor::ComparisonDirection::LT, x, x)),
            RankedTensorType::get({8, 4}, builder.getI1Type()));
  EXPECT_EQ(typeOf(builder.create<dtensor::ConstraintOp>(
                loc, y, layout({UNSHARDED, "y"}))),
            f32({4, 5}, layout({UNSHARDED, "y"})));
}

TEST_F(TypesTest, CollectivesHaveTheLayoutsOfTheirTypes) {
  auto shard = [&](const Layout &layout) {
    return spmd::shardType({5, 3}, builder.getF32Type(),
                           LayoutAttr::get(&context, layout));
  };
  auto axes = [&](unsigned axis) {
    return spmd::axesAttr(dtensor::MeshAttr::get(&context, mesh), axis);
  };
  const Layout rows({"y", UNSHARDED}, mesh),
      whole = Layout::replicated(mesh, 2);
  Operation *op = builder.create<spmd::AllGatherOp>(
      loc, mlir::TypeRange(shard(whole)), axes(1),
      ValueRange(value(shard(rows))));
  ops.push_back(op);
  EXPECT_TRUE(succeeded(mlir::verify(op)));
  auto gather = cast<spmd::CollectiveOpInterface>(op);
  EXPECT_EQ(gather.getCollective(0),
            (CollectiveOp{CollectiveKind::AllGather, {1}, rows, whole}));
  EXPECT_EQ(gather.getReduceKind(), std::nullopt);

  const Layout pending({UNSHARDED, UNSHARDED}, mesh, {{"x", ReduceKind::Max}});
  op = builder.create<spmd::AllReduceOp>(loc, mlir::TypeRange(shard(whole)),
                                         ReduceKind::Max, axes(0),
                                         ValueRange(value(shard(pending))));
  ops.push_back(op);
  EXPECT_TRUE(succeeded(mlir::verify(op)));
  auto reduce = cast<spmd::CollectiveOpInterface>(op);
  EXPECT_EQ(reduce.getCollective(0),
            (CollectiveOp{CollectiveKind::AllReduce, {0}, pending, whole}));
  EXPECT_EQ(reduce.getReduceKind(), ReduceKind::Max);
}

} // namespace
} // namespace meshloom
