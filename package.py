# The Spack recipe, used from a checkout: put this file into packages/megaup/ of a repository of your own, then
#   spack dev-build --source-path <checkout> megaup@0.1.0
# `+cuda` was not tried with Spack: it needs versions of CUTLASS and NCCL that are newer than those of many repositories.
from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Megaup(CMakePackage):
    """Measures fused against native GEMM and all-to-all of Ulysses context parallelism, and tells how much time the fused
    way leaves for everything else."""

    license("Apache-2.0")

    version("0.1.0")

    variant("run", default=True, description="Build the measuring layers; without them results can be read only")
    variant("mpi", default=True, when="+run", description="Build the mpi communicator")
    variant("cuda", default=False, when="+run", description="Build the arms for NVIDIA GPUs")
    variant("cuda_arch", default="90a", values=("90a", "100a"), multi=True, when="+cuda", description="Hopper, Blackwell")
    variant("shared", default=False, description="Build the layers as shared libraries")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")

    depends_on("hdf5@1.10.8: ~mpi +hl")
    depends_on("fmt@9:")
    depends_on("cli11@2.1:", type="build")
    depends_on("nlohmann-json@3.11:", type="build")
    with when("+run"):
        depends_on("yaml-cpp@0.7:")
        depends_on("openssl")
        depends_on("kokkos@3.4:")
        depends_on("onednn@2.6: cpu_runtime=omp")
    with when("+cuda"):
        depends_on("cuda@13:")
        depends_on("nccl@2.28:")
        depends_on("cutlass@4.2:")
    depends_on("mpi@3.1:", when="+mpi")
    depends_on("catch2@3:", type="test")
    for module in ("py-h5py", "py-numpy", "py-xarray"):
        depends_on(module, type="test")

    generator("ninja")

    def cmake_args(self):
        cuda = []
        if self.spec.satisfies("+cuda"):
            targets = self.spec.variants["cuda_arch"].value
            cuda = [
                self.define("CMAKE_CUDA_ARCHITECTURES", [f"{target}-real" for target in targets]),
                self.define("CUTLASS_ROOT", self.spec["cutlass"].prefix),
            ]
        return cuda + [
            self.define_from_variant("MEGAUP_ENABLE_CUDA", "cuda"),
            self.define_from_variant("MEGAUP_ENABLE_RUN", "run"),
            self.define_from_variant("MEGAUP_ENABLE_MPI", "mpi"),
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define("MEGAUP_ENABLE_TESTS", self.run_tests),
        ]
