# CUDA sources of the layers. Included only with MEGAUP_ENABLE_CUDA; without it no CUDA compiler is looked for.
enable_language(CUDA)
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION) # CMake 3.25 does not know that CUDA 13 compiles C++20
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
  list(APPEND CMAKE_CUDA_COMPILE_FEATURES cuda_std_20)
endif()
find_package(CUDAToolkit 13.0 REQUIRED)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
find_path(MEGAUP_CUTLASS_INCLUDE cutlass/cutlass.h HINTS ${CUTLASS_ROOT} $ENV{CUTLASS_ROOT} PATH_SUFFIXES include REQUIRED
          DOC "Headers of CUTLASS >= 4.2; set CUTLASS_ROOT")

# What every CUDA target needs. assert() in the library's main loop is a call, and a call makes ptxas run the tensor cores
# one instruction at a time (half the speed): NDEBUG always, and the note with which ptxas says so (C7510) is an error.
function(megaup_cuda_settings target)
  target_compile_features(${target} PRIVATE cuda_std_20)
  target_compile_definitions(${target} PRIVATE NDEBUG)
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr -Xptxas=-v>)
  target_include_directories(${target} SYSTEM PRIVATE ${MEGAUP_CUTLASS_INCLUDE})
  target_include_directories(${target} PRIVATE ${MEGAUP_INCLUDE_ROOT})
  set(launcher ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/cmake/refuse_serialized_wgmma.py ${CMAKE_CUDA_COMPILER_LAUNCHER})
  set_target_properties(${target} PROPERTIES CUDA_COMPILER_LAUNCHER "${launcher}")
endfunction()

# A target of their own, as for Kokkos. No -lcuda: entry points of the driver are taken at run time, so that the program
# starts where there is none.
function(megaup_add_cuda target)
  if(NOT TARGET ${target}_cuda)
    add_library(${target}_cuda OBJECT)
    megaup_cuda_settings(${target}_cuda)
    get_property(layers TARGET ${target} PROPERTY MEGAUP_DEPENDS)
    target_link_libraries(${target}_cuda PRIVATE CUDA::cudart_static CUDA::cublasLt ${layers})
    set_target_properties(${target}_cuda PROPERTIES POSITION_INDEPENDENT_CODE ${BUILD_SHARED_LIBS})
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${target}_cuda>)
    target_link_libraries(${target} PRIVATE $<LINK_ONLY:CUDA::cudart_static> $<LINK_ONLY:CUDA::cublasLt>)
  endif()
  target_sources(${target}_cuda PRIVATE ${ARGN})
endfunction()
