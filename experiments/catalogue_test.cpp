#include <catch2/catch_test_macros.hpp>

#include <megaup/core/error.hpp>
#include <megaup/core/problem.hpp>
#include <megaup/experiments/catalogue.hpp>
#include <megaup/experiments/embedded.hpp>

using namespace megaup;
using namespace megaup::experiments;

TEST_CASE("every shipped model is well formed and runs at CP 2", "[catalogue]") {
  const auto models = catalogue();
  CHECK(models.size() == embedded_models().size());
  CHECK(models.size() >= 37);
  for (const auto& [name, m] : models) {
    INFO(name);
    const core::Problem p{
        .P = 2, .B = 1, .s = 2, .H = m.hidden, .Hq = m.query_heads, .Hk = m.kv_heads, .D = m.head_dim};
    CHECK_FALSE(core::refusal(p));
    CHECK(m.head_dim % 64 == 0);
  }
}

TEST_CASE("sizes of models with known tables", "[catalogue]") {
  const auto models = catalogue();
  CHECK(models.at("llama-3.1-405b") == Model{"llama-3.1-405b", 16384, 128, 8, 128});
  CHECK(models.at("qwen3-30b-a3b") == Model{"qwen3-30b-a3b", 2048, 32, 4, 128});
  CHECK(models.at("nemotron-3-ultra") == Model{"nemotron-3-ultra", 8192, 64, 2, 128});
  CHECK(models.at("gpt-3-175b") == Model{"gpt-3-175b", 12288, 96, 96, 128});
  CHECK(models.at("gpt-oss-120b").head_dim == 64);
}

TEST_CASE("a model file without a source is refused", "[catalogue]") {
  const std::string good =
      "name: m\nhidden: {value: 8, source: x}\nquery_heads: {value: 2, source: x}\nkv_heads: {value: 1, source: x}\n";
  CHECK(parse_catalogue_model(good + "head_dim: {value: 4, source: x}\n", "m.yaml") == Model{"m", 8, 2, 1, 4});
  const auto message = [&](const std::string& rest) -> std::string {
    try {
      parse_catalogue_model(good + rest, "m.yaml");
    } catch (const core::Error& error) {
      CHECK(error.kind() == core::ErrorKind::usage);
      return error.what();
    }
    return "";
  };
  CHECK(message("head_dim: {value: 4}\n").find("m.yaml:5:11: error: key 'source' is missing") != std::string::npos);
  CHECK(message("head_dim: 4\n").find("'head_dim' must be a map of keys, not '4'") != std::string::npos);
  CHECK(message("").find("key 'head_dim' is missing") != std::string::npos);
  CHECK(message("head_dim: {value: 4, source: x}\nhead_size: 1\n").find("unknown key 'head_size'") !=
        std::string::npos);
}
