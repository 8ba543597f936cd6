// Signatures of saved programs, which hold native code: HMAC-SHA256 of all
// bytes under a key that only those who may write programs have. The signature
// lies beside the program, in PROGRAM.sig, as 64 hexadecimal digits; `openssl
// dgst -sha256 -mac HMAC -macopt hexkey:... PROGRAM` prints the same.
#pragma once

#include "meshloom/Core/Result.h"

#include <string>
#include <string_view>

namespace meshloom::run {

/// Writes `program`.sig. The key is all of the bytes of `keyFile`, at least 16.
Status signProgram(const std::string &program, std::string_view bytes,
                   const std::string &keyFile);

/// Fails where `program`.sig is missing or not the signature of `bytes`.
Status verifyProgram(const std::string &program, std::string_view bytes,
                     const std::string &keyFile);

} // namespace meshloom::run
