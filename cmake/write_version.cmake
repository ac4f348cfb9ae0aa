# Writes OUTPUT, the source of <megaup/core/version.hpp>, when the commit of SOURCE or its cleanness changed.
cmake_minimum_required(VERSION 3.25)
set(commit unknown)
find_program(git git)
if(git AND EXISTS ${SOURCE}/.git) # a repository around the source tree is not the source's own
  execute_process(COMMAND ${git} -C ${SOURCE} describe --always --abbrev=40 --exclude=* --dirty
                  OUTPUT_VARIABLE output RESULT_VARIABLE status ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(status EQUAL 0)
    set(commit ${output})
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT "// Written by cmake/write_version.cmake.
#include <megaup/core/version.hpp>

namespace megaup::core {
std::string_view version() { return \"@VERSION@\"; }
std::string_view git_commit() { return \"@commit@\"; }
} // namespace megaup::core
")
