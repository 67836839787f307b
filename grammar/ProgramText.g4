// Rank programs and their schedules as text; runtime/program/ProgramPrinter.cpp
// and runtime/sim/IssuePrinter.cpp say what the words and fields mean and write
// them. Flat on purpose: nothing nests, every
// decision looks at one token, and a field's sign belongs to its name, so that
// long programs are read fast.
grammar ProgramText;

whole
    : NEWLINE* head=(PROGRAM | SCHEDULE) name=TEXT fields+=field* OPEN
      items+=item* CLOSE NEWLINE* EOF
    ;

item
    : NEWLINE
    | kind=(BLOCK | CLASS) name=TEXT fields+=field* OPEN lines+=line* CLOSE
    ;

line
    : NEWLINE
    | word=WORD fields+=field* NEWLINE
    ;

field
    : key=KEY ( scalar=(WORD | NUMBER | QUANTITY | TEXT)
              | LBRACKET (values+=(NUMBER | PAIR)
                          (COMMA values+=(NUMBER | PAIR))*)? RBRACKET )
    ;

PROGRAM  : 'program' ;
SCHEDULE : 'schedule' ;
BLOCK    : 'block' ;
CLASS    : 'class' ;

KEY      : Word '=' ;
WORD     : Word ;
QUANTITY : Number Letter+ ;
NUMBER   : Number ;
PAIR     : [0-9]+ ':' [0-9]+ ;
TEXT     : '"' (~["\\\n] | '\\' ~'\n')* '"' ;
// Never closed; compiler/syntax says so.
OPEN_TEXT : '"' (~["\\\n] | '\\' ~'\n')* '\\'? ;

OPEN     : '{' ;
CLOSE    : '}' ;
LBRACKET : '[' ;
RBRACKET : ']' ;
COMMA    : ',' ;

NEWLINE : '\n' ;
SPACE   : [ \t\r]+ -> skip ;
COMMENT : '#' ~[\n]* -> skip ;
// Anything else; no rule takes it.
OTHER   : . ;

fragment Word   : Letter [A-Za-z0-9_-]* ;
fragment Number : '-'? [0-9]+ ;
fragment Letter : [A-Za-z_] ;
