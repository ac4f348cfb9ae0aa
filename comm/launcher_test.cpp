#include <map>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <megaup/comm/backend.hpp>
#include <megaup/comm/launcher.hpp>

namespace megaup::comm {
namespace {

using Catch::Matchers::ContainsSubstring;

Environment variables(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const char* name) -> const char* {
    const auto found = values.find(name);
    return found == values.end() ? nullptr : found->second.c_str();
  };
}

TEST_CASE("no launcher, or one that agrees with MPI, is no mismatch") {
  CHECK_FALSE(launcher_mismatch(variables({}), 1));
  CHECK_FALSE(launcher_mismatch(variables({{"OMPI_COMM_WORLD_SIZE", "4"}}), 4));
  CHECK_FALSE(launcher_mismatch(variables({{"PMI_SIZE", "4"}, {"SLURM_NTASKS", "4"}}), 4));
  CHECK_FALSE(launcher_mismatch(variables({{"SLURM_NTASKS", "4"}, {"SLURM_STEP_NUM_TASKS", "4"}}), 4));
  CHECK_FALSE(launcher_mismatch(variables({{"SLURM_NTASKS", "1"}}), 1));
}

TEST_CASE("mpirun may use fewer tasks than its Slurm allocation, and so may a step") {
  CHECK_FALSE(launcher_mismatch(variables({{"OMPI_COMM_WORLD_SIZE", "2"}, {"SLURM_NTASKS", "8"}}), 2));
  CHECK_FALSE(launcher_mismatch(variables({{"SLURM_NTASKS", "8"}, {"SLURM_STEP_NUM_TASKS", "1"}}), 1));
}

TEST_CASE("a Slurm step whose tasks each see an MPI world of 1 is a mismatch with the hint") {
  const auto reason =
      launcher_mismatch(variables({{"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "4"}}), 1);
  REQUIRE(reason);
  CHECK_THAT(*reason, ContainsSubstring("SLURM_NTASKS=4 with an MPI world of 1"));
  CHECK_THAT(*reason, ContainsSubstring("--mpi=pmix"));
}

TEST_CASE("a Slurm allocation without a step is a mismatch whose reason says how to have threads") {
  const auto reason = launcher_mismatch(variables({{"SLURM_NTASKS", "4"}}), 1);
  REQUIRE(reason);
  CHECK_THAT(*reason, ContainsSubstring("SLURM_NTASKS=4 with an MPI world of 1"));
  CHECK_THAT(*reason, ContainsSubstring("--mpi=pmix"));
  CHECK_THAT(*reason, ContainsSubstring("communicator: threads"));
}

TEST_CASE("a launcher of another MPI library is a mismatch") {
  const auto reason = launcher_mismatch(variables({{"PMI_SIZE", "4"}, {"SLURM_STEP_NUM_TASKS", "4"}}), 1);
  REQUIRE(reason);
  CHECK_THAT(*reason, ContainsSubstring("PMI_SIZE=4"));
}

TEST_CASE("variables that hold no plain count say nothing") {
  for (const char* value : {"", "4x", "-4", "0", "2(x3)", "99999999999999999999"})
    CHECK_FALSE(launcher_mismatch(variables({{"SLURM_NTASKS", value}}), 1));
}

TEST_CASE("only a process that was started together with others must not make its own ranks") {
  CHECK_FALSE(several_processes(variables({})));
  CHECK_FALSE(several_processes(variables({{"SLURM_NTASKS", "4"}})));  // a batch script that starts one process
  CHECK_FALSE(several_processes(variables({{"OMPI_COMM_WORLD_SIZE", "1"}, {"SLURM_STEP_NUM_TASKS", "1"}})));
  CHECK_FALSE(several_processes(variables({{"OMPI_COMM_WORLD_SIZE", "1"}, {"SLURM_STEP_NUM_TASKS", "4"}})));
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    const auto reason = several_processes(variables({{name, "4"}}));
    REQUIRE(reason);
    CHECK_THAT(*reason, ContainsSubstring(name));
    CHECK_THAT(*reason, ContainsSubstring("communicator: mpi"));
  }
}

}  // namespace
}  // namespace megaup::comm
