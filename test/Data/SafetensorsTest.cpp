// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Safetensors: what is written is read, by us and as the format says it; and
// every kind of damage is refused with a message that names it.
#include "meshloom/Data/Safetensors.h"

#include "../TemporaryFolder.h"
#include "meshloom/Meshloom.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

using namespace meshloom;
using namespace meshloom::test;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using SafetensorsTest = meshloom::test::TemporaryFolderTest;

namespace {
/// A file with that header, and bytes 1, 2, 3, ... behind it.
std::string file(const std::string &header, size_t bytes) {
  std::string text(8, '\0');
  text[0] = char(header.size());
  text[1] = char(header.size() >> 8);
  text += header;
  for (size_t i = 0; i < bytes; ++i)
    text += char(i + 1);
  return text;
}

std::string errorOfSafetensors(const std::string &bytes) {
  try {
    data::parse_safetensors(bytes, "w.safetensors");
  } catch (const Error &error) {
    return error.what();
  }
  return "no error";
}

// Every type that the format has comes back, scalars and empty ones too.
TEST_F(SafetensorsTest, RoundTrip) {
  data::NamedTensors written;
  for (DType type : {DType::F64, DType::F32, DType::F16, DType::BF16,
                     DType::I64, DType::I32, DType::I16, DType::I8, DType::UI64,
                     DType::UI32, DType::UI16, DType::UI8, DType::I1})
    for (Shape shape : {Shape{}, Shape{0, 3}, Shape{5}, Shape{2, 3}})
      written.emplace(std::string(name(type)) + std::to_string(shape.size()),
                      full(shape, 1, type));
  data::save_safetensors(folder / "w", written);
  data::NamedTensors read = data::load_safetensors(folder / "w");
  ASSERT_EQ(read.size(), written.size());
  for (const auto &[name, tensor] : written) {
    EXPECT_EQ(read.at(name).dtype(), tensor.dtype()) << name;
    EXPECT_EQ(read.at(name).shape(), tensor.shape()) << name;
    EXPECT_EQ(cast(read.at(name), DType::F64).to_vector<double>(),
              cast(tensor, DType::F64).to_vector<double>())
        << name;
  }
}

// The format's own bytes; elements may lie anywhere.
TEST_F(SafetensorsTest, ReadsTheFormat) {
  data::NamedTensors read =
      data::parse_safetensors(file(R"({"__metadata__": {"format": "pt"},
               "b": {"dtype": "U16", "shape": [2], "data_offsets": [1, 5]},
               "a": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]}})",
                                   5),
                              "w");
  ASSERT_EQ(read.size(), 2u);
  EXPECT_THAT(read.at("a").to_vector<uint8_t>(), ElementsAre(1));
  EXPECT_THAT(read.at("b").to_vector<uint16_t>(), ElementsAre(0x302, 0x504));
}

// Numbers of f8 are those of ml_dtypes, from the smallest to the largest.
TEST_F(SafetensorsTest, ReadsF8AsF32) {
  std::string text = file(
      R"({"e4": {"dtype": "F8_E4M3", "shape": [4], "data_offsets": [0, 4]},
          "e5": {"dtype": "F8_E5M2", "shape": [2, 2], "data_offsets": [4, 8]}})",
      8);
  text.replace(text.size() - 8, 8, "\x01\x38\xfe\x7f\x03\xc2\x7b\xfc");
  data::NamedTensors read = data::parse_safetensors(text, "w");
  auto e4 = read.at("e4").to_vector<float>();
  EXPECT_THAT(std::vector(e4.begin(), e4.begin() + 3),
              ElementsAre(0x1p-9f, 1.f, -448.f));
  EXPECT_TRUE(std::isnan(e4[3]));
  EXPECT_EQ(read.at("e5").shape(), (Shape{2, 2}));
  EXPECT_THAT(read.at("e5").to_vector<float>(),
              ElementsAre(3 * 0x1p-16f, -3.f, 57344.f,
                          -std::numeric_limits<float>::infinity()));
}

// A damaged file is refused, and nothing is allocated by its numbers.
TEST_F(SafetensorsTest, RefusesDamage) {
  EXPECT_THAT(errorOfSafetensors("abc"), HasSubstr("shorter than 8 bytes"));
  EXPECT_THAT(errorOfSafetensors(std::string(8, '\xff')),
              AllOf(HasSubstr("'w.safetensors'"), HasSubstr("does not fit")));
  EXPECT_THAT(errorOfSafetensors(file("{", 0)),
              HasSubstr("its header is damaged: it is not JSON"));
  EXPECT_THAT(errorOfSafetensors(file(R"({"a": 1})", 0)),
              HasSubstr("tensor 'a' has no"));
  auto one = [](const std::string &type, const std::string &shape,
                const std::string &offsets) {
    return errorOfSafetensors(file(R"({"a": {"dtype": ")" + type +
                                       R"(", "shape": )" + shape +
                                       R"(, "data_offsets": )" + offsets + "}}",
                                   8));
  };
  EXPECT_THAT(one("F8_E8M0", "[1]", "[0, 1]"), HasSubstr("not supported"));
  EXPECT_THAT(one("F8_E5M2", "[2]", "[0, 1]"), HasSubstr("has 1 bytes"));
  EXPECT_THAT(one("F32", "[2]", "[0, 9]"), HasSubstr("lies at [0,9] of 8"));
  EXPECT_THAT(one("F32", "[2]", "[8, 0]"), HasSubstr("lies at"));
  EXPECT_THAT(one("F32", "[2]", "[0, -1]"), HasSubstr("lies at"));
  EXPECT_THAT(one("F32", "[3]", "[0, 8]"), HasSubstr("has 8 bytes"));
  EXPECT_THAT(one("F32", "[4611686018427387904, 4]", "[0, 8]"),
              HasSubstr("has 8 bytes"));
  // 2^64 elements are none in 64 bits.
  EXPECT_THAT(one("F32", "[4294967296, 4294967296]", "[0, 0]"),
              HasSubstr("has 0 bytes"));
  EXPECT_THAT(one("F32", "[-2]", "[0, 8]"), HasSubstr("has shape"));
  EXPECT_THROW(data::load_safetensors(folder / "none"), Error);
}

// The format's own reader refuses these files too: bytes that belong to no
// tensor or to two, and names that are there twice, could hide anything.
TEST_F(SafetensorsTest, RefusesWhatTheFormatForbids) {
  auto tensor = [](const std::string &name, int begin, int end) {
    return "\"" + name + R"(": {"dtype": "U8", "shape": [)" +
           std::to_string(end - begin) + R"(], "data_offsets": [)" +
           std::to_string(begin) + ", " + std::to_string(end) + "]}";
  };
  auto errorOfHeader = [](const std::string &entries, size_t bytes) {
    return errorOfSafetensors(file("{" + entries + "}", bytes));
  };
  const std::string a = tensor("a", 0, 4), b = tensor("b", 4, 8);
  EXPECT_EQ(errorOfHeader(b + "," + a, 8), "no error") << "any order";
  EXPECT_EQ(errorOfHeader(a + "," + tensor("e", 4, 4), 4), "no error")
      << "an empty one";
  EXPECT_THAT(errorOfHeader(a + "," + tensor("a", 4, 8), 8),
              HasSubstr("has the key 'a' twice"));
  EXPECT_THAT(errorOfHeader(a + "," + tensor("b", 6, 8), 8),
              HasSubstr("bytes 4 to 6 in front of tensor 'b' belong to no"));
  EXPECT_THAT(errorOfHeader(tensor("a", 2, 4), 4),
              HasSubstr("bytes 0 to 2 in front of tensor 'a'"));
  EXPECT_THAT(errorOfHeader(a + "," + tensor("b", 2, 8), 8),
              HasSubstr("tensors 'a' and 'b' share bytes 2 to 4"));
  EXPECT_THAT(errorOfHeader(a + "," + tensor("b", 0, 4), 4),
              HasSubstr("share bytes 0 to 4"));
  EXPECT_THAT(errorOfHeader(a, 9), HasSubstr("5 bytes behind its last tensor"));
  EXPECT_THAT(errorOfHeader("", 1), HasSubstr("1 bytes behind"));
  EXPECT_THAT(errorOfHeader(R"("__metadata__": {"n": 1})", 0),
              HasSubstr("__metadata__ is not a map of strings"));
  EXPECT_EQ(errorOfHeader(R"("__metadata__": {"n": "1"})", 0), "no error");
  EXPECT_THAT(errorOfSafetensors(file(" {" + a + "}", 4)),
              HasSubstr("does not begin with '{'"));
  EXPECT_EQ(errorOfSafetensors(file("{" + a + "}   ", 4)), "no error");
  const std::string deep(300, '[');
  EXPECT_THAT(errorOfHeader(R"("a": {"dtype": "U8", "shape": )" + deep +
                                std::string(300, ']') +
                                R"(, "data_offsets": [0, 4]})",
                            4),
              HasSubstr("nested deeper than 256"));
}

// Files of other kinds are named.
TEST_F(SafetensorsTest, NamesOtherFiles) {
  EXPECT_THAT(
      errorOfSafetensors("version https://git-lfs.github.com/spec/v1\noid "
                         "sha256:00\nsize 12\n"),
      AllOf(HasSubstr("is not a safetensors file"),
            HasSubstr("Git LFS pointer")));
  EXPECT_THAT(errorOfSafetensors("<!DOCTYPE html><html><body>Not found</body>"),
              HasSubstr("web page"));
  EXPECT_THAT(errorOfSafetensors(std::string("PK\3\4") + std::string(26, '\0') +
                                 "model/data.pkl"),
              HasSubstr("PyTorch"));
  EXPECT_THAT(errorOfSafetensors(""), HasSubstr("it is empty"));
}

// Variables are found by name, in another shape, type and layout; where one is
// missing none is assigned.
TEST_F(SafetensorsTest, AssignsByName) {
  Mesh mesh = create_mesh({{"x", 2}}, virtual_cpus(2));
  Layout rows({"x", UNSHARDED}, mesh);
  DVariable a(distribute(zeros({2, 3}), rows),
              {.name = "a", .trainable = true, .layout = std::nullopt}),
      b(zeros({2}), {.name = "b", .trainable = true, .layout = std::nullopt});
  data::NamedTensors tensors{
      {"a", tensor({1., 2., 3., 4., 5., 6.}, {6})},
      {"other", zeros({7})},
  };
  EXPECT_THROW(data::assign_by_name({a, b}, tensors), Error);
  EXPECT_THAT(a.to_vector<float>(), ElementsAre(0, 0, 0, 0, 0, 0));
  tensors["b"] = tensor({7.f, 8.f});
  data::assign_by_name({a, b}, tensors);
  EXPECT_THAT(a.to_vector<float>(), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(a.read_value().layout(), rows);
  EXPECT_THAT(b.to_vector<float>(), ElementsAre(7, 8));
  data::save_safetensors(folder / "w", std::vector{a, b});
  EXPECT_THAT(data::load_safetensors(folder / "w").at("a").to_vector<float>(),
              ElementsAre(1, 2, 3, 4, 5, 6));
  tensors["b"] = zeros({3});
  EXPECT_THROW(data::assign_by_name({b}, tensors), Error);
  EXPECT_THROW(data::save_safetensors(folder / "w", std::vector{a, a}), Error);
}
} // namespace
