# Everything planc is built on. Each is linked where it is used and nowhere
# else: LLVMSupport statically (the shared libLLVM registers options of its own
# in the embedder's process), ANTLR only in compiler/syntax.
find_package(LLVM REQUIRED CONFIG)
if(LLVM_VERSION_MAJOR LESS 14)
  message(FATAL_ERROR "LLVM 14 or later is needed, found ${LLVM_VERSION}")
endif()
llvm_map_components_to_libnames(PLANC_LLVM_LIBRARIES support)
add_library(planc_llvm INTERFACE)
target_include_directories(planc_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
target_compile_definitions(planc_llvm INTERFACE ${LLVM_DEFINITIONS_LIST})
target_link_libraries(planc_llvm INTERFACE ${PLANC_LLVM_LIBRARIES})

find_package(fmt REQUIRED CONFIG)
add_library(planc_fmt INTERFACE)
target_link_libraries(planc_fmt INTERFACE fmt::fmt)

# The ANTLR runtime: found by hand, because its CMake package is of another shape
# in every release.
find_path(PLANC_ANTLR_INCLUDE antlr4-runtime.h PATH_SUFFIXES antlr4-runtime
          REQUIRED)
find_library(PLANC_ANTLR_LIBRARY antlr4-runtime REQUIRED)
add_library(planc_antlr INTERFACE)
target_include_directories(planc_antlr SYSTEM INTERFACE ${PLANC_ANTLR_INCLUDE})
target_link_libraries(planc_antlr INTERFACE ${PLANC_ANTLR_LIBRARY})
