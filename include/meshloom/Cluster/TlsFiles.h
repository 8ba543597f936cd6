// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TlsFiles: certificates by which processes of one cluster know each other.
#pragma once

#include <string>

namespace meshloom {

/// Files in PEM format. All empty: no TLS. Both sides show a certificate that
/// `authority` has signed, and take none that it has not.
struct TlsFiles {
  std::string certificate; ///< this process', with the chain above it
  std::string key;         ///< that certificate's private key
  std::string authority;   ///< the certificate that has signed all of them

  bool isSet() const {
    return !certificate.empty() || !key.empty() || !authority.empty();
  }
};

} // namespace meshloom
