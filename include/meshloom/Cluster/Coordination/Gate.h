// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gate: listens for a server, and lets in only what may be one of its clients.
//
// Who connects must say at once what a client says first (HTTP/2's preface and
// the header of its settings, or a TLS handshake) and stay; others are closed
// before the server hears of them. Connections that come faster than the
// processes of a run do wait, and the oldest have to go where too many wait. So
// strangers that connect again and again, or send garbage, keep one thread busy
// for a bounded part of its time, and the server not at all.
#pragma once

#include "meshloom/Cluster/Coordination/Network.h"
#include "meshloom/Cluster/Coordination/TlsRefusals.h"

#include <grpcpp/server_builder.h>

#include <memory>

namespace meshloom::detail {

class Gate {
public:
  /// Listens; fails where it cannot. `clients`: how many connections may come
  /// at once, beside some more. `log`: told of peers that are refused because
  /// of TLS; it may be empty.
  static Result<std::unique_ptr<Gate>>
  open(const Address &address, bool tls, int64_t clients, TlsRefusals::Log log);
  /// Closes the port; what was let in stays.
  ~Gate();
  Gate(const Gate &) = delete;
  Gate &operator=(const Gate &) = delete;

  int port() const;
  using Acceptor = grpc::experimental::ExternalConnectionAcceptor;
  /// To be called once the server runs.
  void letInto(std::unique_ptr<Acceptor> acceptor);

private:
  struct State;
  explicit Gate(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace meshloom::detail
