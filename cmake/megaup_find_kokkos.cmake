# Finds Kokkos for the build and, installed beside the package's config file, for whoever links the installed libraries.
find_package(Kokkos REQUIRED)
if(Kokkos_VERSION VERSION_LESS 3.4) # not in find_package: a Kokkos 4 or 5 refuses to stand in for 3.4
  message(FATAL_ERROR "Kokkos ${Kokkos_VERSION} at ${Kokkos_DIR} is too old: 3.4 or newer is needed (Kokkos_ROOT)")
endif()

# The Kokkos inside Debian's Trilinos names an include folder that does not exist, which CMake refuses, and keeps the right
# one in a variable only.
get_target_property(megaup_kokkos_folders Kokkos::kokkos INTERFACE_INCLUDE_DIRECTORIES)
set(megaup_kokkos_existing "")
foreach(folder IN LISTS megaup_kokkos_folders Kokkos_INCLUDE_DIRS)
  if(folder MATCHES "^\\$<" OR IS_DIRECTORY "${folder}")
    list(APPEND megaup_kokkos_existing "${folder}")
  endif()
endforeach()
set_target_properties(Kokkos::kokkos PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${megaup_kokkos_existing}")
