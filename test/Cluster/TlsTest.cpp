// TLS between ranks and the coordination service, by certificates that openssl
// makes here.
#include "TestRun.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace meshloom;
using namespace meshloom::test;
using testing::HasSubstr;

namespace {

/// An authority and certificates that it has signed, in a folder of this test.
class TlsTest : public testing::Test {
protected:
  static void SetUpTestSuite() {
    folder = testing::TempDir() + "cluster-tls-" + std::to_string(getpid());
    std::filesystem::create_directories(folder);
    const std::string script = "set -e; cd " + folder +
                               R"(; exec >/dev/null 2>&1
for a in authority stranger; do
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes \
    -keyout $a.key -out $a.pem -days 2 -subj /CN=$a
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes \
    -keyout $a-rank.key -out $a-rank.csr -subj /CN=rank
  printf 'subjectAltName=DNS:localhost,IP:127.0.0.1\n' > $a.ext
  openssl x509 -req -in $a-rank.csr -CA $a.pem -CAkey $a.key -CAcreateserial \
    -out $a-rank.pem -days 2 -extfile $a.ext
done)";
    ASSERT_EQ(std::system(script.c_str()), 0) << "openssl is needed";
  }
  static void TearDownTestSuite() { std::filesystem::remove_all(folder); }

  static TlsFiles filesOf(const std::string &authority) {
    return {folder + "/" + authority + "-rank.pem",
            folder + "/" + authority + "-rank.key",
            folder + "/" + authority + ".pem"};
  }
  static CoordinationServiceOptions tlsOptions() {
    CoordinationServiceOptions options;
    options.tls = filesOf("authority");
    return options;
  }
  static inline std::string folder;
};

TEST_F(TlsTest, RanksWithCertificatesMeet) {
  const TestService test(1, tlsOptions());
  EXPECT_THAT(test.log.str(), HasSubstr("with TLS"));
  CoordinationClientOptions options = rankOf(*test.service, 0, 1);
  options.tls = filesOf("authority");
  auto client = CoordinationClient::connect(options).value_or_throw();
  ASSERT_TRUE(client->set("k", "v"));
  EXPECT_EQ(*client->get("k", 0ms), "v");
  EXPECT_TRUE(client->shutdown(5s));
}

TEST_F(TlsTest, ThoseWithoutOrWithOthersAreRefused) {
  const TestService test(1, tlsOptions());
  CoordinationClientOptions options = rankOf(*test.service, 0, 1);
  options.startTimeout = 300ms;
  EXPECT_THAT(CoordinationClient::connect(options).error().message(),
              HasSubstr("do all use TLS or none?"));
  options.tls = filesOf("stranger");
  EXPECT_THAT(CoordinationClient::connect(options).error().message(),
              HasSubstr("do all use TLS or none?"));
  // Its own authority is right, its certificate another one's.
  options.tls.authority = filesOf("authority").authority;
  EXPECT_FALSE(CoordinationClient::connect(options));
}

TEST_F(TlsTest, FilesThatCannotBeUsedAreNamed) {
  CoordinationServiceOptions options = tlsOptions();
  options.tls.key.clear();
  EXPECT_THAT(CoordinationService::start(options).error().message(),
              HasSubstr("TLS needs three files: the certificate's key is "
                        "missing"));
  options.tls.key = folder + "/none.key";
  EXPECT_THAT(CoordinationService::start(options).error().message(),
              HasSubstr("none.key"));
  options.tls.key = options.tls.certificate;
  EXPECT_THAT(CoordinationService::start(options).error().message(),
              HasSubstr("expected the certificate's key in PEM format"));
  options.tls.key = filesOf("stranger").key;
  EXPECT_THAT(CoordinationService::start(options).error().message(),
              HasSubstr("the certificate and the key are no pair"));
}

} // namespace
