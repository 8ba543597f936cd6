// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Network.h.
#include "meshloom/Cluster/Coordination/Network.h"

#include "Messages.h"

#include "meshloom/Support/File.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <grpc/support/log.h>
#include <grpcpp/create_channel.h>
#include <netdb.h>
#include <netinet/in.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

namespace meshloom::detail {

Result<Address> splitAddress(std::string_view text, std::string_view purpose) {
  const auto bad = [&](std::string_view why) {
    return Error(fmt::format("expected {} as \"host:port\", such as "
                             "\"localhost:10000\", got \"{}\": {}",
                             purpose, text, why));
  };
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos)
    return bad("it has no port");
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']'))
    host = host.substr(1, host.size() - 2);
  else if (host.find(':') != std::string_view::npos)
    return bad("an IPv6 address goes in brackets, \"[::1]:10000\"");
  if (host.empty())
    return bad("it has no host");
  Address address{std::string(host), 0};
  const auto [end, error] =
      std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (error != std::errc() || end != port.data() + port.size() ||
      address.port < 0 || address.port > 65535)
    return bad("the port is not a number in 0..65535");
  return address;
}

std::string str(const Address &address) {
  return address.host.find(':') == std::string::npos
             ? fmt::format("{}:{}", address.host, address.port)
             : fmt::format("[{}]:{}", address.host, address.port);
}

namespace {

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

/// "localhost" is 127.0.0.1 also where nothing tells the system so, as on a
/// machine without /etc/hosts.
const char *const localhost = "localhost";
const char *const loopback = "127.0.0.1";

Result<AddressList> lookUp(const Address &address) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo *found = nullptr;
  const int error =
      getaddrinfo(address.host == localhost ? loopback : address.host.c_str(),
                  std::to_string(address.port).c_str(), &hints, &found);
  if (error != 0)
    return Error(fmt::format("host \"{}\" is not known: {}", address.host,
                             gai_strerror(error)));
  return AddressList(found, &freeaddrinfo);
}

bool isLoopback(const sockaddr &address) {
  if (address.sa_family == AF_INET) {
    sockaddr_in v4;
    std::memcpy(&v4, &address, sizeof(v4));
    return (ntohl(v4.sin_addr.s_addr) >> 24) == 127;
  }
  if (address.sa_family == AF_INET6) {
    sockaddr_in6 v6;
    std::memcpy(&v6, &address, sizeof(v6));
    return IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr);
  }
  return false;
}

/// The text of a certificate or key.
Result<std::string> readPem(const std::string &path, std::string_view role,
                            std::string_view kind) {
  if (path.empty())
    return Error(fmt::format("TLS needs three files: {} is missing (a "
                             "certificate, its key, and the certificate of the "
                             "authority that signed it)",
                             role));
  Result<std::string> text = readFile(path);
  if (!text)
    return text.error().withMessage(
        fmt::format("{}: {}", role, text.error().message()));
  if (text->find("-----BEGIN ") == std::string::npos ||
      text->find(kind) == std::string::npos)
    return Error(fmt::format("expected {} in PEM format (\"-----BEGIN ...{}\") "
                             "in '{}', which has none",
                             role, kind, path));
  return text;
}

using CertificatePtr = std::unique_ptr<X509, decltype(&X509_free)>;
using BytesPtr = std::unique_ptr<BIO, decltype(&BIO_free)>;

BytesPtr bytesOf(const std::string &text) {
  return {BIO_new_mem_buf(text.data(), int(text.size())), &BIO_free};
}

// A key with a password fails; nobody is asked for it.
int noPassword(char *, int, int, void *) {
  return -1;
}

/// All certificates of a file.
std::vector<CertificatePtr> certificatesOf(const std::string &text) {
  std::vector<CertificatePtr> certificates;
  const BytesPtr bytes = bytesOf(text);
  while (X509 *next =
             PEM_read_bio_X509(bytes.get(), nullptr, noPassword, nullptr))
    certificates.emplace_back(next, &X509_free);
  return certificates;
}

/// Returns whether a peer that has the authority's certificate accepts the
/// first of `chain`, the others being those between the two.
Status checkChain(const std::vector<CertificatePtr> &chain,
                  const std::vector<CertificatePtr> &authority) {
  const std::unique_ptr<X509_STORE, decltype(&X509_STORE_free)> trusted(
      X509_STORE_new(), &X509_STORE_free);
  for (const CertificatePtr &certificate : authority)
    X509_STORE_add_cert(trusted.get(), certificate.get());
  const std::unique_ptr<X509_STORE_CTX, decltype(&X509_STORE_CTX_free)> check(
      X509_STORE_CTX_new(), &X509_STORE_CTX_free);
  STACK_OF(X509) *between = sk_X509_new_null();
  for (size_t i = 1; i < chain.size(); ++i)
    sk_X509_push(between, chain[i].get());
  X509_STORE_CTX_init(check.get(), trusted.get(), chain.front().get(), between);
  const bool isAccepted = X509_verify_cert(check.get()) == 1;
  const int reason = X509_STORE_CTX_get_error(check.get());
  sk_X509_free(between);
  if (isAccepted)
    return Success();
  return Error(fmt::format("no peer accepts the certificate: {}",
                           X509_verify_cert_error_string(reason)));
}

/// The first one of several certificates in a file counts.
Status checkPair(const std::string &certificate, const std::string &key,
                 const std::string &authority) {
  const std::vector<CertificatePtr> chain = certificatesOf(certificate);
  if (chain.empty())
    return Error("the certificate cannot be read");
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> secret(
      PEM_read_bio_PrivateKey(bytesOf(key).get(), nullptr, noPassword, nullptr),
      &EVP_PKEY_free);
  if (!secret)
    return Error("the key cannot be read (one with a password is of no use)");
  if (X509_check_private_key(chain.front().get(), secret.get()) != 1)
    return Error("the certificate and the key are not a pair");
  const std::vector<CertificatePtr> trusted = certificatesOf(authority);
  if (trusted.empty())
    return Error("the authority's certificate cannot be read");
  return checkChain(chain, trusted);
}

struct Pem {
  std::string certificate, key, authority;
};
Result<Pem> readPems(const TlsFiles &files) {
  Pem pem;
  Result<std::string> text =
      readPem(files.certificate, "the certificate", "CERTIFICATE-----");
  if (!text)
    return text.error();
  pem.certificate = std::move(*text);
  text = readPem(files.key, "the certificate's key", "PRIVATE KEY-----");
  if (!text)
    return text.error();
  pem.key = std::move(*text);
  text = readPem(files.authority, "the authority's certificate",
                 "CERTIFICATE-----");
  if (!text)
    return text.error();
  pem.authority = std::move(*text);
  if (Status status = checkPair(pem.certificate, pem.key, pem.authority);
      !status)
    return status.error().withMessage(
        fmt::format("'{}', '{}' and '{}': {}", files.certificate, files.key,
                    files.authority, status.error().message()));
  return pem;
}

} // namespace

Status checkToken(std::string_view token) {
  const auto refuse = [](const std::string &why) {
    return Error(fmt::format(
        "expected a token of letters, digits and other printable characters of "
        "ASCII without a space at its ends, such as "
        "MESHLOOM_TOKEN=8f3a1c5e7b9d2f40, got one {}",
        why));
  };
  for (size_t i = 0; i < token.size(); ++i)
    if (token[i] < 0x20 || token[i] > 0x7e)
      return refuse(fmt::format(
          "whose byte {} of {} is {:#04x}{}", i + 1, token.size(),
          unsigned(uint8_t(token[i])),
          token[i] == '\r' || token[i] == '\n'
              ? ", the end of a line: it may have been read from a file"
              : ""));
  if (token.starts_with(' ') || token.ends_with(' '))
    return refuse("with a space there");
  return Success();
}

Result<bool> isLoopback(const std::string &host) {
  Result<AddressList> found = lookUp({host, 0});
  if (!found)
    return found.error();
  for (const addrinfo *entry = found->get(); entry; entry = entry->ai_next)
    if (!isLoopback(*entry->ai_addr))
      return false;
  return true;
}

Result<int> listenOn(const Address &address) {
  Result<AddressList> found = lookUp(address);
  if (!found)
    return found.error();
  int error = 0;
  for (const addrinfo *entry = found->get(); entry; entry = entry->ai_next) {
    const int file =
        socket(entry->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (file < 0) {
      error = errno;
      continue;
    }
    const int yes = 1;
    setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    if (bind(file, entry->ai_addr, entry->ai_addrlen) == 0 &&
        listen(file, SOMAXCONN) == 0)
      return file;
    error = errno;
    close(file);
    if (error == EADDRINUSE)
      break;
  }
  if (error == EADDRINUSE)
    return Error(fmt::format("port {} of {} is taken by another process: give "
                             "another one, or 0 for one that is free",
                             address.port, address.host));
  return Error(fmt::format("cannot listen on {}: {}", str(address),
                           std::strerror(error)));
}

Result<std::shared_ptr<grpc::ServerCredentials>>
serverCredentials(const TlsFiles &files) {
  if (!files.isSet())
    return grpc::InsecureServerCredentials();
  Result<Pem> pem = readPems(files);
  if (!pem)
    return pem.error();
  grpc::SslServerCredentialsOptions options(
      GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  options.pem_root_certs = pem->authority;
  options.pem_key_cert_pairs.push_back({pem->key, pem->certificate});
  return grpc::SslServerCredentials(options);
}

Result<std::shared_ptr<grpc::ChannelCredentials>>
channelCredentials(const TlsFiles &files) {
  if (!files.isSet())
    return grpc::InsecureChannelCredentials();
  Result<Pem> pem = readPems(files);
  if (!pem)
    return pem.error();
  return grpc::SslCredentials({pem->authority, pem->key, pem->certificate});
}

Result<std::shared_ptr<grpc::Channel>> openChannel(const std::string &address,
                                                   const TlsFiles &files) {
  quietGrpc();
  Result<std::shared_ptr<grpc::ChannelCredentials>> credentials =
      channelCredentials(files);
  if (!credentials)
    return credentials.error();
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(longestMessage);
  arguments.SetMaxSendMessageSize(longestMessage);
  // Ranks talk to each other, not by way of a proxy.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  // A connection of its own: two clients in a process are two.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 50);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 500);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 500);
  return grpc::CreateCustomChannel(dialled(address, arguments), *credentials,
                                   arguments);
}

std::string dialled(const std::string &address,
                    grpc::ChannelArguments &arguments) {
  const Result<Address> parts = splitAddress(address, "the address");
  if (!parts || parts->host != localhost)
    return address;
  arguments.SetSslTargetNameOverride(localhost);
  return str({loopback, parts->port});
}

namespace {

/// Who is told of handshakes that fail. Never destroyed: gRPC's threads may
/// outlive static objects.
struct HandshakeListeners {
  std::mutex mutex;
  uint64_t last = 0;
  std::map<uint64_t, std::function<void(const std::string &)>> functions;
};
HandshakeListeners &handshakeListeners() {
  static auto *listeners = new HandshakeListeners;
  return *listeners;
}

/// gRPC has no other way to tell: "Handshake failed with fatal error
/// SSL_ERROR_SSL: error:0A000086:SSL routines::certificate verify failed."
void hearGrpc(gpr_log_func_args *line) {
  const std::string_view text = line->message;
  if (!text.starts_with("Handshake failed with fatal error "))
    return;
  std::string reason(text.substr(text.rfind(':') + 1));
  if (reason.ends_with('.'))
    reason.pop_back();
  HandshakeListeners &listeners = handshakeListeners();
  const std::lock_guard lock(listeners.mutex);
  for (const auto &[number, hear] : listeners.functions)
    hear(reason);
}

} // namespace

void quietGrpc() {
  static const bool once = [] {
    if (!std::getenv("GRPC_VERBOSITY"))
      gpr_set_log_function(hearGrpc);
    return true;
  }();
  (void)once;
}

uint64_t listenForHandshakeFailures(
    std::function<void(const std::string &reason)> hear) {
  HandshakeListeners &listeners = handshakeListeners();
  const std::lock_guard lock(listeners.mutex);
  listeners.functions.emplace(++listeners.last, std::move(hear));
  return listeners.last;
}

void endListening(uint64_t number) {
  HandshakeListeners &listeners = handshakeListeners();
  const std::lock_guard lock(listeners.mutex);
  listeners.functions.erase(number);
}

} // namespace meshloom::detail
