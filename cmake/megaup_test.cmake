# Tests. Everything here does nothing when MEGAUP_ENABLE_TESTS is off.

# The *_test.cpp files that megaup_layer found, as one program a layer; each test case is a test of its own. They run in
# the root of the source tree, where they find tests/golden.
function(megaup_layer_tests name)
  get_property(tests TARGET megaup_${name} PROPERTY MEGAUP_TESTS)
  if(MEGAUP_ENABLE_TESTS AND tests)
    get_property(libraries TARGET megaup_${name} PROPERTY MEGAUP_LINK) # a test may write a damaged file, or call MPI itself
    megaup_catch_tests(megaup_${name}_tests LABEL ${name} SOURCES ${tests} LINK megaup::${name} ${libraries})
  endif()
endfunction()

# megaup_catch_tests(<target> LABEL <label> SOURCES <file>... [LINK <library>...])
function(megaup_catch_tests target)
  cmake_parse_arguments(arg "" "LABEL" "SOURCES;LINK" ${ARGN})
  set(environment "")
  if("MPI::MPI_CXX" IN_LIST arg_LINK) # may call MPI itself; slow unwinding is for those tests only
    set(environment ENVIRONMENT ASAN_OPTIONS=fast_unwind_on_malloc=0)
  endif()
  add_executable(${target} ${arg_SOURCES})
  megaup_warnings(${target})
  target_link_libraries(${target} PRIVATE ${arg_LINK} fmt::fmt nlohmann_json::nlohmann_json Catch2::Catch2WithMain)
  catch_discover_tests(${target} TEST_PREFIX "${arg_LABEL}." DISCOVERY_MODE PRE_TEST
                       WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
                       PROPERTIES LABELS ${arg_LABEL} TIMEOUT ${MEGAUP_TEST_TIMEOUT} ${environment})
endfunction()

# megaup_mpi_test(<test name> RANKS <n>... COMMAND <target or program> <argument>...)
# one test `<test name>.np<n>` for each number of ranks. The environment lets Open MPI run as root with more ranks than
# cores, and halves its start-up; other MPI libraries ignore it. The last variable is for cmake/lsan.supp.
function(megaup_mpi_test name)
  cmake_parse_arguments(arg "" "" "RANKS;COMMAND" ${ARGN})
  if(NOT MEGAUP_ENABLE_TESTS OR NOT MEGAUP_ENABLE_MPI)
    return()
  endif()
  list(POP_FRONT arg_COMMAND program)
  if(TARGET ${program})
    set(program $<TARGET_FILE:${program}>)
  endif()
  foreach(ranks IN LISTS arg_RANKS)
    add_test(NAME ${name}.np${ranks}
             COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} ${program} ${arg_COMMAND})
    set_tests_properties(${name}.np${ranks} PROPERTIES
      LABELS mpi PROCESSORS ${ranks} TIMEOUT ${MEGAUP_TEST_TIMEOUT} ENVIRONMENT "${MEGAUP_MPI_ENVIRONMENT}")
  endforeach()
endfunction()

set(MEGAUP_MPI_ENVIRONMENT
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
    OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader OMP_PROC_BIND=false
    ASAN_OPTIONS=fast_unwind_on_malloc=0)

# megaup_script_test(<label> <script> [<argument>]): a Python or shell test of the program, <label>.<script>[_<argument>].
# It may end as skipped with status 77.
function(megaup_script_test label script)
  get_filename_component(name ${script} NAME_WE)
  string(REGEX REPLACE "_test$" "" name ${name})
  if(script MATCHES "\\.py$")
    set(interpreter ${MEGAUP_PYTHON})
  else()
    set(interpreter bash)
  endif()
  string(JOIN _ name ${name} ${ARGN})
  add_test(NAME ${label}.${name} COMMAND ${interpreter} ${script} ${ARGN})
  set_tests_properties(${label}.${name} PROPERTIES
    LABELS ${label} TIMEOUT ${MEGAUP_TEST_TIMEOUT} SKIP_RETURN_CODE 77 PROCESSORS 2
    ENVIRONMENT_MODIFICATION PYTHONPATH=path_list_prepend:${PROJECT_SOURCE_DIR}/build/python # scripts/install_dependencies
    ENVIRONMENT "MEGAUP=$<TARGET_FILE:megaup>;MEGAUP_SOURCE=${PROJECT_SOURCE_DIR};${MEGAUP_MPI_ENVIRONMENT}")
endfunction()
