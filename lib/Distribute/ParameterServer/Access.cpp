// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Access.h.
#include "Access.h"

#include "meshloom/Cluster/Coordination/Network.h"

#include "meshloom/Cluster/Coordination/RunOptions.h"

#include <fmt/format.h>

#include <charconv>

namespace meshloom::detail::ps {

bool Access::accepts(std::string_view offered) const {
  unsigned differs = offered.size() != token.size();
  for (size_t i = 0; i < token.size(); ++i)
    differs |= unsigned(i < offered.size() && offered[i] == token[i] ? 0 : 1);
  return differs == 0;
}

Access accessOf(std::string_view who, const std::optional<std::string> &token,
                const std::optional<TlsFiles> &tls) {
  auto refuse = [&](const Error &error) {
    error.withMessage(fmt::format("[{}] {}", who, error.message())).raise();
  };
  // The same variables mean the same to the coordination service.
  Result<CoordinationServiceOptions> service = serviceOptions(ProcessGroup());
  if (!service)
    refuse(service.error());
  Access access{.token = token.value_or(service->token),
                .tls = tls.value_or(service->tls),
                .allowsPlainNetwork = service->allowPlainNetwork,
                .silenceSeconds =
                    double(service->heartbeatTimeout.count()) / 1000,
                .credentials = nullptr};
  if (Status right = checkToken(access.token); !right)
    refuse(right.error());
  Result<std::shared_ptr<grpc::ChannelCredentials>> credentials =
      channelCredentials(access.tls);
  if (!credentials)
    refuse(credentials.error());
  access.credentials = *credentials;
  return access;
}

Pings pingsOf(const Access &access) {
  const double milliseconds = access.silenceSeconds * 1000;
  return {.everyMilliseconds = int(milliseconds * 0.2),
          .timeoutMilliseconds = int(milliseconds * 0.4)};
}

double secondsOf(std::string_view who, const char *variable, double otherwise) {
  const std::optional<std::string> text = processEnvironment(variable);
  if (!text)
    return otherwise;
  double seconds = 0;
  const auto [end, error] =
      std::from_chars(text->data(), text->data() + text->size(), seconds);
  if (error != std::errc() || end != text->data() + text->size() ||
      !(seconds >= 0 && seconds <= 1e7))
    Error(fmt::format("[{}] expected {} to be a number of seconds, such "
                      "as {}=60, got \"{}\"",
                      who, variable, variable, *text))
        .raise();
  return seconds;
}

} // namespace meshloom::detail::ps
