#include <megaup/core/student_t.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
using namespace megaup::core;

TEST_CASE("Student's t distribution has the values of scipy.stats.t.cdf") {
  struct Known {
    std::int64_t degrees;
    double t, p;
  };
  for (const Known& known : {Known{1, 0.5, 0.6475836176504333},
                             {1, -3.0, 0.10241638234956672},
                             {1, 12.5, 0.9745893263338841},
                             {2, 1.0, 0.7886751345948129},
                             {2, 12.5, 0.9968303959482276},
                             {3, 2.0, 0.9303370157205785},
                             {3, -3.0, 0.028834442811218657},
                             {4, 0.5, 0.6783350184090684},
                             {6, 2.0, 0.9537868442341625},
                             {6, 12.5, 0.9999919862439287},
                             {7, -3.0, 0.009971063065996261},
                             {14, 1.0, 0.8328590283026713},
                             {30, -3.0, 0.002694982032825972},
                             {101, 2.0, 0.9759073943963046},
                             {998, -3.0, 0.0013834220060167865}}) {
    CAPTURE(known.degrees, known.t);
    CHECK_THAT(student_t_cdf(known.t, known.degrees), WithinAbs(known.p, 1e-13));
  }
  CHECK(student_t_cdf(0, 5) == 0.5);
}

TEST_CASE("Student's t quantiles are those of scipy.stats.t.ppf") {
  struct Known {
    std::int64_t degrees;
    double p, t;
  };
  for (const Known& known : {Known{1, 0.975, 12.706204736432095},
                             {2, 0.95, 2.919985580355516},
                             {2, 0.975, 4.302652729911275},
                             {2, 0.995, 9.92484320091807},
                             {3, 0.01, -4.540702858698421},
                             {4, 0.975, 2.7764451051977987},
                             {6, 0.95, 1.9431802803927816},
                             {6, 0.975, 2.4469118487916806},
                             {14, 0.975, 2.1447866879169273},
                             {30, 0.995, 2.7499956535670305},
                             {101, 0.95, 1.6600806303931508},
                             {998, 0.975, 1.9623438462163336},
                             {998, 0.01, -2.33009017083851}}) {
    CAPTURE(known.degrees, known.p);
    CHECK_THAT(student_t_quantile(known.p, known.degrees), WithinRel(known.t, 1e-8));
  }
}
