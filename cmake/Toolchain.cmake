# Language level, default build type, compiler cache, sanitizers.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "build type" FORCE)
endif()

find_program(PLANC_CCACHE ccache)
if(PLANC_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${PLANC_CCACHE})
endif()

# Durations are computed in double and rounded to whole picoseconds; a fused
# multiply-add would make the last bit depend on the machine.
add_compile_options(-ffp-contract=off)

# LLVM's export names libraries (Z3, zstd) that LLVMSupport hardly uses; loading
# them would cost every start of the tool.
add_link_options(-Wl,--as-needed)

# With assertions on, and optimised enough that the tests stay quick.
if(PLANC_SANITIZE)
  set(CMAKE_CXX_FLAGS_RELEASE "-O1")
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all
                      -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=address,undefined)
endif()
