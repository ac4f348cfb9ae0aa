// self and threads: every world is made anew for each body.
#include <megaup/comm/backend.hpp>
#include <megaup/tests/conformance/worlds.hpp>

namespace megaup::conformance {

std::vector<World> worlds() { return {{"self", 1}, {"threads", 1}, {"threads", 2}, {"threads", 4}, {"threads", 8}}; }

std::vector<ExchangeMaker> exchange_makers() {
  return {{"exchange", [](comm::Communicator& c, const comm::ExchangeShape& shape) { return c.exchange(shape); }}};
}

void on_ranks(const World& world, const Body& body) {
  comm::select_backend(world.backend).launch({.ranks = world.ranks}, body);
}

}  // namespace megaup::conformance
