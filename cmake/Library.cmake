# planc_library(NAME SOURCES a.cpp … DEPS planc_x …): one static library a
# folder, with warnings on. DEPS are public, so that a missing edge in the layer
# order does not link.
function(planc_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  if(ARG_SOURCES)
    add_library(${name} STATIC ${ARG_SOURCES})
    set(scope PUBLIC)
    planc_warnings(${name})
  else()
    add_library(${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(${name} ${scope} ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} ${scope} ${ARG_DEPS})
endfunction()

# -Wrestrict is off: g++ 12 reports `"literal" + std::string` (GCC bug 105651).
# -Wdangling-reference is off: g++ 13 and 14 report every reference got by a
# function that also took a temporary, whatever it refers to.
function(planc_warnings name)
  target_compile_options(${name} PRIVATE -Wall -Wextra -Wpedantic -Wshadow
    -Wconversion -Wno-sign-conversion -Wno-restrict -Wnon-virtual-dtor
    -Woverloaded-virtual)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU
      AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
    target_compile_options(${name} PRIVATE -Wno-dangling-reference)
  endif()
  if(PLANC_WERROR)
    target_compile_options(${name} PRIVATE -Werror)
  endif()
endfunction()
