// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Addresses, ports and credentials of gRPC servers and channels.
#pragma once

#include "meshloom/Cluster/TlsFiles.h"
#include "meshloom/Core/Result.h"

#include <grpcpp/channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace meshloom::detail {

/// A host and a port.
struct Address {
  std::string host;
  int port = 0;
};
/// "host:port", "[::1]:port". `purpose` says what it is for, in errors.
Result<Address> splitAddress(std::string_view text, std::string_view purpose);
/// The other way round.
std::string str(const Address &address);

/// Returns whether all that a name stands for is inside of this machine. Fails
/// where nothing is known of it.
Result<bool> isLoopback(const std::string &host);
/// A socket that listens there and never blocks, to be closed by the caller.
/// Fails with the system's reason.
Result<int> listenOn(const Address &address);

/// Fails where gRPC would not take the token along with a call, which an error
/// that shows a right one says.
Status checkToken(std::string_view token);

/// Fails where a file cannot be read, or one of the three is missing, and where
/// a peer would refuse the certificate: it has expired, is not valid yet, or is
/// not of the authority. Without files: what sends in the clear.
Result<std::shared_ptr<grpc::ServerCredentials>>
serverCredentials(const TlsFiles &files);
/// The same for who calls.
Result<std::shared_ptr<grpc::ChannelCredentials>>
channelCredentials(const TlsFiles &files);
/// A channel to a server; the same about files.
Result<std::shared_ptr<grpc::Channel>> openChannel(const std::string &address,
                                                   const TlsFiles &files);

/// Returns the address that a channel connects to: "localhost" is a name that
/// some machines do not know, and it stands for two addresses, of which servers
/// have one. Certificates are still compared with the name that was given, by
/// way of `arguments`.
std::string dialled(const std::string &address,
                    grpc::ChannelArguments &arguments);

/// gRPC writes what goes wrong on connections to the standard error stream; our
/// errors say it. Keeps it from that unless GRPC_VERBOSITY is set.
void quietGrpc();
/// Has gRPC's threads call `hear` with the reason of each TLS handshake of this
/// process that fails from now on, before the socket is closed. Gives a number
/// for endListening. Where GRPC_VERBOSITY is set, gRPC writes the reasons
/// itself and nothing is heard.
uint64_t
listenForHandshakeFailures(std::function<void(const std::string &reason)> hear);
/// When it has returned, that function is called no more.
void endListening(uint64_t number);

} // namespace meshloom::detail
