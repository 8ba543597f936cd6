// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// HMAC-SHA256 by OpenSSL.
#include "meshloom/Support/ContentSignature.h"

#include "meshloom/Support/File.h"

#include <array>
#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <span>

namespace meshloom {
namespace {

std::string hexadecimal(std::span<const unsigned char> bytes) {
  std::string text;
  for (unsigned char byte : bytes)
    text += fmt::format("{:02x}", byte);
  return text;
}

/// The signature of `bytes`, as text.
Result<std::string> hmacOf(std::string_view bytes, const std::string &keyFile) {
  constexpr size_t shortest = 16;
  Result<std::string> key = readFile(keyFile);
  if (!key)
    return key.error();
  if (key->size() < shortest)
    return Error(fmt::format("the key in '{}' has {} bytes, expected at least "
                             "{}: 'head -c 32 /dev/urandom' makes a good one",
                             keyFile, key->size(), shortest));
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned size = 0;
  if (!HMAC(EVP_sha256(), key->data(), int(key->size()),
            reinterpret_cast<const unsigned char *>(bytes.data()), bytes.size(),
            digest.data(), &size))
    return Error("OpenSSL cannot compute HMAC-SHA256");
  return hexadecimal(std::span(digest).first(size));
}

} // namespace

std::string sha256(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned size = 0;
  if (!EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size,
                  EVP_sha256(), nullptr))
    return ""; // OpenSSL was built without it: no signature is right then
  return hexadecimal(std::span(digest).first(size));
}

Status signContent(const std::string &path, std::string_view bytes,
                   const std::string &keyFile) {
  Result<std::string> signature = hmacOf(bytes, keyFile);
  if (!signature)
    return signature.error();
  return writeFile(path + ".sig", *signature + "\n");
}

Status verifyContent(const std::string &path, std::string_view bytes,
                     const std::string &keyFile) {
  Result<std::string> expected = hmacOf(bytes, keyFile);
  if (!expected)
    return expected.error();
  Result<std::string> signature = readFile(path + ".sig");
  if (!signature)
    return signature.error().withMessage(fmt::format(
        "'{}' is not signed: {}", path, signature.error().message()));
  while (!signature->empty() && signature->back() == '\n')
    signature->pop_back();
  if (signature->size() != expected->size() ||
      CRYPTO_memcmp(signature->data(), expected->data(), expected->size()) != 0)
    return Error(
        fmt::format("'{}' does not match its signature by the key in '{}': it "
                    "was changed, or signed with a different key",
                    path, keyFile));
  return Success();
}

} // namespace meshloom
