// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Paths, numbers, texts and names of devices that do not fit: whatever a call
// does with them, an error is one of Meshloom's.
#include "BadArguments.h"

#include "meshloom/Data/Digits.h"
#include "meshloom/Data/Mnist.h"

namespace meshloom {
namespace {

/// `call` succeeds or throws a meshloom::Error of the class of its code: no
/// exception of another library leaves a public function.
void expectDTensorErrors(const char *text, const std::function<void()> &call) {
  SCOPED_TRACE(text);
  try {
    call();
  } catch (const Error &error) {
    EXPECT_NE(typeid(error), typeid(Error)) << error.message();
    EXPECT_NE(error.code(), ErrorCode::INTERNAL) << error.message();
  } catch (const std::exception &error) {
    ADD_FAILURE() << "an exception of another library: " << error.what();
  }
}
#define OWN_ERRORS(...)                                                        \
  expectDTensorErrors(#__VA_ARGS__, [&] { (void)(__VA_ARGS__); })

/// Where nothing can be read or written, whoever the user is.
const std::vector<std::string> badPaths{
    "/proc/nowhere/at/all", "/dev/null/file", "/proc/self",
    std::string(5000, 'x'), "/proc/" + std::string(300, 'y')};
/// Names that are no files of ours; some could be written.
const std::vector<std::string> badNames{
    "", ".", "/", "/dev/null", std::string("a\0b", 3), "\n", "/nowhere/x"};

TEST(DTensorErrorsTest, PathsOfFiles) {
  const DVariable v(ones({2}));
  const Checkpoint checkpoint({{"v", v}});
  auto read = [&](const std::string &path) {
    OWN_ERRORS(data::load_npz(path));
    OWN_ERRORS(data::load_safetensors(path));
    OWN_ERRORS(data::from_npy(path));
    OWN_ERRORS(data::from_idx(path));
    OWN_ERRORS(data::list_files(path));
    OWN_ERRORS(data::load_mnist(path, data::MnistPart::Train));
    OWN_ERRORS(data::TextLineDataset(path).iterate().next());
    OWN_ERRORS(data::TFRecordDataset(path).iterate().next());
    OWN_ERRORS(data::TensorFolder(path));
    OWN_ERRORS(checkpoint.restore(path));
    OWN_ERRORS(CheckpointManager(checkpoint, path).restore_or_initialize());
    OWN_ERRORS(latest_checkpoint(path));
    OWN_ERRORS(load_model(path));
    OWN_ERRORS(load_functions(path));
    OWN_ERRORS(load_function(path));
    OWN_ERRORS(connect_platform(path));
    OWN_ERRORS(callbacks::ModelCheckpoint(path));
    OWN_ERRORS(callbacks::CSVLogger(path));
    OWN_ERRORS(callbacks::BackupAndRestore(path));
  };
  for (const std::string &path : badNames) {
    SCOPED_TRACE(path);
    read(path);
  }
  for (const std::string &path : badPaths) {
    SCOPED_TRACE(path.substr(0, 20));
    read(path);
    const std::string file = path + "/x";
    REFUSES(data::save_safetensors(file, {{"x", ones({2})}}));
    REFUSES(data::TFRecordWriter(file));
    REFUSES(data::range(3).cache(file).iterate().next());
    REFUSES(data::write_tensor_folder(file, {}));
    REFUSES(data::remove_tensor_folder(file));
    REFUSES(checkpoint.write(file));
    REFUSES(CheckpointManager(checkpoint, file).save());
    REFUSES(ProfileScope(file));
    REFUSES(SummaryWriter(file));
  }
  expectNear(v, {1, 1});
}

TEST(DTensorErrorsTest, NumbersOfDatasets) {
  const auto numbers = data::range(4);
  for (const int64_t n : {least, int64_t(-1), int64_t(0), big, most}) {
    SCOPED_TRACE(n);
    OWN_ERRORS(numbers.take(n).iterate().next());
    OWN_ERRORS(numbers.skip(n).iterate().next());
    OWN_ERRORS(numbers.shard(n, 0).iterate().next());
    OWN_ERRORS(numbers.shard(2, n).iterate().next());
    OWN_ERRORS(numbers.repeat(n).cardinality());
    OWN_ERRORS(numbers.repeat(n).repeat(n).cardinality());
    OWN_ERRORS(numbers.shuffle(n).iterate().next());
    OWN_ERRORS(numbers.batch(n).iterate().next());
    OWN_ERRORS(numbers.padded_batch(n).iterate().next());
    OWN_ERRORS(numbers.batch(2).rebatch(n).iterate().next());
    OWN_ERRORS(numbers.window(n).iterate().next());
    OWN_ERRORS(numbers.prefetch(n).iterate().next());
    OWN_ERRORS(numbers.enumerate(n).iterate().next());
    OWN_ERRORS(data::range(n).iterate().next());
    OWN_ERRORS(data::range(0, 10, n).iterate().next());
#if !__has_feature(address_sanitizer) // its allocator ends the process
    OWN_ERRORS(data::make_digits(n, 0));
#endif
  }
  for (const char *text :
       {"", "train[", "train[:]", "train[x:]", "train[:-%]",
        "train[99999999999999999999:]", "[:1]", "t[:1e400%]"})
    OWN_ERRORS(data::parse_split(text));
  for (const char *text : {"", "{}", "[]", "{\"given\": 1e99}", "nothing"}) {
    auto iterator = numbers.iterate();
    OWN_ERRORS(iterator.restore(text));
  }
}

TEST(DTensorErrorsTest, NumbersOfLayersAndOptimizers) {
  const double nan = std::nan(""), infinite = HUGE_VAL;
  for (const double number : {nan, infinite, -infinite, -1.0, 0.0, 1e300}) {
    SCOPED_TRACE(number);
    OWN_ERRORS(optimizers::SGD(number));
    OWN_ERRORS(optimizers::Adam(1e-3, number));
    OWN_ERRORS(optimizers::RMSprop(1e-3, number));
    OWN_ERRORS(layers::Dropout(number));
    OWN_ERRORS(layers::LeakyReLU(number));
    OWN_ERRORS(layers::GaussianNoise(number));
    OWN_ERRORS(losses::Huber(number));
    OWN_ERRORS(schedules::ExponentialDecay(number, 10, number));
    OWN_ERRORS(random::stateless_uniform({2}, {1, 2}, number, number));
  }
  const Tensor x = zeros({2, 4, 4, 3});
  for (const int64_t n : {least, int64_t(-1), int64_t(0), big, most}) {
    SCOPED_TRACE(n);
    OWN_ERRORS(layers::Dense(n)(zeros({2, 3})));
    OWN_ERRORS(layers::Embedding(n, 2)(tensor({0})));
    OWN_ERRORS(layers::Embedding(2, n)(tensor({0})));
    OWN_ERRORS(layers::Conv2D(n, 3)(x));
    OWN_ERRORS(layers::Conv2D(3, n)(x));
    OWN_ERRORS(layers::MaxPooling2D(n)(x));
    OWN_ERRORS(layers::LSTM(n)(zeros({2, 3, 4})));
    OWN_ERRORS(layers::MultiHeadAttention(n, n)(zeros({2, 3, 4})));
    OWN_ERRORS(layers::Reshape(Shape{n, n})(x));
    OWN_ERRORS(layers::RepeatVector(n)(zeros({2, 3})));
    OWN_ERRORS(layers::UpSampling2D(n)(x));
    OWN_ERRORS(layers::ZeroPadding2D(n)(x));
    OWN_ERRORS(layers::Hashing(n));
    OWN_ERRORS(Input(Shape{n}));
  }
  for (const char *text : {"", "nothing", "[", "{}", "null", "[1]"}) {
    OWN_ERRORS(nn::Config::parse(text));
    OWN_ERRORS(Layer::from_config(nn::Config(text)));
    OWN_ERRORS(model_from_json(text));
    OWN_ERRORS(optimizers::get(text));
    OWN_ERRORS(losses::Loss(text));
    OWN_ERRORS(metrics::Metric(text));
    OWN_ERRORS(layers::Dense(2, text));
    OWN_ERRORS(layers::Dense(2, {.kernel_initializer = text}));
  }
}

TEST(DTensorErrorsTest, StrategiesAndClusters) {
  for (const char *name : {"", "CPU", "CPU:-1", "CPU:99999999999999999999",
                           "TPU:0", "/job:x/task:y", "GPU:0"}) {
    OWN_ERRORS(MirroredStrategy({name}));
    OWN_ERRORS(OneDeviceStrategy(name));
    OWN_ERRORS(CentralStorageStrategy({name}));
  }
  OWN_ERRORS(MirroredStrategy(std::vector<DeviceSpec>{}));
  OWN_ERRORS(ClusterSpec({{"worker", {}}}).task_address("worker", most));
  OWN_ERRORS(ClusterSpec({{"worker", {"a:1"}}}).task_address("worker", least));
  OWN_ERRORS(ClusterSpec({{"", {""}}}).num_tasks("ps"));
  OWN_ERRORS(UnionClusterResolver({}));
  for (
      const char *text :
      {"", "{", "{}", "[]", R"({"cluster": 1})",
       R"({"cluster": {"worker": 1}})",
       R"({"cluster": {"worker": ["a:1"]}, "task": {"type": "worker", "index": "x"}})",
       R"({"cluster": {"worker": ["a:1"]}, "task": {"type": "worker", "index": 99999999999999999999}})"}) {
    setenv("TF_CONFIG", text, 1);
    OWN_ERRORS(TFConfigClusterResolver().cluster_spec());
    OWN_ERRORS(TFConfigClusterResolver().task_id());
  }
  unsetenv("TF_CONFIG");
  OWN_ERRORS(FixedShardsPartitioner(least));
  OWN_ERRORS(MinSizePartitioner(least, most));
  OWN_ERRORS(MaxSizePartitioner(0, least));
}

} // namespace
} // namespace meshloom
