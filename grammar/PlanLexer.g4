// Words of the .plan language. No actions, no predicates: what depends on more
// than one token (newlines inside brackets, brackets left open) is done by
// compiler/syntax/TokenFilter.
lexer grammar PlanLexer;

// Reserved: never names.
IF     : 'if' ;
THEN   : 'then' ;
ELSE   : 'else' ;
AND    : 'and' ;
OR     : 'or' ;
NOT    : 'not' ;
MOD    : 'mod' ;
TRUE_  : 'true' ;
FALSE_ : 'false' ;
RETURN : 'return' ;
REPEAT : 'repeat' ;
LET    : 'let' ;
IN_    : 'in' ;
AT     : 'at' ;
PER    : 'per' ;
OF     : 'of' ;
REST   : 'rest' ;

// Keywords where they stand, names everywhere else. Rule `name` of the parser
// lists them all; keep both in the same order.
LANGUAGE    : 'language' ;
IMPORT      : 'import' ;
AS          : 'as' ;
PARAM       : 'param' ;
ACCELERATOR : 'accelerator' ;
CLUSTER     : 'cluster' ;
LEVEL       : 'level' ;
BLOCK       : 'block' ;
OP          : 'op' ;
CONTRACTS   : 'contracts' ;
GATHERS     : 'gathers' ;
ORDER       : 'order' ;
SAVES       : 'saves' ;
MODEL       : 'model' ;
WEIGHT      : 'weight' ;
INPUT       : 'input' ;
PLAN        : 'plan' ;
FOR         : 'for' ;
ON          : 'on' ;
WITH        : 'with' ;
BATCH       : 'batch' ;
MICRO       : 'micro' ;
DOCUMENTS   : 'documents' ;
MESH        : 'mesh' ;
SHARD       : 'shard' ;
OVER        : 'over' ;
PIPELINE    : 'pipeline' ;
ATTENTION   : 'attention' ;
USING       : 'using' ;
RECOMPUTE   : 'recompute' ;
OPTIMIZER   : 'optimizer' ;
PRECISION   : 'precision' ;
TRAIN       : 'train' ;
FREEZE      : 'freeze' ;
KERNELS     : 'kernels' ;
OVERLAP     : 'overlap' ;
BUCKET      : 'bucket' ;
PREFETCH    : 'prefetch' ;
RESHARD     : 'reshard' ;
OFFLOAD     : 'offload' ;
TO          : 'to' ;
TARGET      : 'target' ;
RULE        : 'rule' ;
EXPECT      : 'expect' ;
MINIMIZE    : 'minimize' ;
WHERE       : 'where' ;

// The longest wins; of equals the first: `1e9` is a number, `1F1B` a schedule,
// `5stages` and `80GB/size` are quantities whose unit is looked at later. `1.`
// is no number, so `1..32` is a range.
NUMBER   : Digits ('.' Digits)? Exponent? ;
SCHEDULE : '1F1B' [A-Za-z0-9_]* ;
QUANTITY : NUMBER (Letter WordRest ('/' Letter WordRest)? | '%') ;
WORD     : Letter WordRest ;
TEXT     : '"' (~["\\\r\n] | '\\' ~[\r\n])* '"' ;
OPEN_TEXT : '"' (~["\\\r\n] | '\\' ~[\r\n])* '\\'? ;

LPAREN   : '(' ;
RPAREN   : ')' ;
LBRACKET : '[' ;
RBRACKET : ']' ;
LBRACE   : '{' ;
RBRACE   : '}' ;

COMMA         : ',' ;
DOT           : '.' ;
RANGE         : '..' ;
ARROW         : '->' ;
BAR           : '|' ;
ASSIGN        : '=' ;
EQUAL         : '==' ;
NOT_EQUAL     : '!=' ;
LESS_EQUAL    : '<=' ;
GREATER_EQUAL : '>=' ;
LESS          : '<' ;
GREATER       : '>' ;
POWER         : '**' ;
STAR          : '*' ;
FLOOR_DIVIDE  : '//' ;
SLASH         : '/' ;
PLUS          : '+' ;
MINUS         : '-' ;

NEWLINE : '\r'? '\n' | '\r' ;
SPACE   : [ \t]+ -> skip ;
COMMENT : '#' ~[\r\n]* -> channel(HIDDEN) ;
// Anything else; compiler/syntax/Prescan has reported it before.
OTHER   : . -> channel(HIDDEN) ;

fragment Digits   : [0-9]+ ;
fragment Exponent : [eE] [+-]? [0-9]+ ;
fragment Letter   : [A-Za-z_] ;
fragment WordRest : [A-Za-z0-9_]* ;
