# planc_embed_files(OUTPUT out.cpp FUNCTION name ROOT dir FILES …): one .cpp with
# `std::span<const EmbeddedFile> name()` over the files' bytes, named relative to
# ROOT, in the order given.
function(planc_embed_files)
  cmake_parse_arguments(ARG "" "OUTPUT;FUNCTION;ROOT" "FILES" ${ARGN})
  add_custom_command(
    OUTPUT ${ARG_OUTPUT}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${ARG_OUTPUT} -DFUNCTION=${ARG_FUNCTION}
            -DROOT=${ARG_ROOT} "-DFILES=${ARG_FILES}"
            -P ${PROJECT_SOURCE_DIR}/cmake/EmbedFilesScript.cmake
    DEPENDS ${ARG_FILES} ${PROJECT_SOURCE_DIR}/cmake/EmbedFilesScript.cmake
    VERBATIM)
endfunction()
