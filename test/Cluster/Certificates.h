// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Certificates for tests, made by openssl: of an authority, and of a stranger.
#pragma once

#include "../TemporaryFolder.h"

#include "meshloom/Cluster/TlsFiles.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace meshloom::test {

/// Two authorities and a certificate that each has signed, in a folder of its
/// own.
class Certificates {
public:
  Certificates() {
    const std::string script = "set -e; cd " + folder.path.string() +
                               R"(; exec >/dev/null 2>&1
for a in authority stranger; do
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes \
    -keyout $a.key -out $a.pem -days 2 -subj /CN=$a
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes \
    -keyout $a-rank.key -out $a-rank.csr -subj /CN=rank
  printf 'subjectAltName=DNS:localhost,IP:127.0.0.1\n' > $a.ext
  openssl x509 -req -in $a-rank.csr -CA $a.pem -CAkey $a.key -CAcreateserial \
    -out $a-rank.pem -days 2 -extfile $a.ext
  openssl x509 -req -in $a-rank.csr -CA $a.pem -CAkey $a.key -CAcreateserial \
    -out $a-expired.pem -days -1 -extfile $a.ext
done)";
    areCreated = std::system(script.c_str()) == 0;
    EXPECT_TRUE(areCreated) << "openssl is needed";
  }

  /// Creates the files of "authority" or "stranger"; the certificate of each
  /// that "-expired.pem" names was valid until yesterday.
  TlsFiles filesOf(const std::string &authority) const {
    return {folder / (authority + "-rank.pem"),
            folder / (authority + "-rank.key"), folder / (authority + ".pem")};
  }

  const TemporaryFolder folder;
  bool areCreated = false;
};

} // namespace meshloom::test
