// See Network.h.
#include "Network.h"

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
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <mutex>

namespace meshloom::detail {

Result<Address> splitAddress(std::string_view text, std::string_view what) {
  const auto bad = [&](std::string_view why) {
    return Error(fmt::format("expected {} as \"host:port\", such as "
                             "\"localhost:10000\", got \"{}\": {}",
                             what, text, why));
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
Result<std::string> readPem(const std::string &path, std::string_view what,
                            std::string_view kind) {
  if (path.empty())
    return Error(fmt::format("TLS needs three files: {} is missing (a "
                             "certificate, its key, and the certificate of the "
                             "authority that signed it)",
                             what));
  Result<std::string> text = readFile(path);
  if (!text)
    return Error(fmt::format("{}: {}", what, text.error().message()));
  if (text->find("-----BEGIN ") == std::string::npos ||
      text->find(kind) == std::string::npos)
    return Error(fmt::format("expected {} in PEM format (\"-----BEGIN ...{}\") "
                             "in '{}', which has none",
                             what, kind, path));
  return text;
}

/// Of a file with several certificates the first one counts.
Status checkPair(const std::string &certificate, const std::string &key) {
  const auto bytes = [](const std::string &text) {
    return std::unique_ptr<BIO, decltype(&BIO_free)>(
        BIO_new_mem_buf(text.data(), int(text.size())), &BIO_free);
  };
  // A key with a password fails; nobody is asked for it.
  const auto noPassword = [](char *, int, int, void *) { return -1; };
  const std::unique_ptr<X509, decltype(&X509_free)> first(
      PEM_read_bio_X509(bytes(certificate).get(), nullptr, noPassword, nullptr),
      &X509_free);
  if (!first)
    return Error("the certificate cannot be read");
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> secret(
      PEM_read_bio_PrivateKey(bytes(key).get(), nullptr, noPassword, nullptr),
      &EVP_PKEY_free);
  if (!secret)
    return Error("the key cannot be read (one with a password is of no use)");
  if (X509_check_private_key(first.get(), secret.get()) != 1)
    return Error("the certificate and the key are no pair");
  return Success();
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
  if (Status status = checkPair(pem.certificate, pem.key); !status)
    return Error(fmt::format("'{}' and '{}': {}", files.certificate, files.key,
                             status.error().message()));
  return pem;
}

} // namespace

Result<bool> isLoopback(const std::string &host) {
  Result<AddressList> found = lookUp({host, 0});
  if (!found)
    return found.error();
  for (const addrinfo *each = found->get(); each; each = each->ai_next)
    if (!isLoopback(*each->ai_addr))
      return false;
  return true;
}

Result<int> listenOn(const Address &address) {
  Result<AddressList> found = lookUp(address);
  if (!found)
    return found.error();
  int error = 0;
  for (const addrinfo *each = found->get(); each; each = each->ai_next) {
    const int file =
        socket(each->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (file < 0) {
      error = errno;
      continue;
    }
    const int yes = 1;
    setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    if (bind(file, each->ai_addr, each->ai_addrlen) == 0 &&
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
  if (!files.given())
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
  if (!files.given())
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

void quietGrpc() {
  static const bool once = [] {
    if (!std::getenv("GRPC_VERBOSITY"))
      gpr_set_log_function([](gpr_log_func_args *) {});
    return true;
  }();
  (void)once;
}

std::string hostName() {
  char name[256] = {};
  if (gethostname(name, sizeof(name) - 1) != 0)
    return "localhost";
  return name;
}

} // namespace meshloom::detail
