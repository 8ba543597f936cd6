// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Errors: a code, a text and a place, and the exception class of the code.
#include "meshloom/API/Errors.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <new>
#include <stdexcept>

using namespace meshloom;

namespace {

template <typename Expected> void expectClassOf(ErrorCode code) {
  EXPECT_THROW((void)Result<int>(Error("text", code)).value_or_throw(),
               Expected);
}

TEST(ResultTest, TheClassFollowsFromTheCode) {
  expectClassOf<InvalidArgumentError>(ErrorCode::INVALID_ARGUMENT);
  expectClassOf<FailedPreconditionError>(ErrorCode::FAILED_PRECONDITION);
  expectClassOf<NotFoundError>(ErrorCode::NOT_FOUND);
  expectClassOf<PermissionDeniedError>(ErrorCode::PERMISSION_DENIED);
  expectClassOf<ResourceExhaustedError>(ErrorCode::RESOURCE_EXHAUSTED);
  expectClassOf<UnimplementedError>(ErrorCode::UNIMPLEMENTED);
  expectClassOf<DataLossError>(ErrorCode::DATA_LOSS);
  expectClassOf<InternalError>(ErrorCode::INTERNAL);
  expectClassOf<UnavailableError>(ErrorCode::UNAVAILABLE);
  expectClassOf<DeadlineExceededError>(ErrorCode::DEADLINE_EXCEEDED);
  expectClassOf<CancelledError>(ErrorCode::CANCELLED);
}

TEST(ResultTest, NewTextsKeepCodeAndPlace) {
  const Error error =
      Error("late", ErrorCode::DEADLINE_EXCEEDED).atPlace("train.cpp:41");
  EXPECT_EQ(error.message(), "late (at train.cpp:41)");
  const Error longer = error.withMessage("all_reduce: " + error.message());
  EXPECT_EQ(longer.message(), "all_reduce: late (at train.cpp:41)");
  EXPECT_EQ(longer.code(), ErrorCode::DEADLINE_EXCEEDED);
  EXPECT_EQ(longer.place(), "train.cpp:41");
}

TEST(ResultTest, NumbersAreThoseOfGRPC) {
  EXPECT_EQ(errorCodeOf(4), ErrorCode::DEADLINE_EXCEEDED);
  EXPECT_EQ(errorCodeOf(14), ErrorCode::UNAVAILABLE);
  for (int64_t number : {0, 2, 16, -1, 99})
    EXPECT_EQ(errorCodeOf(number), ErrorCode::INTERNAL);
  EXPECT_EQ(name(ErrorCode::NOT_FOUND), "NOT_FOUND");
}

TEST(ResultTest, ExceptionsOfAllClassesBecomeErrors) {
  EXPECT_EQ(Error::of(UnavailableError("gone")).code(), ErrorCode::UNAVAILABLE);
  EXPECT_EQ(Error::of(std::bad_alloc()).code(), ErrorCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(Error::of(std::length_error("vector")).code(),
            ErrorCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(Error::of(std::out_of_range("map::at")).code(),
            ErrorCode::INVALID_ARGUMENT);
  EXPECT_EQ(Error::of(std::invalid_argument("stoi")).code(),
            ErrorCode::INVALID_ARGUMENT);
  auto ofSystem = [](int number) {
    const std::error_code code(number, std::generic_category());
    return Error::of(std::filesystem::filesystem_error("stat", code)).code();
  };
  EXPECT_EQ(ofSystem(ENOENT), ErrorCode::NOT_FOUND);
  EXPECT_EQ(ofSystem(EACCES), ErrorCode::PERMISSION_DENIED);
  EXPECT_EQ(ofSystem(ENOSPC), ErrorCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(ofSystem(EIO), ErrorCode::DATA_LOSS);
  EXPECT_EQ(ofSystem(ENAMETOOLONG), ErrorCode::INVALID_ARGUMENT);
  const Error internal = Error::of(std::runtime_error("odd"));
  EXPECT_EQ(internal.code(), ErrorCode::INTERNAL);
  EXPECT_EQ(internal.message(), "odd");
}

TEST(ResultTest, ClassesOfUsersAreTold) {
  struct MyError : Error {
    using Error::Error;
  };
  EXPECT_TRUE(Error("text").isOfCodeClass());
  EXPECT_TRUE(NotFoundError("text").isOfCodeClass());
  EXPECT_FALSE(MyError("text").isOfCodeClass());
}

} // namespace
