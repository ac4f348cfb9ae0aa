# Layers and leaves. A file is added to the build by lying in the right folder under the right name (cmake/README.md).
#
#   megaup_layer(<name> [STATIC] [DEPENDS <layer>...] [LINK <library>...] [EXCLUDE <file>...])
# makes the library megaup_<name> (alias megaup::<name>) of the folder's *.cpp and of its leaves, and
# megaup_<name>_tests of the *_test.cpp. Libraries of LINK stay private: no public header may need them. STATIC keeps the
# layer static in a build of shared libraries.

set(MEGAUP_INCLUDE_ROOT ${PROJECT_BINARY_DIR}/include)
file(MAKE_DIRECTORY ${MEGAUP_INCLUDE_ROOT}/megaup)

function(megaup_layer name)
  cmake_parse_arguments(arg "STATIC" "" "DEPENDS;LINK;EXCLUDE" ${ARGN})
  # <megaup/core/x.hpp> finds core/x.hpp through a link, so that the sources need no folder of the project's name.
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${MEGAUP_INCLUDE_ROOT}/megaup/${name} SYMBOLIC)

  set(target megaup_${name})
  set(type "")
  if(arg_STATIC)
    set(type STATIC)
  endif()
  add_library(${target} ${type})
  add_library(megaup::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ${BUILD_SHARED_LIBS})
  target_compile_features(${target} PUBLIC cxx_std_20)
  megaup_warnings(${target})
  list(TRANSFORM arg_DEPENDS PREPEND megaup:: OUTPUT_VARIABLE layers)
  target_link_libraries(${target} PUBLIC ${layers} PRIVATE ${arg_LINK})
  set_property(TARGET ${target} PROPERTY MEGAUP_DEPENDS ${layers})
  set_property(TARGET ${target} PROPERTY MEGAUP_LINK ${arg_LINK})
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS ${MEGAUP_INCLUDE_ROOT})

  megaup_add_folder(${name} . EXCLUDE ${arg_EXCLUDE})
  file(GLOB leaves CONFIGURE_DEPENDS */CMakeLists.txt)
  foreach(leaf IN LISTS leaves)
    get_filename_component(leaf ${leaf} DIRECTORY)
    add_subdirectory(${leaf})
  endforeach()
  megaup_layer_tests(${name})
  set_property(GLOBAL APPEND PROPERTY MEGAUP_LAYERS ${name})
endfunction()

# megaup_leaf(<layer> <leaf> [REQUIRES <option>] [LINK <library>...] [ROWS|OPERATIONS|ARMS|CUDA_ARMS <name>...])
# adds the leaf's folder to its layer, and the names to the layer's tables. With MEGAUP_ENABLE_<option> off nothing of it
# is compiled, and the leaf is listed as absent together with the option's name. CUDA_ARMS are rows of *_cuda.cu files.
function(megaup_leaf layer leaf)
  cmake_parse_arguments(arg "" "REQUIRES" "LINK;ROWS;OPERATIONS;ARMS;CUDA_ARMS" ${ARGN})
  set(target megaup_${layer})
  if(arg_REQUIRES AND NOT MEGAUP_ENABLE_${arg_REQUIRES})
    set_property(TARGET ${target} APPEND PROPERTY MEGAUP_ABSENT
                 "${leaf}|this program was built with MEGAUP_ENABLE_${arg_REQUIRES}=OFF")
    return()
  endif()
  if(MEGAUP_ENABLE_CUDA)
    list(APPEND arg_ARMS ${arg_CUDA_ARMS})
  endif()
  foreach(table ROWS OPERATIONS ARMS)
    set_property(TARGET ${target} APPEND PROPERTY MEGAUP_${table} ${arg_${table}})
  endforeach()
  target_link_libraries(${target} PRIVATE ${arg_LINK})
  set_property(TARGET ${target} APPEND PROPERTY MEGAUP_LINK ${arg_LINK})
  megaup_add_folder(${layer} ${leaf})
endfunction()

# Adds the sources, headers and tests of one folder (the current one) to a layer.
function(megaup_add_folder layer folder)
  cmake_parse_arguments(arg "" "" "EXCLUDE" ${ARGN})
  set(target megaup_${layer})
  set(here ${CMAKE_CURRENT_SOURCE_DIR})
  file(GLOB sources CONFIGURE_DEPENDS ${here}/*.cpp)
  file(GLOB tests CONFIGURE_DEPENDS ${here}/*_test.cpp)
  file(GLOB kokkos CONFIGURE_DEPENDS ${here}/*_kokkos.cpp)
  file(GLOB without_cuda CONFIGURE_DEPENDS ${here}/*_without_cuda.cpp)
  file(GLOB headers CONFIGURE_DEPENDS RELATIVE ${here} ${here}/*.hpp)
  list(TRANSFORM arg_EXCLUDE PREPEND ${here}/ OUTPUT_VARIABLE excluded)
  list(REMOVE_ITEM sources ${tests} ${kokkos} ${excluded})
  if(MEGAUP_ENABLE_CUDA)
    list(REMOVE_ITEM sources ${without_cuda})
  endif()

  list(TRANSFORM headers PREPEND ${MEGAUP_INCLUDE_ROOT}/megaup/${layer}/${folder}/)
  list(TRANSFORM headers REPLACE "/\\./" "/")
  target_sources(${target} PRIVATE ${sources} PUBLIC FILE_SET HEADERS FILES ${headers})
  set_property(TARGET ${target} APPEND PROPERTY MEGAUP_TESTS ${tests})
  if(kokkos)
    megaup_add_kokkos(${target} ${kokkos})
  endif()
  file(GLOB cuda CONFIGURE_DEPENDS ${here}/*_cuda.cu)
  if(cuda AND MEGAUP_ENABLE_CUDA)
    megaup_add_cuda_files(${target} ${cuda})
  endif()
endfunction()

# Only these files see Kokkos. They are a target of their own because linking Kokkos may hand every file of a target to
# the CUDA compiler.
function(megaup_add_kokkos target)
  if(NOT TARGET ${target}_kokkos)
    add_library(${target}_kokkos OBJECT)
    megaup_warnings(${target}_kokkos)
    get_property(layers TARGET ${target} PROPERTY MEGAUP_DEPENDS)
    target_link_libraries(${target}_kokkos PRIVATE Kokkos::kokkos ${layers})
    target_include_directories(${target}_kokkos PRIVATE ${MEGAUP_INCLUDE_ROOT})
    set_target_properties(${target}_kokkos PROPERTIES POSITION_INDEPENDENT_CODE ${BUILD_SHARED_LIBS})
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${target}_kokkos>)
    target_link_libraries(${target} PRIVATE $<LINK_ONLY:Kokkos::kokkos>)
  endif()
  target_sources(${target}_kokkos PRIVATE ${ARGN})
endfunction()

# Private, so that they are never forced on whoever links the installed package. A designated initialiser may leave members
# to their defaults: g++ warns about that without telling members that have a default from those that have none. Its
# -Wrestrict is wrong about `"text" + string` in version 12.
function(megaup_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
                         -Wno-missing-field-initializers $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
endfunction()
