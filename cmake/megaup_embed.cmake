# Files that the program carries inside itself: the shipped specs and models, the report page.
#
#   megaup_embed(<target> <function> HEADER <include> NAMESPACE <ns> GLOB <pattern>...)
# adds to <target> a generated source that defines `std::span<const core::EmbeddedFile> <function>()`, with the files in
# the order of their names. <include> is the header that declares the function.
function(megaup_embed target function)
  cmake_parse_arguments(arg "" "HEADER;NAMESPACE" "GLOB" ${ARGN})
  file(GLOB files CONFIGURE_DEPENDS ${arg_GLOB})
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${function}.cpp)
  set(list ${CMAKE_CURRENT_BINARY_DIR}/${function}.list)
  file(CONFIGURE OUTPUT ${list} CONTENT "${files}" @ONLY) # a dependency: a removed file must drop out of the program
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -D OUTPUT=${output} -D FUNCTION=${function} -D NAMESPACE=${arg_NAMESPACE}
            -D HEADER=${arg_HEADER} -D LIST=${list} -P ${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake
    DEPENDS ${files} ${list} ${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake
    COMMENT "Embedding the files of ${arg_NAMESPACE}::${function}"
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
