// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tf.train.Example: to bytes, back, and to tensors.
#include "meshloom/Data/TFRecord.h"

#include "../Numbers.h"
#include "Example.pb.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace meshloom::data {

std::string serialize_example(const Example &example) {
  proto::Example message;
  auto &features = *message.mutable_features()->mutable_feature();
  for (const auto &[name, feature] : example) {
    proto::Feature &to = features[name];
    if (const auto *texts = std::get_if<std::vector<std::string>>(&feature)) {
      to.mutable_bytes_list();
      for (const std::string &text : *texts)
        to.mutable_bytes_list()->add_value(text);
    } else if (const auto *floats = std::get_if<std::vector<float>>(&feature)) {
      to.mutable_float_list()->mutable_value()->Assign(floats->begin(),
                                                       floats->end());
    } else if (const auto *ints = std::get_if<std::vector<int64_t>>(&feature)) {
      to.mutable_int64_list()->mutable_value()->Assign(ints->begin(),
                                                       ints->end());
    }
  }
  return message.SerializeAsString();
}

Example parse_example(std::string_view record, std::source_location where) {
  return meshloom::detail::atLine(where, [&] {
    proto::Example message;
    if (record.size() > size_t(std::numeric_limits<int>::max()) ||
        !message.ParseFromArray(record.data(), int(record.size())))
      Error(
          fmt::format(
              "[parse_example] a record of {} bytes is not a tf.train.Example",
              record.size()))
          .raise();
    Example example;
    for (auto &[name, feature] :
         *message.mutable_features()->mutable_feature()) {
      Feature &to = example[name];
      if (feature.has_float_list()) {
        const auto &values = feature.float_list().value();
        to = std::vector<float>(values.begin(), values.end());
      } else if (feature.has_int64_list()) {
        const auto &values = feature.int64_list().value();
        to = std::vector<int64_t>(values.begin(), values.end());
      } else {
        const auto &values = feature.bytes_list().value();
        to = std::vector<std::string>(values.begin(), values.end());
      }
    }
    return example;
  });
}

namespace {

constexpr const char *kinds[] = {"strings of bytes", "floats", "integers"};

class Parser {
public:
  Parser(const std::string &name, const FeatureSpec &spec)
      : name(name), spec(spec) {}

  Tensor tensor(const Example &example) const {
    auto feature = example.find(name);
    std::vector<char> bytes;
    if (feature == example.end()) {
      if (!spec.default_value)
        refusal("there is none, and no default_value").raise();
      Shape shape = spec.shape;
      if (!shape.empty() && shape.front() < 0)
        shape.front() = 0;
      return of(std::vector<double>(size_t(elementCount(shape)),
                                    *spec.default_value));
    }
    if (const auto *floats = std::get_if<std::vector<float>>(&feature->second))
      return of(*floats);
    if (const auto *ints = std::get_if<std::vector<int64_t>>(&feature->second))
      return of(*ints);
    const auto &texts = std::get<std::vector<std::string>>(feature->second);
    if (texts.size() != 1)
      refusal(fmt::format("it has {} strings of bytes, a tensor is made "
                          "of one",
                          texts.size()))
          .raise();
    const std::string &text = texts.front();
    if (text.size() % size_t(byteWidth(spec.dtype)))
      refusal(fmt::format("its {} bytes are not elements of {}", text.size(),
                          meshloom::name(spec.dtype)))
          .raise();
    return shaped(text.size() / size_t(byteWidth(spec.dtype)), text);
  }

private:
  Error refusal(std::string_view why) const {
    return Error(
        fmt::format("[parse_single_example] feature '{}': {}", name, why));
  }
  template <typename T> Tensor of(const std::vector<T> &values) const {
    if (std::is_same_v<T, float> && !isFloat(spec.dtype))
      refusal(fmt::format("it holds {}, {} was asked for", kinds[1],
                          meshloom::name(spec.dtype)))
          .raise();
    if (std::is_same_v<T, int64_t> && !isInteger(spec.dtype) &&
        spec.dtype != DType::I1)
      refusal(fmt::format("it holds {}, {} was asked for", kinds[2],
                          meshloom::name(spec.dtype)))
          .raise();
    std::string bytes;
    for (T value : values)
      if (!detail::appendNumber(bytes, spec.dtype, value))
        refusal(fmt::format("{} is not of type {}", value,
                            meshloom::name(spec.dtype)))
            .raise();
    return shaped(values.size(), bytes);
  }
  Tensor shaped(size_t count, std::string_view bytes) const {
    Shape shape = spec.shape;
    if (!shape.empty() && shape.front() < 0) {
      shape.front() = 1;
      const int64_t row = elementCount(shape);
      shape.front() = row ? int64_t(count) / row : 0;
    }
    if (elementCount(shape) != int64_t(count))
      refusal(fmt::format("it has {} values, shape [{}] takes {}", count,
                          fmt::join(spec.shape, ", "), elementCount(shape)))
          .raise();
    return meshloom::detail::hostTensor(spec.dtype, shape, bytes);
  }

  const std::string &name;
  const FeatureSpec &spec;
};

} // namespace

std::map<std::string, Tensor>
parse_single_example(std::string_view record,
                     const std::map<std::string, FeatureSpec> &features,
                     std::source_location where) {
  return meshloom::detail::atLine(where, [&] {
    const Example example = parse_example(record);
    std::map<std::string, Tensor> tensors;
    for (const auto &[name, spec] : features)
      tensors[name] = Parser(name, spec).tensor(example);
    return tensors;
  });
}

} // namespace meshloom::data
