// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The code of docs/Datasets.md.
#include <meshloom/Data/DTensorDataset.h>
#include <meshloom/Data/Digits.h>
#include <meshloom/Data/Mnist.h>
#include <meshloom/Data/TFRecord.h>
#include <meshloom/Meshloom.h>

#include <filesystem>
#include <fstream>
#include <iostream>

using namespace meshloom;

namespace {

void elements() {
  Tensor images = random::stateless_uniform({100, 28, 28}, {0, 1});
  Tensor labels = range(100);
  auto train = data::from_tensor_slices(images, labels)
                   .shuffle(100, {.seed = 7})
                   .batch(32)
                   .prefetch(2);
  for (auto [x, y] : train)
    std::cout << x.shape()[0] << " images, first label "
              << y.to_vector<int32_t>()[0] << '\n';
}

struct Sample {
  Tensor image, label;
};

void structures() {
  auto samples =
      data::from_tensor_slices(Sample{zeros({6, 28, 28}, DType::UI8), range(6)})
          .map(
              [](const Sample &s) {
                return Sample{cast(s.image, DType::F32) / 255, s.label};
              },
              {.num_parallel_calls = 2});
  Sample first = samples.batch(6).iterate().get_next();
  std::cout << first.image.shape()[0] << '\n';
}

void generators() {
  auto squares = data::from_generator([] {
    return [i = 0]() mutable -> std::optional<Tensor> {
      if (i == 10)
        return std::nullopt;
      int square = i * i;
      ++i;
      return tensor(square);
    };
  });
  std::cout << squares.batch(10).iterate().get_next() << '\n';
}

void files(const std::string &folder) {
  data::TFRecordWriter writer(folder + "/train.tfrecord",
                              data::Compression::Gzip);
  for (int64_t label = 0; label < 4; ++label)
    writer.write(data::serialize_example(
        {{"image", std::vector<std::string>{std::string(16, char(label))}},
         {"label", std::vector<int64_t>{label}}}));
  writer.close();

  auto records = data::list_files(folder + "/*.tfrecord")
                     .interleave(
                         [](const std::string &file) {
                           return data::TFRecordDataset(file);
                         },
                         {.cycle_length = 4})
                     .map([](const std::string &record) {
                       auto features = data::parse_single_example(
                           record, {{"image", {{4, 4}, DType::UI8}},
                                    {"label", {{}, DType::I32}}});
                       return std::pair{features["image"], features["label"]};
                     });
  for (auto [image, label] : records.batch(4))
    std::cout << label << '\n';

  std::ofstream(folder + "/rows.csv") << "x,y,class\n1,2,0\n3,,1\n";
  auto rows =
      data::CsvDataset(folder + "/rows.csv",
                       {{DType::F32}, {DType::F32, -1.}, {DType::I32}},
                       {.header = true})
          .map([](const std::vector<Tensor> &columns) {
            return std::pair{stack({columns[0], columns[1]}, 0), columns[2]};
          });
  std::cout << rows.batch(2).iterate().get_next().first << '\n';

  data::write_digits(folder, 60, 20, 1);
  std::map<std::string, data::Dataset<data::LabelledImages>> mnist = {
      {"train", data::load_mnist(folder, data::MnistPart::Train)},
      {"test", data::load_mnist(folder, data::MnistPart::Test)}};
  auto train = data::slices(mnist, "train[:-10]");
  auto valid = data::slices(mnist, "train[-10:]+test[:50%]");
  std::cout << train.cardinality() << " and " << valid.cardinality() << '\n';
}

void positions() {
  auto dataset = data::range(100).shuffle(100).repeat().batch(8);
  auto iterator = dataset.iterate();
  iterator.next();
  std::string position = iterator.save(); // {"elements":1,"iteration":0}
  auto later = dataset.iterate(position);
  std::cout << iterator.get_next() << '\n' << later.get_next() << '\n';
}

void functions() {
  DVariable w(zeros({2, 1}));
  using Batch = std::pair<Tensor, Tensor>;
  auto batches =
      data::from_tensor_slices(random::stateless_uniform({64, 2}, {0, 1}),
                               random::stateless_uniform({64, 1}, {0, 2}))
          .repeat()
          .batch(8, {.drop_remainder = true});

  auto train_steps =
      function([&](const data::Iterator<Batch> &source, const Tensor &steps) {
        return while_loop([&](const Tensor &i) { return less(i, steps); },
                          [&](const Tensor &i) {
                            auto [x, y] = source.get_next();
                            Tensor error = matmul(x, w) - y;
                            w.assign_sub(0.1f * matmul(transpose(x), error));
                            return i + 1;
                          },
                          tensor(0));
      });
  auto iterator = batches.iterate();
  train_steps(iterator, tensor(50));
  train_steps(iterator, tensor(20)); // not traced again
  std::cout << w.read_value() << '\n';
}

void meshes() {
  Mesh mesh = create_mesh({{"batch", 4}, {"x", 2}}, virtual_cpus(8));
  auto images = data::from_tensor_slices(zeros({32, 8, 8}), range(32));
  data::DTensorDataset train(
      images, mesh,
      {Layout({"batch", "x", UNSHARDED}, mesh), Layout({"batch"}, mesh)}, 16,
      {.batch_dim = "batch", .prefetch = 2});
  for (auto [x, y] : train)
    std::cout << x.layout().spec_string() << '\n';
}

} // namespace

int main() {
  const std::string folder = "datasets-of-docs";
  std::filesystem::create_directories(folder);
  elements();
  structures();
  generators();
  files(folder);
  positions();
  functions();
  meshes();
  std::filesystem::remove_all(folder);
}
