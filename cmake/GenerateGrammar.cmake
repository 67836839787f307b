# planc_generate_grammar(NAME PlanLexer.g4 PlanParser.g4): runs the ANTLR tool and
# gives the generated sources in PLANC_<NAME>_SOURCES.
