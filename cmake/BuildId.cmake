# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Writes OUTPUT, a C++ file with a digest of the files that LIST names: what
# compiled programs are made by. Left alone where it says so already.
#   cmake -DROOT=... -DLIST=... -DOUTPUT=... -P BuildId.cmake
file(STRINGS ${LIST} files)
set(digests "")
foreach(file ${files})
  file(SHA256 ${file} digest)
  file(RELATIVE_PATH name ${ROOT} ${file})
  string(APPEND digests "${name} ${digest}\n")
endforeach()
string(SHA256 id "${digests}")
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT [[
// Written by cmake/BuildId.cmake.
#include "meshloom/Support/BuildId.h"

std::string_view meshloom::buildId() {
  return "@id@";
}
]] @ONLY)
