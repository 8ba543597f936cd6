// See Network.h.
#include "Network.h"

#include "Messages.h"

#include "meshloom/Support/File.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <grpc/support/log.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <netdb.h>
#include <netinet/in.h>
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

Result<AddressList> lookUp(const Address &address) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo *found = nullptr;
  const int error =
      getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(),
                  &hints, &found);
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

Status canListen(const Address &address) {
  Result<AddressList> found = lookUp(address);
  if (!found)
    return found.error();
  int error = 0;
  for (const addrinfo *each = found->get(); each; each = each->ai_next) {
    const int file = socket(each->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (file < 0) {
      error = errno;
      continue;
    }
    const int yes = 1;
    setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    const bool bound = bind(file, each->ai_addr, each->ai_addrlen) == 0 &&
                       listen(file, 1) == 0;
    error = bound ? 0 : errno;
    close(file);
    if (bound)
      return Success();
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

Result<std::shared_ptr<grpc::Channel>> openChannel(const std::string &address,
                                                   const TlsFiles &files) {
  quietGrpc();
  std::shared_ptr<grpc::ChannelCredentials> credentials =
      grpc::InsecureChannelCredentials();
  if (files.given()) {
    Result<Pem> pem = readPems(files);
    if (!pem)
      return pem.error();
    credentials =
        grpc::SslCredentials({pem->authority, pem->key, pem->certificate});
  }
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
  return grpc::CreateCustomChannel(address, credentials, arguments);
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
