# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Run at install time: installs the headers that a user's program reaches from
# meshloom/Meshloom.h, and from those that it includes where it needs them
# (scripts/check_includes.py: USERS_CORE), and no others.
#
#   MESHLOOM_INCLUDE      the folder that has meshloom/Meshloom.h
#   MESHLOOM_DESTINATION  where it is installed, below the prefix

cmake_minimum_required(VERSION 3.25)
set(queue meshloom/Meshloom.h meshloom/Fmt/Formatters.h
    meshloom/Core/Compiled.h meshloom/Core/MachineModel.h meshloom/Core/Profile.h)
set(reached ${queue})
while(queue)
  list(POP_FRONT queue header)
  cmake_path(GET header PARENT_PATH folder)
  file(INSTALL ${MESHLOOM_INCLUDE}/${header}
       DESTINATION "${CMAKE_INSTALL_PREFIX}/${MESHLOOM_DESTINATION}/${folder}")
  file(STRINGS ${MESHLOOM_INCLUDE}/${header} lines
       REGEX "^#include [<\"]meshloom/")
  foreach(line ${lines})
    string(REGEX REPLACE ".*[<\"](meshloom/[^>\"]+)[>\"].*" "\\1" next "${line}")
    if(NOT next IN_LIST reached)
      list(APPEND reached ${next})
      list(APPEND queue ${next})
    endif()
  endforeach()
endwhile()
