// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Access: what tasks of a cluster and those who call them show each other, and
// when who says nothing is lost.
#pragma once

#include "meshloom/Cluster/TlsFiles.h"

#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <optional>
#include <string>
#include <string_view>

namespace meshloom::detail::ps {

/// The key by which every call brings its token.
inline constexpr char tokenKey[] = "meshloom-token";

struct Access {
  std::string token;
  TlsFiles tls;
  bool allowsPlainNetwork = false;
  /// A peer that does not answer for so long is lost.
  double silenceSeconds = 10;
  /// The credentials of who calls, by `tls`.
  std::shared_ptr<grpc::ChannelCredentials> credentials;

  /// Returns whether a call's token is this one; takes as long whatever it is.
  bool accepts(std::string_view offered) const;
};

/// An argument that is not given is the environment's: MESHLOOM_TOKEN,
/// MESHLOOM_TLS_*, MESHLOOM_PLAIN_NETWORK, MESHLOOM_HEARTBEAT_TIMEOUT. Throws
/// meshloom::Error for `who` if files of TLS cannot be used or a number is
/// malformed.
Access accessOf(std::string_view who, const std::optional<std::string> &token,
                const std::optional<TlsFiles> &tls);

/// By which a channel, or a server, finds out who is lost.
struct Pings {
  int everyMilliseconds, timeoutMilliseconds;
};
/// Twice what they take is less than the time of silence: one who is found lost
/// is tried again.
Pings pingsOf(const Access &access);

/// A number of seconds of the environment. Throws meshloom::Error for `who` if
/// it is none, or negative.
double secondsOf(std::string_view who, const char *variable, double otherwise);

} // namespace meshloom::detail::ps
