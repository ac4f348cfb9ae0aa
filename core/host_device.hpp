#pragma once
/// MEGAUP_HD marks index arithmetic that host code, device code, allocators and tests share. It is empty outside a CUDA compiler.
#if defined(__CUDACC__)
#define MEGAUP_HD __host__ __device__
#else
#define MEGAUP_HD
#endif
