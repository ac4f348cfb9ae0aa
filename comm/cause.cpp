#include <megaup/comm/cause.hpp>

#include <exception>
#include <new>

namespace megaup::comm {

core::Error current_cause(int rank) {
  try {
    throw;
  } catch (const core::Error& error) {
    return core::Error(error.kind(), error.what(), error.rank() < 0 ? rank : error.rank());
  } catch (const std::bad_alloc&) {
    return core::Error(core::ErrorKind::environment, "out of memory: choose fewer tokens_per_rank or a smaller model",
                       rank);
  } catch (const std::exception& error) {
    return core::Error(core::ErrorKind::environment, error.what(), rank);
  } catch (...) {
    return core::Error(core::ErrorKind::environment, "an exception that is no std::exception", rank);
  }
}

}  // namespace megaup::comm
