#include <megaup/comm/exchange.hpp>

#include <fmt/format.h>

#include <megaup/core/error.hpp>

namespace megaup::comm {

std::string_view name(Transport value) {
  constexpr std::string_view kNames[] = {"auto", "nccl", "nccl_window", "nccl_zero_cta", "copy_engine"};
  return kNames[static_cast<std::size_t>(value)];
}

void Exchange::assume_peers_arrived() {
  throw core::Error(core::ErrorKind::usage, "this exchange cannot run without its peers");
}

Exchange::Exchange(const ExchangeShape& shape) : shape_(shape), in_flight_(static_cast<std::size_t>(shape.slots)) {}

int Exchange::existing(int slot) const {
  if (slot < 0 || slot >= shape_.slots)
    throw core::Error(core::ErrorKind::cell, fmt::format("exchange: slot {} of {} does not exist", slot, shape_.slots));
  return slot;
}

void Exchange::start(int slot) {
  if (in_flight(existing(slot)))
    throw core::Error(core::ErrorKind::cell,
                      fmt::format("exchange: slot {} was started again before its finish", slot));
  in_flight_[static_cast<std::size_t>(slot)] = 1;
  do_start(slot);
}

void Exchange::finish(int slot) {
  if (!in_flight(existing(slot)))
    throw core::Error(core::ErrorKind::cell, fmt::format("exchange: slot {} is finished but was not started", slot));
  do_finish(slot);
  in_flight_[static_cast<std::size_t>(slot)] = 0;
}

}  // namespace megaup::comm
