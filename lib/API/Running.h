// Running: what uses the compiler or devices ends before the process does.
#pragma once

namespace meshloom::detail {

/// While it lives, its thread compiles or runs a program. When the process ends
/// (main returns, exit is called), programs that run in other threads come to
/// their end first, because they use what is then destroyed (LLVM's and
/// oneTBB's state); programs that would begin after that never do: their
/// threads wait for the end. Nests.
class [[nodiscard]] Running {
public:
  Running();
  ~Running();
  Running(const Running &) = delete;
};

/// Called when something has been compiled: what was made for that on the way
/// is destroyed after the wait, not before it.
void waitAtExit();

} // namespace meshloom::detail
