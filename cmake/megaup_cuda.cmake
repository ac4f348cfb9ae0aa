# CUDA sources of the layers. Included only with MEGAUP_ENABLE_CUDA; without it no CUDA compiler is looked for.
enable_language(CUDA)
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION) # CMake 3.25 does not know that CUDA 13 compiles C++20
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
  list(APPEND CMAKE_CUDA_COMPILE_FEATURES cuda_std_20)
endif()
find_package(CUDAToolkit 13.0 REQUIRED)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
find_path(MEGAUP_CUTLASS_INCLUDE cutlass/cutlass.h PATH_SUFFIXES include REQUIRED
          HINTS ${CUTLASS_ROOT} $ENV{CUTLASS_ROOT} ${PROJECT_SOURCE_DIR}/build/cutlass/cutlass_library/source
          DOC "Headers of CUTLASS >= 4.2; set CUTLASS_ROOT, or run scripts/install_dependencies --cuda")
set(MEGAUP_CUDA_KERNELS ".*" CACHE STRING
    "Regular expression: the fused kernels that are compiled (45 s each); what is left out is refused by name at run time")

# What every CUDA target needs. assert() in the library's main loop is a call, and a call makes ptxas run the tensor cores
# one instruction at a time (half the speed): NDEBUG always, and the note with which ptxas says so (C7510) is an error.
function(megaup_cuda_settings target)
  target_compile_features(${target} PRIVATE cuda_std_20)
  target_compile_definitions(${target} PRIVATE NDEBUG)
  # 554: a matrix of constants has, like any other, a conversion to a matrix of constants.
  target_compile_options(${target} PRIVATE
                         $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr --diag-suppress=554 -Xptxas=-v>)
  target_include_directories(${target} SYSTEM PRIVATE ${MEGAUP_CUTLASS_INCLUDE})
  target_include_directories(${target} PRIVATE ${MEGAUP_INCLUDE_ROOT})
  set(launcher ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/cmake/refuse_serialized_wgmma.py ${CMAKE_CUDA_COMPILER_LAUNCHER})
  set_target_properties(${target} PROPERTIES CUDA_COMPILER_LAUNCHER "${launcher}")
endfunction()

# Both kinds of CUDA files of a layer. *_sm90_cuda.cu and *_sm100_cuda.cu hold one kernel each, for the tensor cores of one
# architecture, and are left out where that is not among CMAKE_CUDA_ARCHITECTURES; the name before the ending is that of its
# row: push_c128x256_tn_sm90_cuda.cu defines push_c128x256_tn, a row of the table that ops/CMakeLists.txt makes of
# MEGAUP_KERNELS_push.
function(megaup_add_cuda_files target)
  set(kernels ${ARGN})
  list(FILTER kernels INCLUDE REGEX "_sm(90|100)_cuda\\.cu$")
  set(others ${ARGN})
  list(REMOVE_ITEM others ${kernels})
  if(others)
    megaup_add_cuda(${target} ${others})
  endif()
  foreach(kernel IN LISTS kernels)
    get_filename_component(row ${kernel} NAME)
    string(REGEX MATCH "_sm([0-9]+)_cuda\\.cu$" ending ${row})
    set(architecture ${CMAKE_MATCH_1})
    string(REPLACE ${ending} "" row ${row})
    if(NOT ${architecture}a-real IN_LIST CMAKE_CUDA_ARCHITECTURES OR NOT row MATCHES "${MEGAUP_CUDA_KERNELS}")
      continue()
    endif()
    string(REGEX REPLACE "_.*" "" family ${row})
    set_property(TARGET ${target} APPEND PROPERTY MEGAUP_KERNELS_${family} ${row})
    megaup_add_cuda(${target} SUFFIX sm${architecture} ARCHITECTURES ${architecture}a-real ${kernel})
  endforeach()
endfunction()

# A target of their own, as for Kokkos. No -lcuda: entry points of the driver are taken at run time, so that the program
# starts where there is none.
function(megaup_add_cuda target)
  cmake_parse_arguments(arg "" "SUFFIX;ARCHITECTURES" "" ${ARGN})
  set(objects ${target}_cuda)
  if(arg_SUFFIX)
    set(objects ${target}_${arg_SUFFIX}_cuda)
  endif()
  if(NOT TARGET ${objects})
    add_library(${objects} OBJECT)
    megaup_cuda_settings(${objects})
    get_property(layers TARGET ${target} PROPERTY MEGAUP_DEPENDS)
    target_link_libraries(${objects} PRIVATE CUDA::cudart_static CUDA::cublasLt ${layers})
    set_target_properties(${objects} PROPERTIES POSITION_INDEPENDENT_CODE ${BUILD_SHARED_LIBS})
    if(arg_ARCHITECTURES)
      set_target_properties(${objects} PROPERTIES CUDA_ARCHITECTURES ${arg_ARCHITECTURES})
    endif()
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${objects}>)
    target_link_libraries(${target} PRIVATE $<LINK_ONLY:CUDA::cudart_static> $<LINK_ONLY:CUDA::cublasLt>)
  endif()
  target_sources(${objects} PRIVATE ${arg_UNPARSED_ARGUMENTS})
endfunction()
