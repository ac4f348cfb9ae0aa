#include <megaup/core/hash.hpp>

#include <string>

#include <catch2/catch_test_macros.hpp>

using megaup::core::sha256;

TEST_CASE("SHA-256 of the standard's examples (FIPS 180-4)") {
  CHECK(sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(sha256(std::string(1000000, 'a')) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("SHA-256 takes null bytes and high bytes as bytes") {
  CHECK(sha256(std::string(1, '\0')) == "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d");
  CHECK(sha256("\xff") == "a8100ae6aa1940d0b663bb31cd466142ebbdbd5187131b92d93818987832eb89");
}
