# planc_embed_files(OUTPUT out.cpp FUNCTION name ROOT dir FILES …): one .cpp with
# `std::span<const EmbeddedFile> name()` over the files' bytes, named relative to
# ROOT, in the order given. HEADER declares both, in NAMESPACE; by default those of
# the standard library.
function(planc_embed_files)
  cmake_parse_arguments(ARG "" "OUTPUT;FUNCTION;ROOT;HEADER;NAMESPACE" "FILES"
    ${ARGN})
  if(NOT ARG_HEADER)
    set(ARG_HEADER stdlib/EmbeddedFiles.h)
    set(ARG_NAMESPACE planc)
  endif()
  add_custom_command(
    OUTPUT ${ARG_OUTPUT}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${ARG_OUTPUT} -DFUNCTION=${ARG_FUNCTION}
            -DHEADER=${ARG_HEADER} -DNAMESPACE=${ARG_NAMESPACE} -DROOT=${ARG_ROOT} "-DFILES=${ARG_FILES}"
            -P ${PROJECT_SOURCE_DIR}/cmake/EmbedFilesScript.cmake
    DEPENDS ${ARG_FILES} ${PROJECT_SOURCE_DIR}/cmake/EmbedFilesScript.cmake
    VERBATIM)
endfunction()
