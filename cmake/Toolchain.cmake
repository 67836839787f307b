# Language level, default build type, compiler cache and linker.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

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

if(PLANC_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all
                      -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=address,undefined)
endif()
