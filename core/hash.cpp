#include <megaup/core/hash.hpp>

#include <array>
#include <cstddef>

#include <openssl/evp.h>

#include <megaup/core/error.hpp>

namespace megaup::core {

std::string sha256(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1)
    throw Error(ErrorKind::environment,
                "OpenSSL cannot compute SHA-256: check that its default provider is enabled (openssl list -providers)");
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(std::size_t{2} * size);
  for (unsigned i = 0; i < size; ++i) {
    text.push_back(kDigits[digest[i] >> 4]);
    text.push_back(kDigits[digest[i] & 15]);
  }
  return text;
}

}  // namespace megaup::core
