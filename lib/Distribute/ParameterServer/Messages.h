// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The messages between coordinator, workers and parameter servers: frames of
// numbers, texts and tensors, one after the other. A tensor's bytes are a piece
// of the frame as they are, which gRPC sends and hands over without a copy:
// protobuf is not used.
//
// Layout: "MLPS", the version (u32), then the fields. A number is 8 bytes,
// little endian; a text its length and its bytes; a tensor the name of its
// type, its rank, its extents, its bytes. The reader trusts nothing: no length
// exceeds what is left.
#pragma once

#include "meshloom/API/Tensor.h"

#include <grpcpp/support/byte_buffer.h>

namespace meshloom::detail::ps {

class MessageWriter {
public:
  MessageWriter();
  void put(uint64_t number);
  void put(std::string_view text);
  /// Its global value.
  void put(const Tensor &tensor);
  /// The frame; the writer is empty then.
  grpc::ByteBuffer finish();

private:
  void flush();
  std::string pending;
  std::vector<grpc::Slice> slices;
};

/// Every function throws meshloom::Error where the frame is none.
class MessageReader {
public:
  explicit MessageReader(const grpc::ByteBuffer &frame);
  uint64_t number();
  /// One that is less than `bound`.
  uint64_t number(uint64_t bound, std::string_view role);
  /// How many of something there are, of which each takes 8 bytes or more.
  size_t count();
  std::string text();
  DType dtype();
  Shape shape();
  /// A plain host tensor.
  Tensor tensor();
  /// Throws unless all has been read.
  void end() const;

private:
  void read(char *to, uint64_t size);
  std::vector<grpc::Slice> slices;
  size_t slice = 0, offset = 0; ///< of what comes next
  uint64_t remaining = 0;
};

} // namespace meshloom::detail::ps
