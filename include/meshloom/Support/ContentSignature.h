// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Signatures of what holds native code: HMAC-SHA256 of all bytes under a key
// that only those who may write such files have. The signature of a file lies
// beside it, in FILE.sig, as 64 hexadecimal digits; `openssl dgst -sha256 -mac
// HMAC -macopt hexkey:... FILE` prints the same.
#pragma once

#include "meshloom/Core/Result.h"

#include <string>
#include <string_view>

namespace meshloom {

/// Writes `path`.sig, the signature of `bytes`. The key is all of the bytes of
/// `keyFile`, at least 16. Fails where one of the two files cannot be used.
Status signContent(const std::string &path, std::string_view bytes,
                   const std::string &keyFile);

/// Fails where `path`.sig is missing or is not the signature of `bytes`.
Status verifyContent(const std::string &path, std::string_view bytes,
                     const std::string &keyFile);

/// SHA-256 of `bytes`, as 64 hexadecimal digits.
std::string sha256(std::string_view bytes);

} // namespace meshloom
