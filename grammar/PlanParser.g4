// Shape of the .plan language, in reading order. No actions, no predicates.
//
// A separator is one NEWLINE or COMMA: the token filter has dropped newlines
// that separate nothing (inside ( ) and [ ], after a comma, an operator or `{`,
// before `}`, several in a row) and has balanced the brackets. An item may be
// empty so that a separator too many changes nothing and every choice between
// items is made by one token.
parser grammar PlanParser;

options { tokenVocab = PlanLexer; }

file : topLevel? (separator topLevel?)* EOF ;

separator : COMMA | NEWLINE ;

topLevel
  : LANGUAGE NUMBER                                              # languageLine
  | IMPORT qualifiedName (AS name)?                              # importStandard
  | IMPORT TEXT (AS name)?                                       # importFile
  | LET name ASSIGN expr                                         # letDecl
  | PARAM name ASSIGN expr (IN_ expr)?                           # paramDecl
  | ACCELERATOR name fieldBlock                                  # acceleratorDecl
  | CLUSTER name clusterBlock                                    # clusterDecl
  | BLOCK name formals statementBlock                            # blockDecl
  | OP name formals ARROW dimensions (COMMA dimensions)* opBlock # opDecl
  | MODEL name formals? statementBlock                           # modelDecl
  | MODEL name ASSIGN reference                                  # modelInstance
  | PLAN name formals? FOR reference ON clusterReference clauseBlock # planDecl
  | PLAN name formals? ASSIGN reference (ON clusterReference)?
    (WITH clauseBlock)?                                          # planVariant
  | TARGET name targetBlock                                      # targetDecl
  ;

// ---- Accelerators and clusters

fieldBlock : LBRACE field? (separator field?)* RBRACE ;

field
  : name fieldValue                         # plainField
  | name keyedValue (COMMA keyedValue)*     # keyedField
  ;

keyedValue : name ASSIGN fieldValue ;

fieldValue : expr fieldTail? ;

fieldTail
  : AT expr                         # atTail
  | PER expr (OF expr)?             # perTail
  ;

clusterBlock : LBRACE clusterItem? (separator clusterItem?)* RBRACE ;

clusterItem
  : LEVEL name OF expr fieldBlock   # clusterLevel
  | field                           # clusterField
  ;

// ---- Models

formals : LPAREN (formal (COMMA formal)* COMMA?)? RPAREN ;

formal
  : name dimensions       # tensorFormal
  | name (ASSIGN expr)?   # valueFormal
  ;

// Dimensions are names; an expression parses so that it can be refused well.
dimensions : LBRACKET dimensionList (BAR dimensionList)? RBRACKET ;

dimensionList : expr (COMMA expr)* COMMA? ;

statementBlock : LBRACE statement? (separator statement?)* RBRACE ;

statement
  : LET name ASSIGN expr                                         # letStatement
  | REPEAT expr AS name (LPAREN name RPAREN)? statementBlock     # repeatStatement
  | RETURN expr (COMMA expr)*                                    # returnStatement
  | WEIGHT name dimensions                                       # weightStatement
  | INPUT name dimensions                                        # inputStatement
  | name (COMMA name)* ASSIGN expr                               # assignStatement
  ;

opBlock : LBRACE opClause? (separator opClause?)* RBRACE ;

opClause
  : OVER nameList IN_ ORDER      # opInOrder
  | CONTRACTS nameList           # opContracts
  | GATHERS nameList OF name     # opGathers
  | SAVES nameList               # opSaves
  | name expr                    # opField
  ;

// ---- Plans

clusterReference
  : qualifiedName (LBRACKET expr (COMMA groupSize)* COMMA? RBRACKET)? ;

groupSize : name ASSIGN expr ;

clauseBlock : LBRACE clause? (separator clause?)* RBRACE ;

clause
  : BATCH batchPart (COMMA batchPart)*                    # batchClause
  | MESH meshAxis (COMMA meshAxis)*                       # meshClause
  | SHARD pathList OVER nameList                          # shardClause
  | PIPELINE OVER name fieldBlock?                        # pipelineClause
  | ATTENTION OVER nameList USING name                    # attentionClause
  | RECOMPUTE recomputeItem (COMMA recomputeItem)*        # recomputeClause
  | OPTIMIZER name fieldBlock?                            # optimizerClause
  | PRECISION keyedEntry (COMMA keyedEntry)*              # precisionClause
  | TRAIN listedName (COMMA listedName)*                  # trainClause
  | FREEZE listedName (COMMA listedName)*                 # freezeClause
  | KERNELS keyedEntry (COMMA keyedEntry)*                # kernelsClause
  | OVERLAP listedName (COMMA listedName)*                # overlapClause
  | BUCKET expr                                           # bucketClause
  | PREFETCH expr                                         # prefetchClause
  | RESHARD name name?                                    # reshardClause
  | OFFLOAD listedName (COMMA listedName)* (TO name)?     # offloadClause
  | TARGET name                                           # targetClause
  | EXPECT expr (COMMA expr)*                             # expectClause
  | MINIMIZE expr (WHERE expr (COMMA expr)*)?             # minimizeClause
  | NOT name                                              # dropClause
  ;

// `2048 sequences of 8192 tokens`, `16777216 tokens in sequences of 8192`
batchPart
  : MICRO expr name?                   # batchMicro
  | DOCUMENTS OF expr name?            # batchDocuments
  | expr name batchLength              # batchSize
  ;

batchLength
  : OF expr name?                      # lengthEach
  | IN_ name OF expr name?             # lengthIn
  ;

meshAxis
  : name ASSIGN REST   # meshRest
  | name ASSIGN expr   # meshSize
  | NOT name           # meshDrop
  ;

recomputeItem : qualifiedName (FOR expr name)? ;

keyedEntry
  : name ASSIGN expr   # entryValue
  | NOT name           # entryDrop
  ;

listedName : NOT? qualifiedName ;

// ---- Targets: what a framework refuses

targetBlock : LBRACE targetItem? (separator targetItem?)* RBRACE ;

targetItem
  : RULE name fieldBlock   # targetRule
  | field                  # targetField
  ;

// ---- Expressions, tightest first

expr
  : NUMBER                                                   # numberExpr
  | QUANTITY                                                 # quantityExpr
  | TEXT                                                     # textExpr
  | (TRUE_ | FALSE_)                                         # boolExpr
  | SCHEDULE                                                 # scheduleExpr
  | qualifiedName arguments                                  # callExpr
  | qualifiedName dimensions                                 # indexExpr
  | qualifiedName                                            # nameExpr
  | LPAREN expr RPAREN                                       # groupExpr
  | LBRACKET (listItem (COMMA listItem)* COMMA?)? RBRACKET   # listExpr
  | <assoc = right> expr POWER expr                          # powerExpr
  | (PLUS | MINUS) expr                                      # signExpr
  | expr (STAR | SLASH | FLOOR_DIVIDE | MOD) expr            # productExpr
  | expr (PLUS | MINUS) expr                                 # sumExpr
  | expr RANGE expr                                          # rangeExpr
  | expr (EQUAL | NOT_EQUAL | LESS | LESS_EQUAL | GREATER | GREATER_EQUAL) expr # compareExpr
  | NOT expr                                                 # notExpr
  | expr AND expr                                            # andExpr
  | expr OR expr                                             # orExpr
  | IF expr THEN expr ELSE expr                              # ifExpr
  ;

listItem : expr (AT expr)? ;

arguments : LPAREN (argument (COMMA argument)* COMMA?)? RPAREN ;

argument
  : name ASSIGN expr   # namedArgument
  | expr               # positionalArgument
  ;

// ---- Names

reference : qualifiedName arguments? ;

nameList : name (COMMA name)* ;

pathList : qualifiedName (COMMA qualifiedName)* ;

qualifiedName : name (DOT name)* ;

name
  : WORD
  | LANGUAGE | IMPORT | AS | PARAM | ACCELERATOR | CLUSTER | LEVEL | BLOCK | OP
  | CONTRACTS | GATHERS | ORDER | SAVES | MODEL | WEIGHT | INPUT | PLAN | FOR
  | ON | WITH | BATCH | MICRO | DOCUMENTS | MESH | SHARD | OVER | PIPELINE
  | ATTENTION | USING | RECOMPUTE | OPTIMIZER | PRECISION | TRAIN | FREEZE
  | KERNELS | OVERLAP | BUCKET | PREFETCH | RESHARD | OFFLOAD | TO | TARGET
  | RULE | EXPECT | MINIMIZE | WHERE
  ;
