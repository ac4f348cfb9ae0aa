#pragma once

#include <megaup/core/error.hpp>

namespace megaup::comm {

/// The exception that is being handled, as the Error that launch() reports for `rank`: an Error keeps its kind and
/// text; memory that ran out and foreign exceptions become Error{environment}. Call it inside a catch block only.
core::Error current_cause(int rank);

}  // namespace megaup::comm
