# Writes OUTPUT: a C++ source with the bytes of the files named in LIST. An array of characters and not a string literal,
# because compilers need not take literals above 64 KiB.
cmake_minimum_required(VERSION 3.25)
file(READ ${LIST} files)
set(arrays "")
set(entries "")
set(index 0)
foreach(path IN LISTS files)
  get_filename_component(name ${path} NAME)
  file(READ ${path} bytes HEX)
  string(LENGTH "${bytes}" length)
  math(EXPR length "${length} / 2")
  string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}") # 16 bytes a line
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
  string(APPEND arrays "constexpr char kFile${index}[] = {\n${bytes}'\\0'};\n")
  string(APPEND entries "    {\"${name}\", std::string_view(kFile${index}, ${length})},\n")
  math(EXPR index "${index} + 1")
endforeach()

set(text "// Written by cmake/embed_files.cmake.\n#include <${HEADER}>\n\n#include <array>\n#include <span>\n\n")
string(APPEND text "namespace ${NAMESPACE} {\nnamespace {\n${arrays}")
string(APPEND text "constexpr std::array<core::EmbeddedFile, ${index}> kFiles{{\n${entries}}};\n} // namespace\n\n")
string(APPEND text "std::span<const core::EmbeddedFile> ${FUNCTION}() { return kFiles; }\n} // namespace ${NAMESPACE}\n")
file(WRITE ${OUTPUT} "${text}")
