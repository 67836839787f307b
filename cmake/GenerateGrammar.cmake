# planc_generate_grammar(NAME LEXER XLexer.g4 PARSER XParser.g4): runs the ANTLR
# tool and makes the static library NAME of what it writes. The headers are seen
# as "XLexer.h" and "XParser.h", their code lies in the namespace planc::grammar.
find_program(PLANC_ANTLR_TOOL NAMES antlr4 antlr)
if(PLANC_ANTLR_TOOL)
  set(PLANC_ANTLR_COMMAND ${PLANC_ANTLR_TOOL})
else()
  find_program(PLANC_JAVA java REQUIRED)
  find_file(PLANC_ANTLR_JAR NAMES antlr4-complete.jar antlr4.jar
            PATHS /usr/share/java /usr/local/share/java REQUIRED)
  # Debian's jar names what it needs in its manifest only in part.
  get_filename_component(jars ${PLANC_ANTLR_JAR} DIRECTORY)
  set(path ${PLANC_ANTLR_JAR} antlr4-runtime.jar stringtemplate4.jar
      antlr3-runtime.jar treelayout.jar)
  list(TRANSFORM path PREPEND ${jars}/ AT 1 2 3 4)
  list(JOIN path ":" path)
  set(PLANC_ANTLR_COMMAND ${PLANC_JAVA} -cp ${path} org.antlr.v4.Tool)
endif()

function(planc_generate_grammar name)
  cmake_parse_arguments(ARG "" "LEXER;PARSER" "" ${ARGN})
  get_filename_component(lexer ${ARG_LEXER} NAME_WE)
  get_filename_component(parser ${ARG_PARSER} NAME_WE)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/generated)
  file(MAKE_DIRECTORY ${out})
  set(flags -Dlanguage=Cpp -package planc::grammar -no-listener -no-visitor
      -o ${out} -lib ${out})
  add_custom_command(
    OUTPUT ${out}/${lexer}.h ${out}/${lexer}.cpp ${out}/${lexer}.tokens
    COMMAND ${PLANC_ANTLR_COMMAND} ${flags} ${ARG_LEXER}
    DEPENDS ${ARG_LEXER}
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
    COMMENT "ANTLR ${ARG_LEXER}" VERBATIM)
  add_custom_command(
    OUTPUT ${out}/${parser}.h ${out}/${parser}.cpp
    COMMAND ${PLANC_ANTLR_COMMAND} ${flags} ${ARG_PARSER}
    DEPENDS ${ARG_PARSER} ${out}/${lexer}.tokens
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
    COMMENT "ANTLR ${ARG_PARSER}" VERBATIM)
  add_library(${name} STATIC
    ${out}/${lexer}.cpp ${out}/${parser}.cpp
    ${out}/${lexer}.h ${out}/${parser}.h)
  set_target_properties(${name} PROPERTIES CXX_STANDARD 17)
  target_compile_options(${name} PRIVATE -w)
  target_include_directories(${name} SYSTEM PUBLIC ${out})
  target_link_libraries(${name} PUBLIC planc_antlr)
endfunction()

# planc_generate_combined_grammar(NAME X.g4): the same for words and rules in
# one file, seen as "XLexer.h" and "XParser.h".
function(planc_generate_combined_grammar name grammar)
  get_filename_component(stem ${grammar} NAME_WE)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/generated)
  file(MAKE_DIRECTORY ${out})
  set(sources ${out}/${stem}Lexer.h ${out}/${stem}Lexer.cpp
              ${out}/${stem}Parser.h ${out}/${stem}Parser.cpp)
  add_custom_command(
    OUTPUT ${sources}
    COMMAND ${PLANC_ANTLR_COMMAND} -Dlanguage=Cpp -package planc::grammar
            -no-listener -no-visitor -o ${out} ${grammar}
    DEPENDS ${grammar}
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
    COMMENT "ANTLR ${grammar}" VERBATIM)
  add_library(${name} STATIC ${sources})
  set_target_properties(${name} PROPERTIES CXX_STANDARD 17)
  target_compile_options(${name} PRIVATE -w)
  target_include_directories(${name} SYSTEM PUBLIC ${out})
  target_link_libraries(${name} PUBLIC planc_antlr)
endfunction()
