// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Contracts from JSON, and how two contracts differ.
#include "meshloom/Support/ContractFile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace meshloom;
using testing::HasSubstr;

static std::string problem(const char *json) {
  auto contracts = parseContracts(json, "c.json");
  return contracts ? "" : contracts.error().message();
}

TEST(ContractFileTest, IsReadAsItIsWritten) {
  const Contracts contracts{
      {"main",
       {{CollectiveKind::AllReduce, {"batch"}, 2, 4263},
        {CollectiveKind::AllGather, {"batch", "model"}, {}, 10},
        {CollectiveKind::Permute, {"model"}}}},
      {"silent", {}},
      {"with \"quotes\"", {}}};
  const std::string text = contractsText(contracts);
  const Result<Contracts> parsed = parseContracts(text, "c.json");
  ASSERT_TRUE(parsed) << parsed.error().message();
  EXPECT_EQ(*parsed, contracts);
  EXPECT_THAT(text, HasSubstr("\n    {\"collective\":\"all_reduce\",\"axes\":"
                              "[\"batch\"],\"count\":2,\"bytes\":4263},\n"));
  EXPECT_TRUE(parseContracts(contractsText({}), "c.json")->empty());
}

TEST(ContractFileTest, AxesAreInAnyOrder) {
  EXPECT_EQ(
      parseContracts(
          R"({"f": [{"collective": "all_gather", "axes": ["b", "a"]}]})", "")
          ->at("f")
          .front()
          .axes,
      (std::vector<std::string>{"a", "b"}));
}

TEST(ContractFileTest, MistakesAreNamed) {
  const auto entry = [](const char *fields) {
    return problem((std::string(R"({"f": [)") + fields + "]}").c_str());
  };
  EXPECT_THAT(problem("{"), HasSubstr("contract 'c.json': it is not JSON"));
  EXPECT_THAT(problem("[]"), HasSubstr("expected an object from the names of"));
  EXPECT_THAT(problem(R"({"f": 1})"), HasSubstr("@f: expected a list"));
  EXPECT_THAT(entry("3"), HasSubstr("the entry 3 is no object"));
  EXPECT_THAT(entry(R"({"axes": ["x"]})"), HasSubstr("add \"collective\""));
  EXPECT_THAT(entry(R"({"collective": "send", "axes": ["x"]})"),
              HasSubstr("names no kind of collective"));
  EXPECT_THAT(entry(R"({"collective": "all_reduce", "axes": "x"})"),
              HasSubstr("no list of names"));
  EXPECT_THAT(entry(R"({"collective": "all_reduce"})"),
              HasSubstr("name the mesh axes"));
  EXPECT_THAT(entry(R"({"collective": "all_reduce", "axes": ["x", "x"]})"),
              HasSubstr("an axis twice"));
  EXPECT_THAT(
      entry(R"({"collective": "all_reduce", "axes": ["x"], "count": 1.5})"),
      HasSubstr("a count that is no integer"));
  EXPECT_THAT(
      entry(R"({"collective": "all_reduce", "axes": ["x"], "bytes": -1})"),
      HasSubstr("a negative limit"));
  EXPECT_THAT(entry(R"({"collective": "all_reduce", "axes": ["x"],
                "bytes": 18446744073709551615})"),
              HasSubstr("bytes that is no integer"));
  EXPECT_THAT(entry(R"({"collective": "slice", "axes": ["x"]})"),
              HasSubstr("sends nothing"));
  EXPECT_THAT(entry(R"({"collective": "all_reduce", "axes": ["x"], "n": 1})"),
              HasSubstr("unknown field 'n'"));
}

TEST(ContractFileTest, DifferencesAreLines) {
  const Allowance one{CollectiveKind::AllReduce, {"x"}, 1, 64};
  const Allowance two{CollectiveKind::AllReduce, {"x"}, 2, 128};
  const Allowance other{CollectiveKind::AllToAll, {"x", "y"}};
  EXPECT_EQ(differences({one, other}, {other, one}), "");
  EXPECT_EQ(differences({one, other}, {two, other}),
            "- all_reduce over [x]: 1 in a step, 64 bytes\n"
            "+ all_reduce over [x]: 2 in a step, 128 bytes\n");
  EXPECT_EQ(differences({}, {other}), "+ all_to_all over [x, y]\n");
}
