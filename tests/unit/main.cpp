// Catch2 2 compiles its main program here, once; Catch2 3 brings its own.
#if !__has_include(<catch2/catch_test_macros.hpp>)
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#endif
