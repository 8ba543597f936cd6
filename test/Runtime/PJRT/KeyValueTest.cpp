// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Clients of several processes: the callbacks over stores of every kind, and
// platforms of threads that take themselves for processes.
#include "PluginsForTests.h"

#include "meshloom/Runtime/Backends/PJRT/KeyValueCallbacks.h"
#include "meshloom/Runtime/Backends/PJRT/PJRTPlatform.h"
#include "meshloom/Runtime/PlatformProcesses.h"

#include <future>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace meshloom;
using namespace meshloom::pjrt;
using namespace meshloom::test;
using testing::HasSubstr;

namespace {
using namespace std::chrono_literals;

/// The error that callbacks of tests make.
struct PluginError {
  int32_t code;
  std::string message;
};
capi::Handle makeTestError(int32_t code, const char *text, size_t size) {
  return new PluginError{code, std::string(text, size)};
}
capi::Handle (*const testErrorMaker)(int32_t, const char *,
                                     size_t) = makeTestError;

/// The answer of a callback: a value, or an error.
struct Answer {
  std::string value;
  int32_t code = 0;
  std::string message;
};

/// Calls them as a plug-in does.
class CallbacksTest : public testing::Test {
protected:
  using Create = capi::Client_Create_Args;

  explicit CallbacksTest(
      std::shared_ptr<KeyValueStore> source = std::make_shared<MemoryStore>())
      : store(std::move(source)), callbacks(store) {
    callbacks.giveTo(block);
  }

  Answer call(capi::Block &arguments,
              capi::Field<capi::Pointer> function) const {
    std::unique_ptr<PluginError> error(static_cast<PluginError *>(
        block.get<capi::Function>(function)(arguments.data())));
    return error ? Answer{"", error->code, error->message} : Answer{};
  }
  template <typename Args>
  capi::Block of(std::string_view key,
                 capi::Field<capi::Pointer> argument) const {
    capi::Block arguments;
    arguments.set(capi::Block::OWN_SIZE, size_t(0))
        .set(Args::key, key.data())
        .set(Args::key_size, key.size())
        .set(Args::callback_error, &testErrorMaker)
        .set(Args::user_arg, block.get<void *>(argument));
    return arguments;
  }
  template <typename Args>
  Answer taken(capi::Block &arguments,
               capi::Field<capi::Pointer> function) const {
    Answer answer = call(arguments, function);
    if (answer.code == 0) {
      auto *value = arguments.get<char *>(Args::value);
      answer.value.assign(value, arguments.get<size_t>(Args::value_size));
      arguments.get<void (*)(char *)>(Args::value_deleter_callback)(value);
    }
    return answer;
  }

  Answer put(std::string_view key, std::string_view value) const {
    using Args = capi::KeyValuePutCallback_Args;
    capi::Block arguments = of<Args>(key, Create::kv_put_user_arg);
    arguments.set(Args::value, value.data())
        .set(Args::value_size, value.size());
    return call(arguments, Create::kv_put_callback);
  }
  Answer get(std::string_view key, int milliseconds) const {
    using Args = capi::KeyValueGetCallback_Args;
    capi::Block arguments = of<Args>(key, Create::kv_get_user_arg);
    arguments.set(Args::timeout_in_ms, milliseconds);
    return taken<Args>(arguments, Create::kv_get_callback);
  }
  Answer tryGet(std::string_view key) const {
    using Args = capi::KeyValueTryGetCallback_Args;
    capi::Block arguments = of<Args>(key, Create::kv_try_get_user_arg);
    return taken<Args>(arguments, Create::kv_try_get_callback);
  }

  const std::shared_ptr<KeyValueStore> store;
  KeyValueCallbacks callbacks;
  capi::Block block;
};

TEST_F(CallbacksTest, ValuesAndKeysAreAnyBytes) {
  const std::string zeros("\0a\0\xff\0", 5);
  EXPECT_EQ(put(zeros, zeros).message, "");
  EXPECT_EQ(put("empty", "").message, "");
  EXPECT_EQ(put("%00a%00%FF%00", "another").message, "");
  EXPECT_EQ(get(zeros, 0).value, zeros);
  EXPECT_EQ(tryGet(zeros).value, zeros);
  EXPECT_EQ(tryGet("%00a%00%FF%00").value, "another");
  EXPECT_EQ(tryGet("empty").code, 0);
  EXPECT_EQ(tryGet("empty").value, "");
  EXPECT_EQ(put(zeros, "later").message, "");
  EXPECT_EQ(get(zeros, 600000).value, "later");
}

TEST_F(CallbacksTest, KeysThatNobodyHasSet) {
  const Answer missing = tryGet("there is none");
  EXPECT_EQ(missing.code, 5);
  EXPECT_THAT(missing.message,
              HasSubstr("no process has set 'there%20is%20none'"));
  const Answer late = get("none", 1);
  EXPECT_EQ(late.code, 4);
  EXPECT_THAT(late.message, HasSubstr("no process has set 'none' within 1 ms"));
}

// Whoever waits gets it, also without an end (which comes as -1).
TEST_F(CallbacksTest, WaitingEndsWithTheValue) {
  auto waiting =
      std::async(std::launch::async, [&] { return get("key", 600000).value; });
  auto forever =
      std::async(std::launch::async, [&] { return get("key", -1).value; });
  EXPECT_EQ(put("key", "value").message, "");
  EXPECT_EQ(waiting.get(), "value");
  EXPECT_EQ(forever.get(), "value");
}

/// A store that is not reached, or throws.
class BrokenStore final : public KeyValueStore {
public:
  Status set(const std::string &, std::string_view) override {
    return refused();
  }
  Result<std::string> get(const std::string &,
                          std::chrono::milliseconds) override {
    return refused();
  }
  Result<std::optional<std::string>> find(const std::string &) override {
    return refused();
  }
  Status erase(const std::string &) override { return refused(); }

  bool throws = false;

private:
  Error refused() const {
    if (throws)
      throw std::runtime_error("the roof has come down");
    return Error("the service is gone");
  }
};

class BrokenCallbacksTest : public CallbacksTest {
protected:
  BrokenCallbacksTest() : CallbacksTest(std::make_shared<BrokenStore>()) {}
  void expectFrom(const Answer &answer, int32_t code,
                  const std::string &message) {
    EXPECT_EQ(answer.code, code);
    EXPECT_EQ(answer.message, message);
  }
};

TEST_F(BrokenCallbacksTest, AStoreThatFailsIsUnavailable) {
  for (const Answer &answer : {put("k", "v"), get("k", 600000), tryGet("k")})
    expectFrom(answer, 14, "the service is gone");
}

TEST_F(BrokenCallbacksTest, NothingIsThrownThroughAPlugIn) {
  static_cast<BrokenStore &>(*store).throws = true;
  for (const Answer &answer : {put("k", "v"), get("k", 600000), tryGet("k")})
    expectFrom(answer, 13, "the roof has come down");
}

/// Works, but takes no values.
class FullStore final : public KeyValueStore {
public:
  Status set(const std::string &, std::string_view) override {
    return Error("the value is too large");
  }
  Result<std::string> get(const std::string &key,
                          std::chrono::milliseconds timeout) override {
    return empty.get(key, timeout);
  }
  Result<std::optional<std::string>> find(const std::string &key) override {
    return empty.find(key);
  }
  Status erase(const std::string &key) override { return empty.erase(key); }

private:
  MemoryStore empty;
};

class FullCallbacksTest : public CallbacksTest {
protected:
  FullCallbacksTest() : CallbacksTest(std::make_shared<FullStore>()) {}
};

TEST_F(FullCallbacksTest, AValueThatIsNotTakenIsInvalid) {
  const Answer answer = put("k", "v");
  EXPECT_EQ(answer.code, 3);
  EXPECT_EQ(answer.message, "the value is too large");
}

// ---- Parts of a store

TEST(PlatformProcessesTest, PartsAreTheSameInTheOrderOfCalls) {
  auto store = std::make_shared<MemoryStore>();
  PlatformProcesses here(0, 2, store, "run/"), there(1, 2, store, "run/");
  auto first = here.part("a"), second = here.part("a"), other = here.part("b");
  ASSERT_TRUE(first->set("k", "first"));
  ASSERT_TRUE(second->set("k", "second"));
  EXPECT_FALSE(other->find("k").value_or_throw().has_value());
  EXPECT_EQ(there.part("a")->get("k", 0ms).value_or_throw(), "first");
  EXPECT_EQ(there.part("a")->get("k", 0ms).value_or_throw(), "second");
  ASSERT_TRUE(first->erase(""));
  EXPECT_EQ(store->get("run/a/1/k", 0ms).value_or_throw(), "second");
}

TEST(PlatformProcessesTest, PartsOfADestroyedStoreAreErrors) {
  auto store = std::make_shared<MemoryStore>();
  auto part = PlatformProcesses(0, 2, store, "run/").part("a");
  store.reset();
  EXPECT_THAT(part->set("k", "v").error().message(), HasSubstr("has left"));
  EXPECT_THAT(part->get("k", 0ms).error().message(), HasSubstr("has left"));
  EXPECT_THAT(part->find("k").error().message(), HasSubstr("has left"));
  EXPECT_THAT(part->erase("k").error().message(), HasSubstr("has left"));
}

// ---- Platforms

/// Platforms of our plug-in, which take themselves for those of several
/// processes.
class PluginProcessesTest : public testing::Test {
protected:
  std::shared_ptr<Platform> alone(const std::string &fault = "") const {
    return makePJRTPlatform("pjrt:faulty", faultyPlugin(), {{"fault", fault}});
  }
  void start(int64_t count, const std::string &fault = "") {
    for (int64_t rank = 0; rank < count; ++rank) {
      platforms.push_back(alone(fault));
      ASSERT_TRUE(platforms.back()->join(
          std::make_shared<PlatformProcesses>(rank, count, store, "run/")));
    }
  }
  /// Returns the answers of all platforms, asked at the same time.
  std::vector<Result<std::vector<PlatformDevice>>> devices() {
    std::vector<std::future<Result<std::vector<PlatformDevice>>>> asked;
    for (const auto &platform : platforms)
      asked.push_back(
          std::async(std::launch::async, [&] { return platform->devices(); }));
    std::vector<Result<std::vector<PlatformDevice>>> answers;
    for (auto &answer : asked)
      answers.push_back(answer.get());
    return answers;
  }

  AllReturned allReturned;
  std::shared_ptr<MemoryStore> store = std::make_shared<MemoryStore>();
  std::vector<std::shared_ptr<Platform>> platforms;
};

TEST_F(PluginProcessesTest, DevicesOfAllAreKnownAndOwnOnesUsed) {
  start(3);
  const auto answers = devices();
  for (size_t rank = 0; rank < 3; ++rank) {
    ASSERT_TRUE(answers[rank]) << answers[rank].error().message();
    ASSERT_EQ(answers[rank]->size(), 12u);
    for (size_t i = 0; i < 12; ++i) {
      const PlatformDevice &device = (*answers[rank])[i];
      EXPECT_EQ(device.number, int64_t(i % 4));
      EXPECT_EQ(device.process, int64_t(i / 4));
      EXPECT_EQ(device.isHere, i / 4 == rank);
    }
  }
  auto client = platforms[2]->client(2).value_or_throw();
  const ArrayType type{
      DType::F32, {3}, Layout({"x"}, Mesh::get({{"x", 2}}).value_or_throw())};
  const std::vector<float> values{1, 2, 3};
  Array x = Array::fromHost(client, type, bytesOf(values)).value_or_throw();
  const Signature signature{
      "step", type.layout.mesh(), {{"x", type}}, {{"", type, -1}}};
  auto program =
      client->load(Compiled(signature, {}, StableHLOProgram{"identity 1"}));
  ASSERT_TRUE(program) << program.error().message();
  const auto bytes = (*program)->execute({x}).value_or_throw()[0].toHost();
  ASSERT_TRUE(bytes) << bytes.error().message();
  EXPECT_EQ(std::memcmp(bytes->data(), values.data(), 12), 0);
  // Devices of other processes are not used, and no more are made.
  auto more = platforms[0]->client(5);
  ASSERT_FALSE(more);
  EXPECT_THAT(more.error().message(), HasSubstr("there is no device CPU:4"));
}

// The others wait for a process that says nothing, and name it.
TEST_F(PluginProcessesTest, ASilentProcessIsMissed) {
  start(2, "silent:1");
  const auto answers = devices();
  EXPECT_TRUE(answers[1]);
  ASSERT_FALSE(answers[0]);
  EXPECT_THAT(answers[0].error().message(),
              testing::AllOf(HasSubstr("cannot make a client with"),
                             HasSubstr("DEADLINE_EXCEEDED"),
                             HasSubstr("devices%20of%0A1")));
}

TEST_F(PluginProcessesTest, AStoreThatIsGoneIsAnError) {
  start(2);
  store.reset();
  for (const auto &answer : devices()) {
    ASSERT_FALSE(answer);
    EXPECT_THAT(answer.error().message(),
                testing::AllOf(HasSubstr("UNAVAILABLE"),
                               HasSubstr("has left the others")));
  }
}

// A plug-in that finds its processes itself, as TPUs do: else each of ours
// would go on by itself.
TEST_F(PluginProcessesTest, ProcessesThatAreNotOursAreRefused) {
  auto found = alone("pod:0")->devices();
  ASSERT_FALSE(found);
  EXPECT_THAT(
      found.error().message(),
      HasSubstr("pjrt:faulty has devices of 2 processes, and this is number 0, "
                "but this process has not joined the others"));
  for (int64_t rank : {0, 1}) {
    auto platform = alone("pod:1");
    ASSERT_TRUE(platform->join(
        std::make_shared<PlatformProcesses>(rank, 2, store, "run/")));
    auto devices = platform->devices();
    ASSERT_EQ(bool(devices), rank == 1);
    if (rank == 0)
      EXPECT_THAT(devices.error().message(),
                  HasSubstr("calls this process number 1 of 2, but it is "
                            "number 0 of 2"));
  }
}

TEST_F(PluginProcessesTest, JoiningComesBeforeDevicesAreUsed) {
  auto platform = alone();
  ASSERT_TRUE(platform->client(2));
  auto processes = std::make_shared<PlatformProcesses>(0, 2, store, "run/");
  Status late = platform->join(processes);
  ASSERT_FALSE(late);
  EXPECT_THAT(late.error().message(),
              HasSubstr("were used before this process joined the others"));
  start(1);
  ASSERT_TRUE(platforms[0]->devices());
  EXPECT_TRUE(platforms[0]->join(processes));
}
// XLA's plug-in for CPUs takes what it is told of other processes, and knows
// none: its devices are those of each process alone.
TEST_F(PluginProcessesTest, XlaCpuIsOfEachProcessAlone) {
  std::string why;
  const std::optional<std::string> path = cpuPluginPath(why);
  if (!path)
    GTEST_SKIP() << why;
  for (int64_t rank : {0, 1}) {
    auto platform =
        makePJRTPlatform("pjrt:cpu", *Plugin::load(*path).value_or_throw(), {});
    ASSERT_TRUE(platform->join(
        std::make_shared<PlatformProcesses>(rank, 2, store, "run/")));
    const auto devices = platform->devices();
    ASSERT_TRUE(devices) << devices.error().message();
    EXPECT_FALSE(devices->empty());
    for (const PlatformDevice &device : *devices)
      EXPECT_TRUE(device.isHere);
    EXPECT_EQ(platform->client(2).value_or_throw()->devices().size(), 2u);
  }
}
} // namespace
