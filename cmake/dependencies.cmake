# What a build needs from outside. One place, so that the exported package asks for the same things.
set(HDF5_PREFER_PARALLEL OFF) # records are written by one process; the serial library opens without MPI
find_package(HDF5 1.10.8 REQUIRED COMPONENTS C HL)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto) # SHA-256 of specs and results
find_package(Threads REQUIRED)

if(MEGAUP_ENABLE_RUN)
  find_package(yaml-cpp REQUIRED)
  if(NOT TARGET yaml-cpp::yaml-cpp) # the name is new in yaml-cpp 0.8
    add_library(yaml-cpp::yaml-cpp ALIAS yaml-cpp)
  endif()
  include(megaup_find_kokkos)
  find_package(dnnl REQUIRED)
  find_package(OpenMP REQUIRED COMPONENTS CXX)
endif()
if(MEGAUP_ENABLE_MPI)
  set(MPI_CXX_SKIP_MPICXX ON) # the C interface only: the C++ bindings left MPI 3
  find_package(MPI 3.1 REQUIRED COMPONENTS CXX)
endif()

if(MEGAUP_ENABLE_TESTS)
  # The first python3 of the PATH that can read a result; another may come first there.
  function(megaup_reads_hdf5 result candidate)
    execute_process(COMMAND ${candidate} -c "import h5py, numpy" RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
    if(NOT status EQUAL 0)
      set(${result} FALSE PARENT_SCOPE)
    endif()
  endfunction()
  find_program(MEGAUP_PYTHON NAMES python3 VALIDATOR megaup_reads_hdf5 REQUIRED
               DOC "A Python with h5py and numpy, for the tests (Debian: python3-h5py)")
  find_package(Catch2 3 QUIET)
  if(NOT Catch2_FOUND)
    message(STATUS "Catch2 v3 is not installed: fetching its source")
    include(FetchContent)
    FetchContent_Declare(Catch2 GIT_REPOSITORY https://github.com/catchorg/Catch2.git GIT_TAG v3.7.1 GIT_SHALLOW ON)
    FetchContent_MakeAvailable(Catch2)
    list(APPEND CMAKE_MODULE_PATH ${catch2_SOURCE_DIR}/extras)
  endif()
  include(Catch)
endif()
