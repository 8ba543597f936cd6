// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lapack.h: LAPACK's routines of OpenBLAS, called by name. The first function
// of matrices that runs loads the library, which takes some ten milliseconds: a
// program that is only compiled does not wait for it.
#pragma once

#include "Elements.h"
#include "Library.h"
#include "ThreadScratch.h"

#include <array>
#include <cmath>
#include <complex>
#include <string_view>
#include <type_traits>
#include <utility>

namespace meshloom::library {

/// Loads OpenBLAS, once a process. Fails if it is absent, or not one that
/// several threads may call at once.
Status loadLapack();

/// Returns the name of the kernels that OpenBLAS should have instead of those
/// it has `chosen`, or null where these are right. It knows processors by their
/// numbers, and gives one that is younger than itself the kernels of 2004,
/// which take up to twice as long. The two flags say whether the processor has
/// the instructions of Haswell, and of SkylakeX.
const char *youngerKernels(std::string_view chosen, bool hasHaswell,
                           bool hasSkylakeX);

/// The address of the routine `name` for an element type, by its letter.
/// loadLapack() has succeeded.
void *lapackRoutine(char type, const char *name);

/// The element type of the parts of complex numbers, else the type itself.
template <typename T> using RealOf = decltype(std::abs(T()));

/// A routine's name without its first letter, which says the element type.
template <size_t size> struct RoutineName {
  char text[size];
  consteval RoutineName(const char (&name)[size]) {
    std::copy_n(name, size, text);
  }
};
template <typename T>
constexpr char typeLetter = std::is_same_v<T, float>                 ? 's'
                            : std::is_same_v<T, double>              ? 'd'
                            : std::is_same_v<T, std::complex<float>> ? 'c'
                                                                     : 'z';

/// An argument that only the routines for complex or for real numbers take.
template <bool forComplex, typename Argument> struct Only {
  Argument argument;
};
template <typename Argument> Only<true, Argument> onlyComplex(Argument value) {
  return {value};
}
template <typename Argument> Only<false, Argument> onlyReal(Argument value) {
  return {value};
}

/// Tells whether the routines for elements T take an argument of this type.
template <typename T, typename Argument> constexpr bool isTaken = true;
template <typename T, bool forComplex, typename Argument>
constexpr bool isTaken<T, Only<forComplex, Argument>> =
    forComplex == isComplexType<T>;

/// Fortran takes addresses.
template <typename Argument> const void *addressOf(const Argument &argument) {
  static_assert(!std::is_same_v<Argument, int64_t>, "LAPACK takes 32 bits");
  if constexpr (std::is_pointer_v<Argument>)
    return argument;
  else
    return &argument;
}
template <bool forComplex, typename Argument>
const void *addressOf(const Only<forComplex, Argument> &only) {
  return addressOf(only.argument);
}

/// Calls a routine. After the addresses of its arguments it passes the lengths
/// of those that are letters: four, as there are at most so many.
template <size_t count>
void callRoutine(void *routine,
                 const std::array<const void *, count> &addresses) {
  [&]<size_t... index>(std::index_sequence<index...>) {
    reinterpret_cast<void (*)(
        std::tuple_element_t<index, std::array<const void *, count>>..., size_t,
        size_t, size_t, size_t)>(routine)(addresses[index]..., 1, 1, 1, 1);
  }(std::make_index_sequence<count>());
}

/// Calls dtrsm for "trsm" and double.
template <RoutineName name, typename T, typename... Arguments>
void fortran(Arguments... arguments) {
  static void *const routine = lapackRoutine(typeLetter<T>, name.text);
  std::array<const void *, (size_t(isTaken<T, Arguments>) + ...)> addresses;
  size_t index = 0;
  ((isTaken<T, Arguments> ? void(addresses[index++] = addressOf(arguments))
                          : void()),
   ...);
  callRoutine(routine, addresses);
}

/// Calls a routine whose last argument, which is not given here, says what went
/// wrong: 0 is nothing.
template <RoutineName name, typename T, typename... Arguments>
int lapack(Arguments... arguments) {
  int info = 0;
  fortran<name, T>(arguments..., &info);
  return info;
}

/// The result of `call(work, size)`, which calls a routine that takes a
/// workspace: first with the size -1, which asks how large it should be.
template <typename T, typename Call> int withWorkspace(const Call &call) {
  T size(0);
  call(&size, -1);
  ReusingVector<T> work(size_t(std::real(size)));
  return call(work.data(), int(work.size()));
}

} // namespace meshloom::library
