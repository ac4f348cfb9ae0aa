# The program, the libraries with their headers, the shipped specs and models, and the package that find_package(megaup)
# reads. The commands of cli are no library for others: only the program that they make is installed.
include(CMakePackageConfigHelpers)

get_property(layers GLOBAL PROPERTY MEGAUP_LAYERS)
list(REMOVE_ITEM layers cli)
list(TRANSFORM layers PREPEND megaup_ OUTPUT_VARIABLE targets)
install(TARGETS ${targets} EXPORT megaup FILE_SET HEADERS)
install(TARGETS megaup)
install(EXPORT megaup NAMESPACE megaup:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/megaup FILE megaup-targets.cmake)
foreach(folder models specs machines)
  if(MEGAUP_ENABLE_RUN AND IS_DIRECTORY ${PROJECT_SOURCE_DIR}/experiments/${folder})
    install(DIRECTORY experiments/${folder} DESTINATION ${CMAKE_INSTALL_DATADIR}/megaup FILES_MATCHING PATTERN *.yaml)
  endif()
endforeach()
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

configure_package_config_file(cmake/megaup-config.cmake.in ${PROJECT_BINARY_DIR}/megaup-config.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/megaup)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/megaup-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/megaup-config.cmake ${PROJECT_BINARY_DIR}/megaup-config-version.cmake
              cmake/megaup_find_kokkos.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/megaup)
