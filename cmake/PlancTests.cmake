# What the folders under tests/ share.
find_package(Python3 REQUIRED COMPONENTS Interpreter)

# Raw data published elsewhere, which a test may compare with but which does not
# live in this repository. Unset: a folder `reference` beside the checkout, or
# in one of the folders beside it.
if(DEFINED ENV{PLANC_REFERENCE})
  set(reference $ENV{PLANC_REFERENCE})
else()
  file(GLOB found LIST_DIRECTORIES true ${PROJECT_SOURCE_DIR}/../reference
       ${PROJECT_SOURCE_DIR}/../*/reference)
  set(reference "")
  if(found)
    list(GET found 0 reference)
  endif()
endif()
set(PLANC_REFERENCE "${reference}" CACHE PATH "raw data that tests compare with")

# planc_reference_test(NAME FILES a.csv … COMMAND …): a test that reads FILES
# below PLANC_REFERENCE, which the command finds in its environment under that
# name. Where one of them is absent the test is skipped, and says which.
function(planc_reference_test name)
  cmake_parse_arguments(ARG "" "" "FILES;COMMAND" ${ARGN})
  add_test(NAME ${name} COMMAND
    ${CMAKE_COMMAND} -E env PLANC_REFERENCE=${PLANC_REFERENCE}
    ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/cmake/RunIfPresent.py
    ${ARG_FILES} -- ${ARG_COMMAND})
  set_tests_properties(${name} PROPERTIES
    LABELS reference SKIP_RETURN_CODE 77
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
endfunction()
