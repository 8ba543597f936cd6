// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A shared library that is no PJRT plug-in.
extern "C" int NothingOfInterest() {
  return 0;
}
