# A table of the rows that leaves or commands define, as a generated source. Rows are only declared here, so a row that
# no file defines is a link error, and nothing registers itself before main.
#
#   megaup_table(<target> <function> HEADER <include> NAMESPACE <ns> TYPE <type> [CUDA] ROWS <variable>...)
#     std::span<const <type>* const> <function>(); CUDA: the header is for the CUDA compiler
#   megaup_absent_table(<target> <function> HEADER <include> NAMESPACE <ns> TYPE <type> ENTRIES "name|reason"...)
#     std::span<const <type>> <function>(), <type> being an aggregate of two std::string_view: name, reason
function(megaup_table target function)
  cmake_parse_arguments(arg "CUDA" "HEADER;NAMESPACE;TYPE" "ROWS" ${ARGN})
  set(extension cpp)
  if(arg_CUDA)
    set(extension cu)
  endif()
  set(declarations "")
  set(entries "")
  foreach(row IN LISTS arg_ROWS)
    string(APPEND declarations "extern const ${arg_TYPE} ${row};\n")
    string(APPEND entries "&${row}, ")
  endforeach()
  if(arg_ROWS)
    set(body "    static constexpr const ${arg_TYPE}* kRows[] = {${entries}};\n    return kRows;\n")
  else()
    set(body "    return {};\n")
  endif()
  megaup_write_table(${target} ${function}.${extension} "${arg_HEADER}" "namespace ${arg_NAMESPACE} {
${declarations}
std::span<const ${arg_TYPE}* const> ${function}() {
${body}}
} // namespace ${arg_NAMESPACE}
")
endfunction()

function(megaup_absent_table target function)
  cmake_parse_arguments(arg "" "HEADER;NAMESPACE;TYPE" "ENTRIES" ${ARGN})
  set(entries "")
  foreach(entry IN LISTS arg_ENTRIES)
    string(REPLACE "|" "\", \"" entry "${entry}")
    string(APPEND entries "{\"${entry}\"}, ")
  endforeach()
  if(arg_ENTRIES)
    set(body "    static constexpr ${arg_TYPE} kEntries[] = {${entries}};\n    return kEntries;\n")
  else()
    set(body "    return {};\n")
  endif()
  megaup_write_table(${target} ${function}.cpp "${arg_HEADER}" "namespace ${arg_NAMESPACE} {
std::span<const ${arg_TYPE}> ${function}() {
${body}}
} // namespace ${arg_NAMESPACE}
")
endfunction()

function(megaup_write_table target name header text)
  set(file ${CMAKE_CURRENT_BINARY_DIR}/${name})
  set(MEGAUP_TABLE_TEXT "// Written by cmake/megaup_table.cmake.\n#include <${header}>\n\n#include <span>\n\n${text}")
  file(CONFIGURE OUTPUT ${file} CONTENT "@MEGAUP_TABLE_TEXT@" @ONLY) # rewritten only when it changes
  target_sources(${target} PRIVATE ${file})
endfunction()
