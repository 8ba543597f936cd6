# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The few commands that Meshloom's CMakeLists are written in.

# meshloom_add_pch(Name HEADERS <a> ... [OPTIONS option ...] [LINK lib ...] [DEPENDS
# target ...]) makes MeshloomNamePch, whose precompiled header others reuse. Headers
# that take longer to read than most files that use them take to compile belong into
# one.
function(meshloom_add_pch name)
  cmake_parse_arguments(arg "" "" "HEADERS;OPTIONS;LINK;DEPENDS" ${ARGN})
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/pch/${name}.cpp CONTENT "")
  add_library(Meshloom${name}Pch OBJECT ${CMAKE_BINARY_DIR}/pch/${name}.cpp)
  target_precompile_headers(Meshloom${name}Pch PRIVATE ${arg_HEADERS})
  target_compile_options(Meshloom${name}Pch PRIVATE ${arg_OPTIONS})
  target_link_libraries(Meshloom${name}Pch PRIVATE ${arg_LINK})
  if(arg_DEPENDS)
    add_dependencies(Meshloom${name}Pch ${arg_DEPENDS})
  endif()
endfunction()

# meshloom_add_pch_pair(Name TestName HEADERS <a> ... [OPTIONS option ...] [DEPENDS
# target ...]) makes the header Name, for libraries and programs that have these
# options, and where there are tests the same with GoogleTest as TestName, for them.
# With sanitizers, where libraries are compiled as tests are, they are one header.
function(meshloom_add_pch_pair name test_name)
  cmake_parse_arguments(arg "" "" "HEADERS;OPTIONS;DEPENDS" ${ARGN})
  if(MESHLOOM_BUILD_TESTS)
    meshloom_add_pch(${test_name} HEADERS ${arg_HEADERS} <gtest/gtest.h> <gmock/gmock.h>
                     OPTIONS ${MESHLOOM_TEST_OPTIONS}
                     LINK fmt::fmt GTest::gtest GTest::gmock
                     DEPENDS ${arg_DEPENDS})
    if(MESHLOOM_SANITIZERS)
      add_library(Meshloom${name}Pch ALIAS Meshloom${test_name}Pch)
      return()
    endif()
  endif()
  meshloom_add_pch(${name} HEADERS ${arg_HEADERS} OPTIONS ${arg_OPTIONS}
                   LINK fmt::fmt DEPENDS ${arg_DEPENDS})
endfunction()

# The precompiled headers: of what has nothing of MLIR (Plain), of what includes
# MLIR and our dialects' generated classes (Mlir), of programs that see what a user
# sees (Api), and of the tests of each, with GoogleTest.
function(meshloom_add_all_pch)
  set(plain <algorithm> <array> <cstdint> <functional> <map> <memory> <numeric>
      <optional> <string> <string_view> <variant> <vector>
      <fmt/format.h> <fmt/ranges.h>)
  set(mlir <mlir/IR/Builders.h> <mlir/IR/BuiltinOps.h> <mlir/IR/BuiltinTypes.h>
      <mlir/IR/DialectImplementation.h> <mlir/IR/OpImplementation.h>
      <mlir/IR/PatternMatch.h> <mlir/IR/Matchers.h>
      <mlir/Dialect/Func/IR/FuncOps.h> <mlir/Dialect/Arith/IR/Arith.h>
      <mlir/Pass/Pass.h> <mlir/Pass/PassManager.h>
      <mlir/Interfaces/SideEffectInterfaces.h>
      <mlir/Interfaces/InferTypeOpInterface.h>
      <meshloom/Dialect/DTensor/DTensor.h> <meshloom/Dialect/SPMD/SPMD.h>
      <meshloom/Dialect/StableHLO/StableHLO.h>
      <map> <memory> <optional> <string> <string_view> <variant> <vector>)
  meshloom_add_pch_pair(Plain Test HEADERS ${plain} OPTIONS ${MESHLOOM_PLAIN_OPTIONS})
  if(MESHLOOM_ENABLE_COMPILER)
    meshloom_add_pch_pair(Mlir MlirTest HEADERS ${mlir} DEPENDS MeshloomDTensorIncGen
                          MeshloomSPMDIncGen MeshloomStableHLOIncGen)
    meshloom_add_pch_pair(Api ApiTest HEADERS ${plain} <meshloom/Meshloom.h>)
  endif()
endfunction()

# Compiles the files of a target 32 at a time, if MESHLOOM_UNITY_BUILD says so:
# for targets of many small files that include much alike. With eight, libraries
# took a tenth to a fifth more processor time; the largest unit takes 2.9 GB.
function(meshloom_unity target)
  set_target_properties(${target} PROPERTIES
    UNITY_BUILD ${MESHLOOM_UNITY_BUILD} UNITY_BUILD_BATCH_SIZE 32)
endfunction()

# meshloom_library(Name [MLIR] [API] [UNITY] [COLD] [HOT] [INLINED] SOURCES a.cpp ...
# LINK lib ... [DEPENDS target ...]) makes the library MeshloomName, a static one but
# where BUILD_SHARED_LIBS is set. MLIR: it includes MLIR's headers. API: it includes
# what a user sees, and is COLD. UNITY: see meshloom_unity. COLD: it is compiled quickly
# (MESHLOOM_COLD_OPTIONS). HOT: with sanitizers, where libraries cost more to
# optimise than to run, it is optimised all the same, as tests spend their time in it.
# INLINED: without MESHLOOM_MLIR_OPTIONS, as each op that is called at once goes
# through it. LINK states the layer table of docs/Architecture.md: only what a layer
# may include.
function(meshloom_library name)
  cmake_parse_arguments(arg "MLIR;API;UNITY;COLD;HOT;INLINED" ""
                        "SOURCES;LINK;DEPENDS" ${ARGN})
  add_library(Meshloom${name} ${arg_SOURCES})
  if(arg_UNITY)
    meshloom_unity(Meshloom${name})
  endif()
  if(arg_MLIR)
    target_precompile_headers(Meshloom${name} REUSE_FROM MeshloomMlirPch)
    target_link_libraries(Meshloom${name} PUBLIC MeshloomLLVM)
  elseif(arg_API)
    target_precompile_headers(Meshloom${name} REUSE_FROM MeshloomApiPch)
  else()
    target_compile_options(Meshloom${name} PRIVATE ${MESHLOOM_PLAIN_OPTIONS})
    if(arg_HOT AND MESHLOOM_SANITIZERS) # the header is for what is not optimised
      target_compile_options(Meshloom${name} PRIVATE -O1)
    else()
      target_precompile_headers(Meshloom${name} REUSE_FROM MeshloomPlainPch)
    endif()
  endif()
  if(NOT MESHLOOM_SANITIZERS)
    if(arg_COLD)
      target_compile_options(Meshloom${name} PRIVATE ${MESHLOOM_COLD_OPTIONS})
    elseif(arg_MLIR AND NOT arg_INLINED)
      target_compile_options(Meshloom${name} PRIVATE ${MESHLOOM_MLIR_OPTIONS})
    endif()
  endif()
  target_link_libraries(Meshloom${name} PUBLIC ${arg_LINK})
  if(arg_DEPENDS)
    add_dependencies(Meshloom${name} ${arg_DEPENDS})
  endif()
  set_property(GLOBAL APPEND PROPERTY MESHLOOM_LIBRARIES Meshloom${name})
endfunction()

# meshloom_tablegen(a.td Name kind ...): of each kind (Dialect, Attrs, Types, Enums,
# Ops) that a.td has of the dialect `name`, the declarations NameKind.h.inc and the
# definitions NameKind.cpp.inc, for add_public_tablegen_target.
function(meshloom_tablegen file name)
  set(LLVM_TARGET_DEFINITIONS ${file})
  string(TOLOWER ${name} dialect)
  set(Dialect dialect -dialect=${dialect})
  set(Attrs attrdef -attrdefs-dialect=${dialect})
  set(Types typedef -typedefs-dialect=${dialect})
  set(Enums enum)
  set(Ops op)
  foreach(kind ${ARGN})
    list(POP_FRONT ${kind} generator)
    mlir_tablegen(${name}${kind}.h.inc -gen-${generator}-decls ${${kind}})
    mlir_tablegen(${name}${kind}.cpp.inc -gen-${generator}-defs ${${kind}})
  endforeach()
  set(TABLEGEN_OUTPUT ${TABLEGEN_OUTPUT} PARENT_SCOPE)
endfunction()

# meshloom_protobuf(Name [GRPC] a.proto ...): the library MeshloomName has the
# messages of these files, as "a.pb.h" in its sources, and with GRPC their services
# too, as "a.grpc.pb.h". Files have names of their own in the whole project: their
# messages are registered in the process.
function(meshloom_protobuf name)
  cmake_parse_arguments(arg "GRPC" "" "" ${ARGN})
  set(proto ${CMAKE_CURRENT_BINARY_DIR}/proto)
  file(MAKE_DIRECTORY ${proto})
  foreach(file ${arg_UNPARSED_ARGUMENTS})
    get_filename_component(stem ${file} NAME_WE)
    get_filename_component(folder ${CMAKE_CURRENT_SOURCE_DIR}/${file} DIRECTORY)
    set(sources ${proto}/${stem}.pb.cc)
    set(headers ${proto}/${stem}.pb.h)
    set(services "")
    if(arg_GRPC)
      list(APPEND sources ${proto}/${stem}.grpc.pb.cc)
      list(APPEND headers ${proto}/${stem}.grpc.pb.h)
      set(services --grpc_out ${proto}
                   --plugin=protoc-gen-grpc=$<TARGET_FILE:gRPC::grpc_cpp_plugin>)
    endif()
    add_custom_command(
      OUTPUT ${sources} ${headers}
      COMMAND protobuf::protoc --cpp_out ${proto} ${services}
              -I ${folder} ${CMAKE_CURRENT_SOURCE_DIR}/${file}
      DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${file} VERBATIM)
    set_source_files_properties(${sources} PROPERTIES
      SKIP_PRECOMPILE_HEADERS ON COMPILE_OPTIONS -w)
    target_sources(Meshloom${name} PRIVATE ${sources} ${headers})
  endforeach()
  target_include_directories(Meshloom${name} SYSTEM PRIVATE ${proto})
  target_link_libraries(Meshloom${name} PUBLIC protobuf::libprotobuf)
  if(arg_GRPC)
    # Not how it is compiled: abseil's -pthread would not fit the precompiled header.
    target_link_libraries(Meshloom${name} PUBLIC $<LINK_ONLY:gRPC::grpc++>)
  endif()
endfunction()

# meshloom_tool(name [MLIR] SOURCES a.cpp ... LINK lib ...): a program of tools/,
# compiled as one unit (see meshloom_unity). MLIR: it includes MLIR's headers.
function(meshloom_tool name)
  cmake_parse_arguments(arg "MLIR" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  meshloom_unity(${name})
  if(arg_MLIR)
    meshloom_executable_uses_pch(${name} MeshloomMlirPch)
  else()
    meshloom_executable_uses_pch(${name} MeshloomPlainPch)
    target_compile_options(${name} PRIVATE ${MESHLOOM_PLAIN_OPTIONS})
  endif()
  target_link_libraries(${name} PRIVATE ${arg_LINK})
endfunction()

# Builds every program of tests that have the label unit, and nothing else. They
# run under the sanitizers, as they need no other program, and take seconds.
add_custom_target(unit-tests)

# The programs and shared libraries of a folder and those below it.
function(meshloom_programs folder result)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  set(programs "")
  foreach(target ${targets})
    get_target_property(type ${target} TYPE)
    if(type MATCHES "EXECUTABLE|SHARED_LIBRARY|MODULE_LIBRARY")
      list(APPEND programs ${target})
    endif()
  endforeach()
  foreach(below ${folders})
    meshloom_programs(${below} more)
    list(APPEND programs ${more})
  endforeach()
  set(${result} ${programs} PARENT_SCOPE)
endfunction()

# Makes the target all-but-unit-tests, of all that the project has so far.
function(meshloom_add_all_but_unit_tests)
  meshloom_programs(${PROJECT_SOURCE_DIR} programs)
  get_target_property(unit_tests unit-tests MANUALLY_ADDED_DEPENDENCIES)
  list(REMOVE_ITEM programs ${unit_tests})
  add_custom_target(all-but-unit-tests DEPENDS ${programs})
endfunction()

# Lets an executable use a precompiled header, which is compiled with -fPIC
# (CMake gives executables -fPIE, and clang insists on the same).
function(meshloom_executable_uses_pch name pch)
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${name} PRIVATE -fPIC)
  target_precompile_headers(${name} REUSE_FROM ${pch})
endfunction()

# Lets all that is built in a folder see what a user sees without reading it each
# time.
function(meshloom_folder_uses_api_pch folder)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target ${targets})
    meshloom_executable_uses_pch(${target} MeshloomApiPch)
  endforeach()
endfunction()

# Compiles a target as a part of tests: quickly.
function(meshloom_test_code target pch)
  meshloom_executable_uses_pch(${target} ${pch})
  # Ops are called to see them refuse.
  target_compile_options(${target} PRIVATE -Wno-unused-result
                                           ${MESHLOOM_TEST_OPTIONS})
endfunction()

# meshloom_test(name [MLIR] [API] [UNITY] [SANITIZED_QUICKLY] [LABEL label]
# [SHARDS n] [COST seconds] SOURCES a.cpp ... [LONG b.cpp ... [LONG_COST seconds]]
# LINK lib ...): a GoogleTest program, one ctest entry (one process: starting MLIR
# costs more than the tests). MLIR, API: it includes MLIR's headers, or a user's.
# UNITY: see meshloom_unity. SANITIZED_QUICKLY: see meshloom_test_environment.
# LABEL: default unit. SHARDS: so many ctest entries, name-1 to name-n, each of every
# n-th test, so that all cores have their part of a program that takes minutes. COST: see
# test/CMakeLists.txt. LONG: tests that run the same code thousands of times, or
# compare the numbers that long lists of functions give: minutes under sanitizers,
# which find there what they find in the others. A program of their own, name-long,
# with the label long and LONG_COST, which is not made with sanitizers.
function(meshloom_test name)
  cmake_parse_arguments(arg "MLIR;API;UNITY;SANITIZED_QUICKLY"
                        "LABEL;SHARDS;COST;LONG_COST" "SOURCES;LONG;LINK" ${ARGN})
  set(environment "")
  if(arg_SANITIZED_QUICKLY)
    list(APPEND environment QUICKLY)
  endif()
  if(arg_MLIR)
    list(APPEND environment OPTIMIZED_KERNELS)
  endif()
  if(NOT arg_LABEL)
    set(arg_LABEL unit)
  endif()
  if(arg_LONG AND NOT MESHLOOM_SANITIZERS)
    set(options LABEL long COST "${arg_LONG_COST}"
                SOURCES ${arg_LONG} LINK ${arg_LINK})
    foreach(option MLIR API UNITY)
      if(arg_${option})
        list(PREPEND options ${option})
      endif()
    endforeach()
    meshloom_test(${name}-long ${options})
  endif()
  add_executable(${name} ${arg_SOURCES})
  if(arg_UNITY)
    meshloom_unity(${name})
  endif()
  if(arg_MLIR)
    meshloom_test_code(${name} MeshloomMlirTestPch)
  elseif(arg_API)
    meshloom_test_code(${name} MeshloomApiTestPch)
  else()
    meshloom_test_code(${name} MeshloomTestPch)
  endif()
  target_link_libraries(${name} PRIVATE ${arg_LINK} GTest::gtest GTest::gmock
                        GTest::gtest_main)
  # The linker takes the first of equal functions, such as members of std::string: those
  # of an optimised library, and not those of tests.
  if(NOT MESHLOOM_SANITIZERS AND NOT BUILD_SHARED_LIBS)
    target_link_options(${name} PRIVATE
      LINKER:--whole-archive,$<TARGET_FILE:MeshloomCore>,--no-whole-archive)
  endif()
  if(arg_LABEL STREQUAL unit)
    add_dependencies(unit-tests ${name})
  endif()
  if(NOT arg_SHARDS)
    meshloom_test_entry(${name} ${name} ${arg_LABEL} "${arg_COST}" ${environment})
    return()
  endif()
  foreach(number RANGE 1 ${arg_SHARDS})
    set(entry ${name}-${number})
    meshloom_test_entry(${entry} ${name} ${arg_LABEL} "${arg_COST}" ${environment})
    math(EXPR index "${number} - 1")
    set_property(TEST ${entry} APPEND PROPERTY ENVIRONMENT
                 GTEST_TOTAL_SHARDS=${arg_SHARDS} GTEST_SHARD_INDEX=${index})
  endforeach()
endfunction()

# One entry of meshloom_test.
function(meshloom_test_entry entry program label cost)
  add_test(NAME ${entry} COMMAND ${program})
  set_tests_properties(${entry} PROPERTIES LABELS ${label})
  if(cost)
    set_tests_properties(${entry} PROPERTIES COST ${cost})
  endif()
  meshloom_test_environment(${entry} ${ARGN})
endfunction()

# meshloom_test_environment(name [QUICKLY] [OPTIMIZED_KERNELS]): the environment of a test.
# Kernels are compiled without optimisation, which halves the time of tests of layers.
# OPTIMIZED_KERNELS: it tests the compiler, whose passes for machine code run as well,
# on small kernels, too.
# Under sanitizers, by which kernels are not instrumented, QUICKLY: what a function had on
# its stack is not kept when it has returned, which takes a quarter of the time; tests of
# the same libraries that take less of it look for uses of that.
function(meshloom_test_environment name)
  if("OPTIMIZED_KERNELS" IN_LIST ARGN)
    set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT MESHLOOM_INTERPRET_KERNELS=0)
  else()
    set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT MESHLOOM_OPTIMIZE_KERNELS=0)
  endif()
  if(MESHLOOM_SANITIZERS)
    set(more "")
    if("QUICKLY" IN_LIST ARGN)
      set(more ":detect_stack_use_after_return=0")
    endif()
    # Containers and allocators pass between our code and libMLIR's, which is not
    # instrumented, moves their ends unseen, and uses memory that our side's
    # inline functions poisoned. A report names five callers of each allocation: all thirty
    # that it could name take a tenth of the tests' time.
    set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT
      "ASAN_OPTIONS=detect_container_overflow=0:allow_user_poisoning=0:malloc_context_size=5${more};UBSAN_OPTIONS=print_stacktrace=1;LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/test/leak.supp")
  endif()
endfunction()
