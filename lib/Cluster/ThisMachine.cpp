// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See ThisMachine.h: an address is this machine's where it can be listened at.
#include "meshloom/Cluster/ThisMachine.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace meshloom {

/// At a port that the system chooses.
static bool canListen(const addrinfo &address) {
  const int file = socket(address.ai_family, SOCK_DGRAM, 0);
  if (file < 0)
    return false;
  const bool can = bind(file, address.ai_addr, address.ai_addrlen) == 0;
  close(file);
  return can;
}

bool isThisMachine(const std::string &address) {
  std::string host = address.substr(0, address.rfind(':'));
  if (host.starts_with('[') && host.ends_with(']'))
    host = host.substr(1, host.size() - 2);
  if (host == "localhost") // also where nothing tells the system so
    return true;
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo *found = nullptr;
  if (getaddrinfo(host.c_str(), "0", &hints, &found) != 0)
    return false;
  bool isHere = false;
  for (const addrinfo *entry = found; entry && !isHere; entry = entry->ai_next)
    isHere = canListen(*entry);
  freeaddrinfo(found);
  return isHere;
}

} // namespace meshloom
