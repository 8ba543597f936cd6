// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TLS between ranks and the coordination service, by certificates that openssl
// makes here.
#include "Certificates.h"
#include "TestRun.h"

#include <memory>

using namespace meshloom;
using namespace meshloom::test;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;

namespace {

class TlsTest : public testing::Test {
protected:
  static void SetUpTestSuite() {
    certificates = std::make_unique<Certificates>();
    ASSERT_TRUE(certificates->areCreated);
  }
  static void TearDownTestSuite() { certificates.reset(); }
  static TlsFiles filesOf(const std::string &authority) {
    return certificates->filesOf(authority);
  }
  static CoordinationServiceOptions tlsOptions() {
    CoordinationServiceOptions options;
    options.tls = filesOf("authority");
    return options;
  }
  static inline std::unique_ptr<Certificates> certificates;
};

TEST_F(TlsTest, RanksWithCertificatesMeet) {
  const TestService test(1, tlsOptions());
  EXPECT_THAT(test.log.str(), HasSubstr("with TLS"));
  CoordinationClientOptions options = rankOf(*test.service, 0, 1);
  options.tls = filesOf("authority");
  auto client = CoordinationClient::connect(options).value_or_throw();
  ASSERT_TRUE(client->set("k", "v"));
  EXPECT_EQ(*client->get("k", 0ms), "v");
  EXPECT_TRUE(client->shutdown(60s));
}

TEST_F(TlsTest, ClientsWithoutValidCertificatesAreRefused) {
  const TestService test(1, tlsOptions());
  CoordinationClientOptions options = rankOf(*test.service, 0, 1);
  options.startTimeout = 300ms;
  EXPECT_THAT(CoordinationClient::connect(options).error().message(),
              HasSubstr("do all use TLS or none?"));
  options.tls = filesOf("stranger");
  EXPECT_THAT(CoordinationClient::connect(options).error().message(),
              HasSubstr("do all use TLS or none?"));
}

// The service logs the first refusal of a peer that tries again and again.
TEST_F(TlsTest, RefusalsAreLoggedWithPeerAndReason) {
  const TestService test(1, tlsOptions());
  CoordinationClientOptions options = rankOf(*test.service, 0, 1);
  options.startTimeout = 300ms;
  EXPECT_FALSE(CoordinationClient::connect(options));
  // A certificate of another authority, which the client checks by its own.
  const std::string mixed = certificates->folder / "both.pem";
  ASSERT_EQ(std::system(("cat " + filesOf("authority").authority + " " +
                         filesOf("stranger").authority + " > " + mixed)
                            .c_str()),
            0);
  options.tls = filesOf("stranger");
  options.tls.authority = mixed;
  EXPECT_FALSE(CoordinationClient::connect(options));
  EXPECT_THAT(
      test.log.str(),
      AllOf(ContainsRegex("refused a connection from 127.0.0.1:[0-9]+: it "
                          "calls without TLS, which this server demands"),
            ContainsRegex("refused a connection from 127.0.0.1:[0-9]+: its "
                          "TLS handshake failed .certificate verify failed")));
  const TestService plain(1);
  CoordinationClientOptions secret = rankOf(*plain.service, 0, 1);
  secret.startTimeout = 300ms;
  secret.tls = filesOf("authority");
  EXPECT_FALSE(CoordinationClient::connect(secret));
  EXPECT_THAT(plain.log.str(),
              ContainsRegex("refused a connection from 127.0.0.1:[0-9]+: it "
                            "calls with TLS"));
}

TEST_F(TlsTest, FilesThatCannotBeUsedAreNamed) {
  CoordinationServiceOptions options = tlsOptions();
  options.tls.key.clear();
  EXPECT_THAT(CoordinationService::start(options).error().message(),
              HasSubstr("TLS needs three files: the certificate's key is "
                        "missing"));
  options.tls.key = certificates->folder / "none.key";
  EXPECT_THAT(CoordinationService::start(options).error().message(),
              HasSubstr("none.key"));
  options.tls.key = options.tls.certificate;
  EXPECT_THAT(CoordinationService::start(options).error().message(),
              HasSubstr("expected the certificate's key in PEM format"));
  options.tls.key = filesOf("stranger").key;
  EXPECT_THAT(CoordinationService::start(options).error().message(),
              HasSubstr("the certificate and the key are not a pair"));
}

// A certificate that every peer would refuse is an error where it is given, and
// at once.
TEST_F(TlsTest, CertificatesThatNoPeerAcceptsAreRefusedAtTheStart) {
  CoordinationServiceOptions expired = tlsOptions();
  expired.tls.certificate = certificates->folder / "authority-expired.pem";
  EXPECT_THAT(CoordinationService::start(expired).error().message(),
              AllOf(HasSubstr("authority-expired.pem"),
                    HasSubstr("no peer accepts the certificate: certificate "
                              "has expired")));
  CoordinationServiceOptions other = tlsOptions();
  other.tls.authority = filesOf("stranger").authority;
  EXPECT_THAT(CoordinationService::start(other).error().message(),
              HasSubstr("no peer accepts the certificate: unable to get local "
                        "issuer certificate"));
  const TestService test(1, tlsOptions());
  CoordinationClientOptions rank = rankOf(*test.service, 0, 1);
  rank.tls = expired.tls;
  EXPECT_THAT(CoordinationClient::connect(rank).error().message(),
              HasSubstr("certificate has expired"));
}

} // namespace
