// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Saved models and exported functions: they are what they were, with weights
// where they were laid out, or where one wishes.
#include "meshloom/NN/State/SavedModel.h"

#include "../API/Testing.h"
#include "../TemporaryFolder.h"
#include "meshloom/Data/Dataset.h"
#include "meshloom/Data/TensorFolder.h"
#include "meshloom/Distribute/Strategies.h"
#include "meshloom/Meshloom.h"

#include <gmock/gmock.h>

using namespace meshloom;
using namespace meshloom::test;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;
using SavedModelTest = meshloom::test::TemporaryFolderTest;
using ExportedFunctionsTest = meshloom::test::TemporaryFolderTest;

namespace {

/// Two layers for inputs of 6.
Model twoLayers(const LayerOptions &first = {}) {
  return Sequential({Input({6}),
                     layers::Dense(8, {.activation = "relu", .common = first}),
                     layers::Dense(4)});
}

Tensor savedInput() {
  return reshape(cast(iota({18}, 0), DType::F32) / 7.f - 1, {3, 6});
}

std::map<std::string, std::string> layoutsOf(const Model &model) {
  std::map<std::string, std::string> layouts;
  for (const auto &[path, variable] : model.named_variables())
    layouts[path] = is_dtensor(variable)
                        ? variable.layout().spec_string() + " " +
                              variable.layout().mesh().spec_string()
                        : "host";
  return layouts;
}

// Without layouts a model comes back on the host, with its weights.
TEST_F(SavedModelTest, IsWhatItWas) {
  Model model = twoLayers();
  const std::vector<float> before = model(savedInput()).to_vector<float>();
  save(model, folder / "m.keras");
  Model again = load_model(folder / "m.keras");
  EXPECT_EQ(again.config(), model.config());
  EXPECT_EQ(again(savedInput()).to_vector<float>(), before);
  EXPECT_EQ(layoutsOf(again), layoutsOf(model));
  // Saved over what was there.
  again.set_weights({zeros({6, 8}), zeros({8}), zeros({8, 4}), ones({4})});
  save(again, folder / "m.keras");
  EXPECT_THAT(load_model(folder / "m.keras")(ones({1, 6})).to_vector<float>(),
              ElementsAre(1, 1, 1, 1));
  EXPECT_THAT(refusal([&] { load_model(folder / "none.keras"); }),
              AllOf(HasSubstr("[load_model]"), HasSubstr("none.keras")));
}

// With its optimizer, training goes on as if nothing had been.
TEST_F(SavedModelTest, GoesOnWithItsOptimizer) {
  auto step = [](const Model &model, const optimizers::Optimizer &optimizer) {
    GradientTape tape;
    Tensor loss = reduce_mean(square(model(savedInput()) - 1));
    optimizer.apply_gradients(tape.gradient(loss, model.trainable_variables()));
    return loss.item<float>();
  };
  Model model = twoLayers();
  optimizers::Adam adam({.learning_rate = 0.1, .beta_1 = 0.8});
  step(model, adam);
  nn::Config training;
  training["loss"] = "mse";
  save(model, folder / "m", {.optimizer = adam, .training = training});
  Model again = load_model(folder / "m");
  optimizers::Optimizer optimizer = load_optimizer(folder / "m", again);
  EXPECT_EQ(load_training_config(folder / "m"), training);
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(step(again, optimizer), step(model, adam));
  save(model, folder / "alone");
  EXPECT_THAT(refusal([&] { load_optimizer(folder / "alone", model); }),
              HasSubstr("without an optimizer"));
  EXPECT_TRUE(load_training_config(folder / "alone").is_null());
}

// Weights are where they were: on a mesh as it was, on another one with these
// axes, on the default mesh as far as it has them.
TEST_F(SavedModelTest, KeepsLayouts) {
  Mesh mesh = create_mesh({{"batch", 1}, {"model", 2}}, virtual_cpus(2));
  Model model = twoLayers();
  for (const auto &[path, variable] : model.named_variables())
    variable.set_layout(path.ends_with("kernel")
                            ? Layout::inner_sharded(mesh, "model", 2)
                            : Layout::replicated(mesh, 1));
  const std::vector<float> before =
      model(distribute(savedInput(), Layout::replicated(mesh, 2)))
          .to_vector<float>();
  save(model, folder / "m");
  auto expectSame = [&](const Model &loaded) {
    const Mesh &on = loaded.variables().front().layout().mesh();
    const std::vector<float> values =
        loaded(distribute(savedInput(), Layout::replicated(on, 2)))
            .to_vector<float>();
    ASSERT_EQ(values.size(), before.size());
    for (size_t i = 0; i < values.size(); ++i)
      EXPECT_NEAR(values[i], before[i], 1e-6);
  };
  Model same = load_model(folder / "m");
  EXPECT_EQ(layoutsOf(same), layoutsOf(model));
  expectSame(same);
  Mesh wide = create_mesh({{"model", 4}}, virtual_cpus(4));
  Model wider = load_model(folder / "m", {.mesh = wide});
  EXPECT_EQ(layoutsOf(wider)["dense/kernel"], "[*, model] <model=4>");
  expectSame(wider);
  Mesh other = create_mesh({{"x", 2}}, virtual_cpus(2));
  EXPECT_THROW(load_model(folder / "m", {.mesh = other}), Error);
  auto scope = default_mesh(other);
  Model replicated = load_model(folder / "m");
  EXPECT_EQ(layoutsOf(replicated)["dense/kernel"], "[*, *] <x=2>");
  expectSame(replicated);
}

// Weights alone go into a model with other layouts, and from a whole model; of
// another model they are listed.
TEST_F(SavedModelTest, WeightsAlone) {
  Mesh mesh = create_mesh({{"x", 2}}, virtual_cpus(2));
  Model model = twoLayers();
  save_weights(model, folder / "w");
  save(model, folder / "m");
  for (const char *name : {"w", "m"}) {
    Model other = twoLayers();
    for (const auto &[path, variable] : other.named_variables())
      variable.set_layout(
          Layout::batch_sharded(mesh, "x", unsigned(variable.rank())));
    load_weights(other, folder / name);
    EXPECT_EQ(other.variables()[2].to_vector<float>(),
              model.variables()[2].to_vector<float>());
  }
  Model small = Sequential({Input({6}), layers::Dense(8, {.name = "other"})});
  EXPECT_THAT(refusal([&] { load_weights(small, folder / "w"); }),
              AllOf(HasSubstr("model/other/kernel f32 [6, 8]"),
                    HasSubstr("model/dense/kernel f32 [6, 8]"),
                    HasSubstr("has not (4)")));
  EXPECT_THAT(refusal([&] { load_model(folder / "w"); }),
              HasSubstr("weights, but no model"));
  Model unbuilt = Sequential({layers::Dense(2)});
  EXPECT_THAT(refusal([&] { save(unbuilt, folder / "u"); }),
              HasSubstr("no weights yet"));
}

// A variable of a strategy is one logical value: that of another strategy is
// restored from it, and one that replicas add up is divided among them.
TEST_F(SavedModelTest, StrategiesShareCheckpoints) {
  {
    MirroredStrategy strategy({"CPU:0", "CPU:1"});
    auto scope = strategy.scope();
    DVariable mirrored(tensor({1.f, 2.f}), {.name = "mirrored"});
    DVariable sum(tensor(0.f),
                  {.name = "sum",
                   .synchronization = VariableSynchronization::ON_READ,
                   .aggregation = VariableAggregation::SUM});
    sum.assign(6.f);
    Checkpoint({{"mirrored", mirrored}, {"sum", sum}}).write(folder / "ckpt");
  }
  EXPECT_EQ(data::TensorFolder(folder / "ckpt").read("sum").item<float>(), 6);
  {
    MirroredStrategy strategy({"CPU:0", "CPU:1", "CPU:2"});
    auto scope = strategy.scope();
    DVariable mirrored(zeros({2}), {.name = "mirrored"});
    DVariable sum(tensor(0.f),
                  {.name = "sum",
                   .synchronization = VariableSynchronization::ON_READ,
                   .aggregation = VariableAggregation::SUM});
    Checkpoint({{"mirrored", mirrored}, {"sum", sum}}).restore(folder / "ckpt");
    EXPECT_THAT(mirrored.to_vector<float>(), ElementsAre(1, 2));
    EXPECT_EQ(sum.item<float>(), 6);
  }
  DVariable mirrored(zeros({2})), sum(tensor(0.f));
  Checkpoint({{"mirrored", mirrored}, {"sum", sum}}).restore(folder / "ckpt");
  EXPECT_EQ(sum.item<float>(), 6);
}

// The position of a dataset is in the checkpoint.
TEST_F(SavedModelTest, DatasetsGoOn) {
  auto numbers = data::range(6);
  auto iterator = numbers.iterate();
  iterator.get_next();
  iterator.get_next();
  Checkpoint({{"data", iterator}}).write(folder / "ckpt");
  auto later = numbers.iterate();
  Checkpoint({{"data", later}}).restore(folder / "ckpt");
  EXPECT_EQ(later.get_next().item<int64_t>(), 2);
}

// Functions run where their source is not, on other devices too, and share
// variables, which they change.
TEST_F(ExportedFunctionsTest, RunWithoutSource) {
  std::vector<float> expected;
  {
    Mesh mesh = create_mesh({{"x", 2}}, virtual_cpus(2));
    DVariable w(distribute(ones({4, 2}), Layout({"x", UNSHARDED}, mesh)),
                {.name = "w"});
    Tensor shift = distribute(tensor({1.f, 2.f}), Layout::replicated(mesh, 1));
    auto predict =
        function([&](const Tensor &x) { return matmul(x, w) + shift; },
                 {.name = "predict", .arguments = {"x"}});
    auto grow = function([&] { return w.assign_add(1.f).read_value(); });
    Tensor x = ones({3, 4});
    export_functions(folder / "f",
                     {{"predict", predict.get_concrete_function(x)},
                      {"grow", grow.get_concrete_function()}});
    grow();
    expected = predict(x).to_vector<float>();
  }
  Mesh other =
      create_mesh({{"x", 2}}, {virtual_cpus(4)[2], virtual_cpus(4)[3]});
  for (const std::optional<Mesh> &mesh :
       {std::optional<Mesh>(), std::optional(other)}) {
    ExportedFunctions loaded = load_functions(folder / "f", mesh);
    EXPECT_THAT(loaded.signatures(), ElementsAre("grow", "predict"));
    EXPECT_EQ(loaded.arguments("predict").at(0).name, "x");
    EXPECT_EQ(loaded.results("grow").size(), 1u);
    ASSERT_EQ(loaded.variables().size(), 1u);
    EXPECT_EQ(loaded.variables()[0].layout().spec_string(), "[x, *]");
    EXPECT_EQ(loaded("grow", {})[0].to_vector<float>(),
              std::vector<float>(8, 2));
    EXPECT_EQ(loaded("predict", {ones({3, 4})})[0].to_vector<float>(),
              expected);
    EXPECT_THAT(refusal([&] { loaded("predict", {}); }),
                HasSubstr("takes 1 arguments, got 0"));
    EXPECT_THAT(refusal([&] { loaded("serve", {}); }),
                HasSubstr("'grow', 'predict'"));
  }
  EXPECT_THAT(refusal([&] {
                load_functions(folder / "f",
                               create_mesh({{"y", 2}}, virtual_cpus(2)));
              }),
              HasSubstr("axes"));
  EXPECT_THROW(
      export_functions(folder / "f", std::map<std::string, ConcreteFunction>()),
      Error);
  EXPECT_THROW(load_functions(folder / "none"), Error);
}

TEST_F(ExportedFunctionsTest, DoNotReplaceACheckpointAndAreNotReplacedByOne) {
  DVariable w(ones({2}), {.name = "w"});
  const Checkpoint checkpoint({{"w", w}});
  auto read = function([&] { return w.read_value(); });
  auto writeFunctions = [&] {
    export_functions(folder / "f", {{"read", read.get_concrete_function()}});
  };
  checkpoint.write(folder / "f");
  EXPECT_THAT(refusal(writeFunctions),
              AllOf(HasSubstr("has a checkpoint or a model"),
                    HasSubstr("remove_tensor_folder")));
  data::remove_tensor_folder(folder / "f");
  writeFunctions();
  EXPECT_THAT(refusal([&] { checkpoint.write(folder / "f"); }),
              HasSubstr("has functions that export_functions wrote"));
  EXPECT_THAT(load_functions(folder / "f").signatures(), ElementsAre("read"));
}

// A file that was signed runs; one that was changed since, or signed with
// another key, is refused before any of it is used.
TEST_F(ExportedFunctionsTest, SignaturesTellWhatWasChanged) {
  Mesh mesh = create_mesh({{"x", 2}}, virtual_cpus(2));
  const Layout rows({"x", UNSHARDED}, mesh);
  DVariable w(distribute(ones({4, 2}), rows), {.name = "w"});
  auto predict = function([&](const Tensor &x) { return matmul(x, w); });
  const std::map<std::string, ConcreteFunction> functions = {
      {"predict", predict.get_concrete_function(ones({3, 4}))}};
  write("key", std::string(32, 'k'));
  write("other", std::string(32, 'o'));
  write("short", "k");
  auto load = [&](const std::string &key) {
    return load_functions(folder / "f", mesh, folder / key);
  };

  export_functions(folder / "f", functions, folder / "key");
  ExportedFunctions loaded = load("key");
  EXPECT_EQ(loaded.variables().at(0).layout(), rows);
  EXPECT_EQ(loaded("predict", {ones({3, 4})})[0].to_vector<float>(),
            std::vector<float>(6, 4));
  EXPECT_THAT(refusal([&] { load("other"); }),
              HasSubstr("[load_functions] '" +
                        (folder / "f/contents").string() +
                        "' does not match its signature"));
  EXPECT_THAT(refusal([&] { load("short"); }), HasSubstr("at least 16"));
  EXPECT_THAT(refusal([&] { load("none"); }), HasSubstr("No such file"));

  // Another program, or other values, whose checksums are right.
  const std::string signature = read("f/contents.sig");
  w.assign(distribute(zeros({4, 2}), rows));
  export_functions(folder / "f", functions);
  write("f/contents.sig", signature);
  EXPECT_THAT(refusal([&] { load("key"); }), HasSubstr("it was changed"));
  auto other = function([&](const Tensor &x) { return -matmul(x, w); });
  w.assign(distribute(ones({4, 2}), rows));
  export_functions(folder / "f",
                   {{"predict", other.get_concrete_function(ones({3, 4}))}});
  write("f/contents.sig", signature);
  EXPECT_THAT(refusal([&] { load("key"); }), HasSubstr("it was changed"));
  std::filesystem::remove(folder / "f" / "contents.sig");
  EXPECT_THAT(refusal([&] { load("key"); }), HasSubstr("is not signed"));
}
/// The distances from the means over a batch, and a sum.
FreeBatchFunction meansOf(const DVariable &w) {
  return FreeBatchFunction(
      [w](const std::vector<Tensor> &x) {
        const Tensor y = tanh(matmul(x[0], w));
        return std::vector{y - reduce_mean(y, 0), reduce_sum(y * x[1])};
      },
      {{{-1, 3}, DType::F32}, {{-1, 1}, DType::F32}}, {.name = "means"});
}
std::vector<Tensor> examplesOf(int64_t batch) {
  return {reshape(iota({3 * batch}, 0, DType::F32), {batch, 3}) * 0.1f,
          reshape(iota({batch}, 0, DType::F32), {batch, 1})};
}

// A function is compiled for each size of batch, and keeps the last ones.
TEST_F(ExportedFunctionsTest, ASizeOfBatchMayBeFree) {
  const DVariable w(tensor({{1.f, -1.f}, {.5f, 2.f}, {.25f, 0.f}}));
  const FreeBatchFunction means = meansOf(w);
  export_functions(folder / "any", {{"means", means}}, {.sizes = {1, 4}});
  export_functions(folder / "some", {{"means", means}},
                   {.sizes = {1, 4}, .compile_new_sizes = false});
  w.assign(zeros({3, 2})); // what was exported has its own
  const DVariable same(tensor({{1.f, -1.f}, {.5f, 2.f}, {.25f, 0.f}}));
  const FreeBatchFunction expected = meansOf(same);
  ExportedFunctions any = load_functions(folder / "any"),
                    some = load_functions(folder / "some");
  EXPECT_EQ(any.arguments("means")[0].shape, (Shape{-1, 3}));
  EXPECT_EQ(any.results("means")[0].shape, (Shape{-1, 2}));
  EXPECT_EQ(any.results("means")[1].shape, Shape());
  EXPECT_EQ(any.batch_sizes("means"), (std::vector<int64_t>{1, 4}));
  for (int64_t size : {4, 7, 1, 840, 2}) {
    const std::vector<Tensor> x = examplesOf(size);
    const std::vector<Tensor> ours = any("means", x), theirs = expected(x);
    expectSame(ours[0], theirs[0]);
    expectSame(ours[1], theirs[1], 1e-3);
  }
  EXPECT_EQ(any.batch_sizes("means"), (std::vector<int64_t>{1, 2, 4, 7, 840}));
  (void)some("means", examplesOf(4));
  EXPECT_ERROR(some("means", examplesOf(5)),
               HAS("expected a batch of 1 or 4 examples, got 5"),
               HAS("compile_new_sizes"));
  EXPECT_ERROR(
      any("means", {ones({2, 3}), ones({3, 1})}),
      HAS("expected one size of batch in all arguments, got 2, and 3"));
  EXPECT_ERROR(any("means", {ones({2, 4}), ones({2, 1})}),
               HAS("expected f32 [None, 3] as argument 0, got f32 [2, 4]"));
  // Assignments of variables reach the programs of all sizes.
  any.variables()[0].assign(zeros({3, 2}));
  expectNear(any("means", examplesOf(2))[1], {0});

  const FreeBatchFunction few(
      [](const std::vector<Tensor> &x) { return std::vector{x[0] * 2.f}; },
      {{{-1}, DType::F32}}, {.name = "few", .max_sizes = 2});
  for (int64_t size : {3, 5, 3, 8})
    expectNear(few({ones({size})})[0], std::vector<double>(size_t(size), 2));
  EXPECT_EQ(few.sizes(), (std::vector<int64_t>{3, 8}));
  EXPECT_ERROR(FreeBatchFunction([](const std::vector<Tensor> &x) { return x; },
                                 {{{2}, DType::F32}}),
               HAS("expected a size -1"));
}

TEST_F(ExportedFunctionsTest, AProgramThatIsNoFunctionOfTheSizeIsRefused) {
  const FreeBatchFunction pairs(
      [](const std::vector<Tensor> &x) {
        return std::vector{
            reshape(reshape(x[0], {-1, 1}) * reshape(x[0], {1, -1}), {-1})};
      },
      {{{-1}, DType::F32}}, {.name = "pairs"});
  EXPECT_ERROR(export_functions(folder / "f", {{"pairs", pairs}}),
               HAS("[pairs] its program does not follow from the size"));
  // Halves of batches of even sizes.
  const FreeBatchFunction halves(
      [](const std::vector<Tensor> &x) {
        return std::vector{reduce_sum(reshape(x[0], {2, -1}), 0)};
      },
      {{{-1}, DType::F32}}, {.name = "halves"});
  export_functions(folder / "halves", {{"halves", halves}}, {.sizes = {4}});
  ExportedFunctions loaded = load_functions(folder / "halves");
  expectNear(loaded("halves", {tensor({1.f, 2.f, 3.f, 4.f, 5.f, 6.f})})[0],
             {5, 7, 9});
  EXPECT_ERROR(loaded("halves", {ones({5})}),
               HAS("expected a batch that is a multiple of 2, got 5"));
}

// Rows over devices, which need not divide them.
TEST_F(ExportedFunctionsTest, AFreeBatchIsCutOverDevices) {
  const Mesh mesh = create_mesh({{"batch", 4}}, virtual_cpus(4));
  const DefaultMeshScope scope(mesh);
  const DVariable w(tensor({{1.f, -1.f}, {.5f, 2.f}, {.25f, 0.f}}));
  const Layout rows = Layout::batch_sharded(mesh, "batch", 2);
  const FreeBatchFunction scores(
      [&](const std::vector<Tensor> &x) {
        return std::vector{matmul(x[0], w)};
      },
      {{{-1, 3}, DType::F32}}, {.name = "scores", .layouts = {rows}});
  export_functions(folder / "f", {{"scores", scores}}, {.sizes = {8}});
  ExportedFunctions loaded = load_functions(folder / "f", mesh);
  for (int64_t size : {8, 4, 6, 1}) {
    const Tensor x = examplesOf(size)[0];
    const Tensor y = loaded("scores", {relayout(x, rows)})[0];
    expectSame(y, matmul(x, w));
    EXPECT_EQ(y.layout(),
              loaded("scores", {relayout(examplesOf(8)[0], rows)})[0].layout());
  }
}

} // namespace
